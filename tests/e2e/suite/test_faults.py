"""What goes wrong around a night: no finished check is lost, none is counted twice, and what cannot
go on says what to do.
"""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.faults.place import small_disk
from tests.e2e.suite.nights import FaultySuite, kill

KILLS = 4
ROOM = 6 << 20
"""Bytes of the disk that is filled."""


def test_a_night_killed_at_random_points_loses_no_finished_check_and_counts_none_twice(
    tmp_path: Path,
) -> None:
    varies = "import random\nreprocheck.log_loss(random.random() * 1e6 * (sys.argv[1] == 'varies'))"
    suite = FaultySuite(tmp_path, ["a", "varies"], also=varies)
    chance = random.Random(20261123)
    finished: dict[tuple[str, int], float] = {}
    for _ in range(KILLS):
        words = ["--resume", "last"] if suite.nights() else []
        process = suite.begun("--no-record", "--retries", "1", *words)
        suite.wait_for_starts(chance.randint(0, 2), process)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=chance.uniform(0.0, 0.5))
        kill(process)
        suite.wait_until_nothing_is_alive()
        now = {(check.target, check.attempt): check.started for check in suite.checks()}
        assert finished.items() <= now.items(), "a check that was in the history stays as it was"
        finished = now
    done = suite.run("--no-record", "--retries", "1", "--resume", "last")

    assert done.returncode == 1, done.stderr
    assert len(finished) < 3, "the night was killed before its end"
    assert len(suite.nights()) == 1
    checks = suite.checks()
    made = sorted((check.target, check.attempt, check.good) for check in checks)
    assert made == [("a", 1, True), ("varies", 1, False), ("varies", 2, False)]
    places = {path.relative_to(tmp_path / "nightly") for path in reports(tmp_path / "nightly")}
    assert {str(place) for place in places} == {check.folder for check in checks}


def reports(folder: Path) -> list[Path]:
    """All that stands in the folders of targets, hidden ones as well."""
    return list((folder / "nights").glob("*/*/*"))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes."""
    with small_disk(tmp_path / "disk", ROOM) as place:
        if place is None:
            pytest.skip("no disk can be mounted here")
        yield place


def test_a_disk_that_fills_up_in_the_middle_of_a_night_says_so_and_the_night_goes_on_later(
    tmp_path: Path, disk: Path
) -> None:
    fills = f"""
if sys.argv[1] == "b" and not os.path.exists({str(tmp_path / "once")!r}):
    open({str(tmp_path / "once")!r}, "w").close()
    with open({str(disk / "filling")!r}, "wb", buffering=0) as filling:
        try:
            while True:
                filling.write(bytes(4096))
        except OSError:
            pass
"""
    suite = FaultySuite(tmp_path / "project", "abc", also=fills, folder=str(disk / "nights"))

    stopped = suite.run("--no-record")

    assert stopped.returncode == 2, stopped.stderr
    said = " ".join(stopped.stderr.split())
    assert "No space left on device" in said
    assert "Make room" in said and "suite run --resume" in said
    suite.wait_until_nothing_is_alive()
    again = suite.run("--no-record", "--resume", "last")
    assert again.returncode == 2, "the disk is still full"
    assert "Make room" in again.stderr or "Free some space" in again.stderr
    (disk / "filling").unlink()
    before = suite.checks()
    assert [check.target for check in before] == ["a"]

    resumed = suite.run("--no-record", "--resume", "last")

    assert resumed.returncode == 0, resumed.stderr
    checks = suite.checks()
    assert Counter(check.target for check in checks) == Counter("abc")
    assert all(check.good and check.attempt == 1 for check in checks)
    assert before[0] in checks
    assert suite.starts("a") == 2, "a finished check is not made again"


def test_two_nights_at_once_are_both_whole_and_never_in_one_folder_at_a_time(
    tmp_path: Path,
) -> None:
    alone = """
with open("alone", "x"):
    pass
import atexit
atexit.register(os.unlink, "alone")
"""
    suite = FaultySuite(tmp_path, "a", also=alone)
    both = [suite.begun("--no-record", "--twice") for _ in range(2)]
    said = [process.communicate(timeout=240)[0] for process in both]

    assert [process.returncode for process in both] == [0, 0], said
    checks = suite.checks()
    assert len(suite.nights()) == 2
    assert Counter(check.target for check in checks) == {"a": 2}
    assert all(check.good for check in checks)
    assert suite.starts("a") == 4
