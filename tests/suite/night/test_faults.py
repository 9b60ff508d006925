"""What goes wrong around a night that runs nothing: a history that is locked or gone, a clock that
was set back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from reprocheck.suite.execution import Job, Performed
from reprocheck.suite.history import HistoryError, open_history
from reprocheck.suite.model import TargetCheck
from reprocheck.suite.night import Options, Outcome, run
from reprocheck.suite.targets import Suite
from tests.suite.nights import GOOD, Prepared, Told, made, suite_in

RESUMED = Options(resume="last", record=False)
NEW = Options(record=False)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Performed:
    return made(tmp_path_factory.mktemp("reports"), "good", GOOD)


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return suite_in(tmp_path, "a", "b")


class At(Told):
    """Does something once the check of a target begins."""

    def __init__(self, target: str, act: Callable[[], object]) -> None:
        super().__init__()
        self._target, self._act = target, act

    def started(self, job: Job) -> None:
        if job.target.name == self._target:
            self._act()


def night(
    suite: Suite, good: Performed, options: Options, told: Told | None = None
) -> tuple[Outcome, Prepared]:
    """A night that waits for a locked history for a moment only."""
    executor = Prepared({"good": good})
    with open_history(suite.history, wait=0.1) as history:
        return run(suite, history, executor, options, told or Told()), executor


def checks(suite: Suite) -> tuple[TargetCheck, ...]:
    with open_history(suite.history) as history:
        return history.checks()


def test_a_history_that_is_locked_says_so_and_the_finished_check_is_not_made_again(
    suite: Suite, good: Performed
) -> None:
    file = suite.folder / "history.sqlite"
    holders: list[sqlite3.Connection] = []

    def lock() -> None:
        holders.append(sqlite3.connect(file, isolation_level=None))
        holders[0].execute("BEGIN IMMEDIATE")

    with pytest.raises(HistoryError, match="locked by another process") as told:
        night(suite, good, NEW, At("a", lock))
    assert "--resume" in told.value.fix
    holders[0].rollback()
    holders[0].close()
    assert checks(suite) == ()

    _, executor = night(suite, good, RESUMED)

    assert executor.started == [("b", 1)]
    assert [(check.target, check.good) for check in checks(suite)] == [("a", True), ("b", True)]


def test_a_history_that_is_gone_says_so_and_is_not_written_anew(
    suite: Suite, good: Performed, tmp_path: Path
) -> None:
    away = tmp_path / "away"
    away.mkdir()

    def take_away() -> None:
        for part in suite.folder.glob("history.sqlite*"):
            part.rename(away / part.name)

    with pytest.raises(HistoryError, match="is gone") as told:
        night(suite, good, NEW, At("a", take_away))
    assert "--resume" in told.value.fix
    assert not list(suite.folder.glob("history.sqlite*"))
    for part in away.iterdir():
        part.rename(suite.folder / part.name)

    _, executor = night(suite, good, RESUMED)

    assert executor.started == [("b", 1)]
    assert [(check.target, check.good) for check in checks(suite)] == [("a", True), ("b", True)]


def test_a_night_after_the_clock_was_set_back_still_follows_those_before(
    suite: Suite, good: Performed, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = night(suite, good, NEW)
    monkeypatch.setattr("time.time", lambda: first.night.started - 86_400)

    second, _ = night(suite, good, NEW)

    assert second.night.id > first.night.id
    assert second.night.started < first.night.started
    assert {state.state for state in second.states} == {"unchanged"}
