"""Searches over the commits of a real repository, with a training without a framework."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir

import pytest

from reprocheck.errors import UsageError
from reprocheck.suite.bisect.result import Bisected
from tests.suite.bisect.places import (
    ONE_MORE_BIT,
    Heard,
    commit,
    git,
    night,
    repository,
    searched,
    suite_of,
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
