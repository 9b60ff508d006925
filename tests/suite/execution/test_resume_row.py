"""Targets that are checked by `reprocheck resume`."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.cli import main
from reprocheck.suite.execution import Job, perform, read
from reprocheck.suite.history import open_history
from reprocheck.suite.model import TargetCheck
from reprocheck.suite.target import Target
from reprocheck.suite.targets import load
from tests.resume.trainings import SCRIPT
from tests.suite.here import checks_here

SUITE = """
[suite.defaults]
draw = false
explain = false
workdir = "copy"

[[target]]
name = "exact"
run = "train.py"
resume = true

[[target]]
name = "forgets"
run = "train.py forgets"
resume = { go-on = 4 }
"""


def checked(folder: Path, *words: str, **options: object) -> TargetCheck:
    """What a check of a resume of the training came to, as a row of the history."""
    (folder / "train.py").write_text(SCRIPT)
    target = Target(
        name="a",
        words=("train.py", *words),
        workdir=folder,
        options={"draw": False, "rtol": 0.01},
        resume=options,
    )
    job = Job(target=target, night="n", root=folder / "suite", place="n/a/1")
    with checks_here():
        return read(perform(job))


def test_a_training_that_resumes_exactly_is_good(tmp_path: Path) -> None:
    check = checked(tmp_path, at=("first",))
    assert (check.verdict, check.exit_code, check.good) == ("resumes_exactly", 0, True)
    assert (check.title, check.is_of_resume) == ("RESUMES EXACTLY", True)
    assert (check.bitwise, check.first_divergence, check.rung) == (True, None, "")
    assert (check.rtol, check.curves) == (0.01, b"")
    assert check.key.facts["options"] == "train.py"
    assert check.key.facts["resume"] == "--at first"
    assert check.beside["python.version"]


def test_one_that_forgets_a_part_of_its_state_is_not(tmp_path: Path) -> None:
    check = checked(tmp_path, "forgets")
    assert (check.verdict, check.exit_code, check.good) == ("does_not_resume_exactly", 1, False)
    assert (check.bitwise, check.first_bitwise) == (False, 2)
    assert check.first_divergence is not None
    assert "resumed run" in check.reason


def test_one_that_writes_no_checkpoint_says_what_to_do(tmp_path: Path) -> None:
    check = checked(tmp_path, "never")
    assert (check.verdict, check.exit_code, check.good) == ("inconclusive", 3, False)
    assert "checkpoint" in check.reason
    assert check.key.facts


def test_one_that_fails_when_it_is_resumed_is_annotated_where_it_failed(tmp_path: Path) -> None:
    check = checked(tmp_path, "fails")
    assert check.verdict == "script_failed"
    at = SCRIPT.splitlines().index('        raise KeyError("model")') + 1
    assert check.source == f"train.py:{at}"


def test_what_cannot_be_resumed_names_the_command(tmp_path: Path) -> None:
    check = checked(tmp_path, ranks=2)
    assert check.verdict == "error"
    assert check.reason.startswith("reprocheck resume ended with exit status 2.")
    assert "--ranks" in check.reason


def test_a_night_checks_how_a_target_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "reprocheck.toml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    with checks_here():
        assert main(["suite", "run", "--no-record"]) == 1
    suite = load(tmp_path)
    with open_history(suite.history) as history:
        (night,) = (one.id for one in history.nights())
        found = {one.target: one for one in history.states(night=night)}
    assert {name: one.state for name, one in found.items()} == {
        "exact": "new target",
        "exact[resume]": "new target",
        "forgets": "new target",
        "forgets[resume]": "new failure",
    }
    assert found["exact[resume]"].sentence == "checked for the first time: RESUMES EXACTLY"
    assert found["forgets[resume]"].sentence.startswith("DOES NOT RESUME EXACTLY: ")

    # its measure is the run that wrote the checkpoint: there are no curves to accept
    capsys.readouterr()
    assert main(["suite", "baseline", "accept", "--why", "first"]) == 0
    said = capsys.readouterr()
    assert "ACCEPTED exact of night" in said.out and "ACCEPTED forgets of night" in said.out
    assert "[resume]" not in said.out + said.err

    assert main(["suite", "show", "forgets[resume]"]) == 0
    shown = capsys.readouterr().out
    assert "reprocheck explain --resume --no-draw --go-on 4 train.py forgets" in shown

    with checks_here():
        assert main(["suite", "run", "exact*", "--no-record", "--quiet"]) == 0
    with open_history(suite.history) as history:
        states = history.states(night=history.nights()[-1].id)
        (state,) = (one for one in states if one.target == "exact[resume]")
    assert (state.state, state.sentence) == ("unchanged", "RESUMES EXACTLY")
