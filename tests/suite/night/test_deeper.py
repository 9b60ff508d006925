"""Nights of a real target: its deeper recording is kept, and names what differs first later."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from reprocheck.suite.baselines import accept
from reprocheck.suite.curves import pack
from reprocheck.suite.execution import Job, Performed
from reprocheck.suite.execution.local_executor import LocalExecutor
from reprocheck.suite.execution.perform import commit_of
from reprocheck.suite.history import open_history
from reprocheck.suite.model import Baseline, Key, Suspect, TargetCheck, TargetState
from reprocheck.suite.night import Options, Outcome, run
from reprocheck.suite.night.deeper import Wanted, adopt, keep, kept_place, with_commits
from reprocheck.suite.target import Target
from reprocheck.suite.targets import Suite, load
from tests.suite.baselines.curves import curve
from tests.suite.changes.story import Story, check
from tests.suite.here import checks_here
from tests.suite.nights import Told, suite_in

SETTINGS = """
draw = false
explain = false
[[target]]
name = "a"
run = "train.py"
"""
TRAINING = (
    "import reprocheck\nfor step in range(4):\n    reprocheck.log_loss(1 / (step + {start}))\n"
)
KEY = Key(facts={"torch": "2.13.0"})


@dataclass
class Nights:
    """Three nights: a good one, one after the script was changed, and one after that was accepted.

    kept  after each night: the time of the kept recording, and what it is of
    """

    folder: Path
    outcomes: list[Outcome]
    kept: list[tuple[int, dict[str, object]]]
    recordings: list[list[str]]


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Nights:
    folder = tmp_path_factory.mktemp("suite")
    (folder / "reprocheck.toml").write_text(SETTINGS)
    suite = load(folder)
    found = Nights(suite.folder, [], [], [])
    with checks_here(), open_history(suite.history) as history, LocalExecutor() as executor:
        git(folder, "init", "-q")
        for start in (1, 2, 2):
            (folder / "train.py").write_text(TRAINING.format(start=start))
            git(folder, "add", "train.py")
            git(folder, "commit", "-q", "--allow-empty", "-m", f"Starts at {start}")
            git(folder, "commit", "-q", "--allow-empty", "-m", "Notes")
            told = Told()
            outcome = run(suite, history, executor, Options(), told)
            (kept,) = (suite.folder / "kept").rglob("*.zip")
            found.outcomes.append(outcome)
            about = json.loads(kept.with_suffix(".json").read_text())
            found.kept.append((kept.stat().st_mtime_ns, about))
            found.recordings.append(told.recordings)
            accept(history, history.final(outcome.night.id), "It is meant.", "somebody")
    return found


def git(folder: Path, *words: str) -> None:
    """Runs git with a user of its own."""
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True
    )


def state(outcome: Outcome) -> TargetState:
    return next(one for one in outcome.states if one.target == "a")


def test_the_recording_of_a_good_target_is_kept_once(nights: Nights) -> None:
    first, _, third = nights.outcomes
    assert nights.recordings == [["a"], ["a"], []]
    assert nights.kept[0][1]["night"] == first.night.id
    assert state(third).state == "unchanged"


def test_a_failure_names_the_first_operation_that_differs_from_the_green_night(
    nights: Nights,
) -> None:
    first, second, _ = nights.outcomes
    assert (state(second).state, state(second).failed) == ("drift", True)
    said = state(second).operation
    assert said.startswith(f"First to differ from night {first.night.id}: ")
    assert "in iteration 1" in said
    assert "train.py" in said
    assert (state(first).operation, state(first).suspect) == ("", Suspect())


def test_a_failure_names_the_changed_line_and_the_commits_that_change_its_file(
    nights: Nights,
) -> None:
    suspect = state(nights.outcomes[1]).suspect
    assert suspect.source == "train.py:3"
    assert suspect.changed == (
        "-    reprocheck.log_loss(1 / (step + 1))",
        "+    reprocheck.log_loss(1 / (step + 2))",
    )
    assert [commit.partition(" ")[2] for commit in suspect.commits] == ["Starts at 2"]
    assert suspect.report.startswith(f"nights/{nights.outcomes[1].night.id}/a/train-compared-")
    assert (nights.folder / suspect.report / "report.html").is_file()


def test_the_recording_of_accepted_curves_takes_the_place_of_the_one_before(
    nights: Nights,
) -> None:
    first, second, third = nights.kept
    assert second == first
    assert third[1]["night"] == nights.outcomes[1].night.id
    assert third[1]["curves"] != first[1]["curves"]


def test_a_line_that_the_last_good_night_had_is_no_suspect(tmp_path: Path) -> None:
    suite = suite_in(tmp_path, "a")
    script = tmp_path / "train.py"
    script.write_text("# a harmless comment\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "train.py")
    git(tmp_path, "commit", "-q", "-m", "A harmless comment")
    with open_history(suite.history) as history:
        story = Story(history, suite.targets)
        for _ in range(2):
            story.night(check("a", commit=commit_of(tmp_path)))
        night = history.nights()[-1]
        suspect = Suspect(source="train.py:1", diff="+# a harmless comment", report="compared")
        drifted = TargetState(
            night=night.id, target="a", state="drift", failed=True, suspect=suspect
        )
        (innocent,) = with_commits(suite, history, night, [drifted])
        assert innocent.suspect == Suspect(report="compared")
        script.write_text("# another one\n")
        (guilty,) = with_commits(suite, history, night, [drifted])
    assert guilty.suspect.source == "train.py:1"
    assert guilty.suspect.commits == ("changes that are not committed",)


def test_a_clock_beside_the_same_losses_makes_no_other_training(tmp_path: Path) -> None:
    suite = Suite(targets=(), folder=tmp_path, history="", file=tmp_path / "reprocheck.toml")
    target = Target(name="a", words=("train.py",), workdir=tmp_path)
    kept = tmp_path / kept_place("a", KEY)

    def curves_of(loss: float, seconds: float) -> bytes:
        return pack([curve([loss]), curve([seconds], "step_time")])

    def recorded(night: str) -> Performed:
        place = f"nights/{night}/a/recording"
        job = Job(target=target, night=night, root=tmp_path, place=place, kind="recording")
        job.folder.mkdir(parents=True)
        job.recording.write_text(night)
        return Performed(job=job, started=0.0, seconds=1.0)

    def accepted(night: str, curves: bytes, when: float) -> Baseline:
        return Baseline(
            target="a", key=KEY, curves=curves, why="so", who="me", when=when, night=night
        )

    first = recorded("n1")
    check = TargetCheck(night="n1", target="a", key=KEY, curves=curves_of(0.5, seconds=1.0))
    keep(Wanted(first.job, check, None, kept=kept), first)
    recorded("n2")

    adopt(suite, accepted("n2", curves_of(0.5, seconds=2.0), when=1.0))
    assert kept.read_text() == "n1"
    adopt(suite, accepted("n2", curves_of(0.25, seconds=2.0), when=2.0))
    assert kept.read_text() == "n2"
