"""Searches over the commits of a real repository, with a training without a framework."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir

import pytest

from reprocheck.errors import UsageError
from reprocheck.suite.bisect.checkout import temporary_folder
from reprocheck.suite.bisect.result import Bisected
from reprocheck.suite.history import open_history
from reprocheck.suite.model import Night, TargetCheck
from reprocheck.suite.targets import load
from tests.suite.bisect.places import (
    ONE_MORE_BIT,
    Heard,
    commit,
    git,
    night,
    repository,
    searched,
    suite_of,
    uv,
)

COMMITS = 16
GUILTY = 11


class Regressed:
    """A repository of 16 commits, one of which moves the loss by one unit in the last place, with
    the night before and the night after; and a search between the two.
    """

    def __init__(self, project: Path) -> None:
        self.project = repository(project)
        suite_of(project, "model")
        (project / ".gitignore").write_text("nightly/\ncache/\n__pycache__/\n")
        commit(project, "Change 1", model="SCALE = 1.0\n")
        self.good = night(project)
        scale = "1.0"
        for number in range(2, COMMITS + 1):
            scale = ONE_MORE_BIT if number == GUILTY else scale
            last = commit(project, f"Change {number}", model=f"SCALE = {scale}  # {number}\n")
        self.last = last
        self.bad = night(project)

    def searched(self, **options: object) -> Bisected:
        return searched(self.project, self.good, self.bad, **options)  # type: ignore[arg-type]

    @property
    def worktrees(self) -> int:
        """How many git knows, and folders of searches that are left."""
        left = list(Path(gettempdir()).glob("reprocheck-bisect-*/*"))
        return len(git(self.project, "worktree", "list").splitlines()) - 1 + len(left)


@pytest.fixture(scope="module")
def regressed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Regressed]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("tmp")))
        yield Regressed(tmp_path_factory.mktemp("regressed"))


def test_an_interrupted_search_goes_on_and_finds_the_commit_within_the_bound(
    regressed: Regressed,
) -> None:
    interrupted = Heard(interrupt_before=3)
    with pytest.raises(KeyboardInterrupt):
        regressed.searched(observer=interrupted)
    assert regressed.worktrees == 0

    found = regressed.searched()
    assert found.outcome == "found"
    assert found.made <= 3
    assert len(found.checked) <= found.most == 5
    (guilty,) = found.guilty
    assert guilty.commit is not None
    assert guilty.commit.subject == f"Change {GUILTY}"
    assert guilty.commit.files == ("model.py",)
    assert found.good_checked
    assert "loss differs at step 1 by 1 ULP" in {one.reason for one in found.checked}
    assert regressed.worktrees == 0
    assert git(regressed.project, "rev-parse", "HEAD") == regressed.last
    assert git(regressed.project, "status", "--porcelain") == ""

    again = regressed.searched()
    assert (again.made, again.guilty) == (0, found.guilty)


def test_nights_that_give_nothing_to_search_are_refused(regressed: Regressed) -> None:
    with pytest.raises(UsageError, match="equal in every bit") as told:
        searched(regressed.project, regressed.good, regressed.good)
    assert "--by verdict" in told.value.fix
    with pytest.raises(UsageError, match="By verdict") as told:
        regressed.searched(by="verdict")
    assert "--by bitwise" in told.value.fix
    with pytest.raises(UsageError, match="stands for 2 nights"):
        searched(regressed.project, "2", regressed.bad)
    with pytest.raises(UsageError, match="has no night 1999"):
        searched(regressed.project, "1999", regressed.bad)


def test_by_verdict_a_commit_that_cannot_run_is_skipped_and_named(tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    suite_of(project, "model")
    (project / ".gitignore").write_text("nightly/\n__pycache__/\n")
    commit(project, "Good", model="SCALE = 1.0\n")
    good = night(project)
    commit(project, "Broken", model="SCALE =\n")
    random = "import os\nSCALE = 1.0 + int.from_bytes(os.urandom(4), 'big')\n"
    commit(project, "Random", model=random)
    bad = night(project)

    found = searched(project, good, bad, by="verdict")

    assert found.outcome == "several"
    assert [guilty.commit.subject for guilty in found.guilty if guilty.commit] == [
        "Broken",
        "Random",
    ]
    (skipped,) = (one for one in found.checked if one.answer == "skip")
    assert "SyntaxError" in skipped.reason
    with pytest.raises(UsageError, match="runs of toy were not equal"):
        searched(project, bad, good)


def test_packages_that_the_interpreter_has_from_the_working_tree_come_from_the_worktree(
    tmp_path: Path,
) -> None:
    project = repository(tmp_path / "project")
    suite_of(project, "own", {"python": "env/bin/python"})
    (project / ".gitignore").write_text("nightly/\nenv/\ncache/\n__pycache__/\n")
    (project / "src").mkdir()
    uv(project, "venv", "--quiet", "--python", sys.executable, "env")
    (site,) = (project / "env").glob("lib/*/site-packages")
    (site / "own.pth").write_text(f"{project / 'src'}\n")
    commit(project, "Start", **{"src/own": "SCALE = 1.0\n"})
    good = night(project)
    commit(project, "Scale", **{"src/own": f"SCALE = {ONE_MORE_BIT}\n"})
    commit(project, "Notes", notes="")
    bad = night(project)

    found = searched(project, good, bad)

    assert found.outcome == "found"
    assert found.guilty[0].commit is not None
    assert found.guilty[0].commit.subject == "Scale"


def test_a_search_that_was_killed_leaves_nothing_once_it_goes_on(regressed: Regressed) -> None:
    suite = load(regressed.project)
    place = next((suite.folder / "bisect" / "toy").iterdir()).relative_to(suite.folder)
    inside = temporary_folder(suite.folder, str(place))
    git(regressed.project, "worktree", "add", "--quiet", "--detach", str(inside / "r-1" / "tree"))
    assert regressed.worktrees == 2
    assert regressed.searched().made == 0
    assert regressed.worktrees == 0


def test_a_target_that_is_run_otherwise_than_in_the_night_is_said_to_be(
    regressed: Regressed,
) -> None:
    regressed.searched()
    settings = regressed.project / "reprocheck.toml"
    before = settings.read_text()
    settings.write_text(before.replace("train.py", "train.py --steps 2"))
    try:
        found = regressed.searched()
    finally:
        settings.write_text(before)
    (note,) = found.notes
    assert note.endswith("ran `train.py`, and so did this search; now it is `train.py --steps 2`.")
    assert (found.outcome, found.made) == ("found", 0), "the same training was searched before"


def test_an_intermittent_target_is_checked_several_times_or_refused(tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    suite_of(project, "model")
    suite = load(project)
    suite.folder.mkdir()
    with open_history(suite.history) as history:
        for name, good in (("n1", (True,)), ("n2", (False, True, False))):
            history.begin_night(Night(id=name, started=0.0))
            for attempt, one in enumerate(good, 1):
                history.add(TargetCheck(night=name, target="toy", attempt=attempt, good=one))
    with pytest.raises(UsageError, match="good and bad in the same night n2") as told:
        searched(project, "n1", "n2", by="verdict")
    assert "--repeat 5" in told.value.fix
    with pytest.raises(UsageError, match="commits and packages are the same, or not recorded"):
        searched(project, "n1", "n2", by="verdict", repeat=2)
