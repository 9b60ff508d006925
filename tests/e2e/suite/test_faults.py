"""What goes wrong around a night: no finished check is lost, none is counted twice, and what cannot
go on says what to do.
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reprocheck.suite.execution import Job
from reprocheck.suite.execution.local import LocalExecutor
from reprocheck.suite.history import HistoryError, open_history
from reprocheck.suite.night import Options, Outcome, run
from reprocheck.suite.targets import load
from tests.e2e.suite.nights import FaultySuite, kill

ROOM = 6 << 20
"""Bytes of the disk that is filled."""


def test_a_night_killed_at_random_points_loses_no_finished_check_and_counts_none_twice(
    tmp_path: Path,
) -> None:
    varies = "import random\nreprocheck.log_loss(random.random() * 1e6 * (sys.argv[1] == 'varies'))"
    suite = FaultySuite(tmp_path, ["a", "b", "varies"], also=varies)
    chance = random.Random(20261123)
    finished: dict[tuple[str, int], float] = {}
    kills = 0
    while not ended(suite):
        words = ["--resume", "last"] if suite.nights() else []
        process = suite.begun("--no-record", "--retries", "1", *words)
        try:
            process.communicate(timeout=chance.uniform(0.4, 2.0 + kills))
        except subprocess.TimeoutExpired:
            kill(process)
            kills += 1
        suite.wait_until_nothing_is_alive()
        now = {(check.target, check.attempt): check.started for check in suite.checks()}
        assert finished.items() <= now.items(), "a check that was in the history stays as it was"
        finished = now

    assert kills
    assert len(suite.nights()) == 1
    checks = suite.checks()
    made = sorted((check.target, check.attempt, check.good) for check in checks)
    assert made == [("a", 1, True), ("b", 1, True), ("varies", 1, False), ("varies", 2, False)]
    places = {path.relative_to(tmp_path / "nightly") for path in reports(tmp_path / "nightly")}
    assert {str(place) for place in places} == {check.folder for check in checks}


def ended(suite: FaultySuite) -> bool:
    return any(night.ended is not None for night in suite.nights())


def reports(folder: Path) -> list[Path]:
    """All that stands in the folders of targets, hidden ones as well."""
    return list((folder / "nights").glob("*/*/*"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", str(place)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_disk_that_fills_up_in_the_middle_of_a_night_says_so_and_the_night_goes_on_later(
    tmp_path: Path, small_disk: Path
) -> None:
    fills = f"""
if sys.argv[1] == "b" and not os.path.exists({str(tmp_path / "once")!r}):
    open({str(tmp_path / "once")!r}, "w").close()
    with open({str(small_disk / "filling")!r}, "wb", buffering=0) as filling:
        try:
            while True:
                filling.write(bytes(4096))
        except OSError:
            pass
"""
    suite = FaultySuite(tmp_path / "project", "abc", also=fills, folder=str(small_disk / "nights"))

    stopped = suite.run("--no-record")

    assert stopped.returncode == 2, stopped.stderr
    said = " ".join(stopped.stderr.split())
    assert "No space left on device" in said
    assert "Make room" in said and "suite run --resume" in said
    suite.wait_until_nothing_is_alive()
    again = suite.run("--no-record", "--resume", "last")
    assert again.returncode == 2, "the disk is still full"
    assert "Make room" in again.stderr or "Free some space" in again.stderr
    (small_disk / "filling").unlink()
    before = suite.checks()
    assert [check.target for check in before] == ["a"]

    resumed = suite.run("--no-record", "--resume", "last")

    assert resumed.returncode == 0, resumed.stderr
    checks = suite.checks()
    assert Counter(check.target for check in checks) == Counter("abc")
    assert all(check.good and check.attempt == 1 for check in checks)
    assert before[0] in checks
    assert suite.starts("a") == 2, "a finished check is not made again"


class At:
    """Does something once the check of a target begins; hears nothing else of a night."""

    def __init__(self, target: str, act: Callable[[], object]) -> None:
        self._target, self._act = target, act

    def started(self, job: Job) -> None:
        if job.target.name == self._target:
            self._act()

    def __getattr__(self, name: str) -> object:
        return lambda *values, **named: None


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> Callable[[FaultySuite, At], Outcome]:
    """A night in this process, which waits for a locked history for a moment only."""

    def night(
        suite: FaultySuite, observer: At | None = None, options: Options | None = None
    ) -> Outcome:
        for name, value in suite.environment.items():
            monkeypatch.setenv(name, value)
        loaded = load(suite.project)
        options = options or Options(record=False)
        with open_history(loaded.history, wait=0.1) as history, LocalExecutor() as executor:
            return run(loaded, history, executor, options, observer or At("", list))  # type: ignore[arg-type]

    return night


RESUMED = Options(resume="last", record=False)


def test_a_history_that_is_locked_says_so_and_the_finished_check_is_not_made_again(
    tmp_path: Path, in_process: Callable[..., Outcome]
) -> None:
    suite = FaultySuite(tmp_path, "ab")
    file = tmp_path / "nightly" / "history.sqlite"
    holders: list[sqlite3.Connection] = []

    def lock() -> None:
        holders.append(sqlite3.connect(file, isolation_level=None))
        holders[0].execute("BEGIN IMMEDIATE")

    with pytest.raises(HistoryError, match="locked by another process") as told:
        in_process(suite, At("a", lock))
    assert "--resume" in told.value.fix
    holders[0].rollback()
    holders[0].close()
    assert suite.checks() == ()

    outcome = in_process(suite, None, RESUMED)

    assert outcome.exit_code == 0
    assert Counter(check.target for check in suite.checks()) == Counter("ab")
    assert suite.starts("a") == suite.starts("b") == 2


def test_a_history_that_is_gone_says_so_and_is_not_written_anew(
    tmp_path: Path, in_process: Callable[..., Outcome]
) -> None:
    suite = FaultySuite(tmp_path, "ab")
    file = tmp_path / "nightly" / "history.sqlite"
    away = tmp_path / "away"
    away.mkdir()

    def take_away() -> None:
        for part in file.parent.glob("history.sqlite*"):
            part.rename(away / part.name)

    with pytest.raises(HistoryError, match="is gone") as told:
        in_process(suite, At("a", take_away))
    assert "--resume" in told.value.fix
    assert not file.exists()
    for part in away.iterdir():
        part.rename(file.parent / part.name)

    outcome = in_process(suite, None, RESUMED)

    assert outcome.exit_code == 0
    assert Counter(check.target for check in suite.checks()) == Counter("ab")
    assert suite.starts("a") == 2


def test_a_history_of_a_newer_version_is_left_alone(
    tmp_path: Path, in_process: Callable[..., Outcome]
) -> None:
    suite = FaultySuite(tmp_path, "a")
    in_process(suite)
    file = tmp_path / "nightly" / "history.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE reprocheck_revision SET version_num = '9999'")
    connection.close()
    before = file.read_bytes()

    refused = suite.run()

    assert refused.returncode == 2
    assert "was made by reprocheck" in refused.stderr
    assert file.read_bytes() == before
    assert suite.starts("a") == 2


def test_two_nights_at_once_are_both_whole_and_never_in_one_folder_at_a_time(
    tmp_path: Path,
) -> None:
    alone = """
with open("alone", "x"):
    pass
import atexit
atexit.register(os.unlink, "alone")
"""
    suite = FaultySuite(tmp_path, "ab", also=alone)
    both = [suite.begun("--no-record", "--twice") for _ in range(2)]
    said = [process.communicate(timeout=240)[0] for process in both]

    assert [process.returncode for process in both] == [0, 0], said
    checks = suite.checks()
    assert len(suite.nights()) == 2
    assert Counter(check.target for check in checks) == {"a": 2, "b": 2}
    assert all(check.good for check in checks)
    assert suite.starts("a") == suite.starts("b") == 4


def test_a_night_after_the_clock_was_set_back_still_follows_those_before(
    tmp_path: Path, in_process: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = FaultySuite(tmp_path, "ab")
    first = in_process(suite)
    monkeypatch.setattr("time.time", lambda: first.night.started - 86_400)

    second = in_process(suite)

    assert second.night.id > first.night.id
    assert second.night.started < first.night.started
    assert {state.state for state in second.states} == {"unchanged"}
    assert suite.nights()[-1].id == second.night.id
    assert all(check.seconds > 0 for check in second.checks)
