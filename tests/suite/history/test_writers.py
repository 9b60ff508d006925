"""Several processes write to one history, and are killed."""

from __future__ import annotations

import os
import subprocess
import sys

from reprocheck.suite.history import open_history
from tests.conftest import ROOT
from tests.suite.history.nights import night

COUNT = 20


def started(url: str, name: str, count: int) -> subprocess.Popen[str]:
    """A writer that waits for its sign."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.suite.history.writer", url, name, str(count)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    return process


def told(process: subprocess.Popen[str]) -> None:
    """Gives a writer its sign."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_two_nights_at_once_lose_no_check_and_count_none_twice(url: str) -> None:
    writers = [started(url, name, COUNT) for name in ("a", "b")]
    for writer in writers:
        told(writer)
    for writer in writers:
        writer.communicate(timeout=120)
        assert writer.returncode == 0
    with open_history(url, create=False) as history:
        assert len(history.nights()) == 3
        shared = [one.target for one in history.checks(night=night(1).id)]
        own = history.checks(night="2026-11-02-a", curves=True)
    assert len(shared) == len(set(shared)) == 3 * COUNT
    assert {one.curves for one in own} == {b"%d" % number for number in range(COUNT)}


def test_what_was_recorded_is_there_after_the_writer_was_killed(url: str) -> None:
    writer = started(url, "a", 100_000)
    told(writer)
    assert writer.stdout is not None
    seen = [int(writer.stdout.readline()) for _ in range(5)]
    writer.kill()
    seen += [int(line) for line in writer.stdout.read().split()]
    writer.wait(timeout=120)
    with open_history(url, create=False) as history:
        own = {one.target for one in history.checks(night="2026-11-02-a")}
    assert {f"own-{number}" for number in seen} <= own
    assert len(own) <= len(seen) + 1
