"""Lines that cannot be written: what stands before them is read, what follows is of no known
iteration, and the report says so.
"""

from __future__ import annotations

import json
from pathlib import Path

from reprocheck.child.reprocheck_child.recorder.trace_file import TraceFile
from reprocheck.child.reprocheck_child.recorder.writer import Writer
from reprocheck.model import Run, RunRecord, Tolerance
from reprocheck.model.statements.trace import Incomplete
from reprocheck.model.statements.verdict import BreaksOff, NotCompared
from reprocheck.trace import read_run
from reprocheck.verdict import judge
from tests.child.recording import Recording, record

FULL = """
import resource
import reprocheck

UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
for step in range(1, 4001):
    if step == {full}:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    if step == {free}:
        resource.setrlimit(resource.RLIMIT_FSIZE, UNLIMITED)
    reprocheck.log_loss(1 / step)
"""
NEVER = 10_000
RECORD = RunRecord(
    number=1,
    ended="completed",
    exit_status=0,
    started="",
    seconds=1.0,
    trace="trace",
    stdout="stdout.log",
    stderr="stderr.log",
)


def recorded(folder: Path, full: int, free: int = NEVER) -> tuple[Recording, Run]:
    """A training during some iterations of which no file may grow: what it left, read back."""
    folder.mkdir()
    recording = record(FULL.format(full=full, free=free), folder)
    assert (recording.done.returncode, recording.done.stderr) == (0, "")
    return recording, read_run(folder, RECORD)


def losses(run: Run) -> list[float]:
    return [value for trace in run.traces for value in trace.losses.values]


def test_what_is_written_after_a_hole_is_not_taken_for_the_iterations_in_it(tmp_path: Path) -> None:
    _, whole = recorded(tmp_path / "whole", NEVER)
    recording, run = recorded(tmp_path / "hole", 100, 3000)

    assert [event["why"] for event in recording.events("broken")] == ["file too large"]
    known = losses(run)
    assert known == losses(whole)[: len(known)] and 100 < len(known) < 3000
    (trace,) = run.traces
    assert (trace.broken, trace.stopped_at, trace.closed) == ("file too large", None, len(known))

    verdict = judge((whole, run), Tolerance())

    assert (verdict.verdict, verdict.first_divergence) == ("reproducible", None)
    assert BreaksOff(run=1, closed=len(known), why="file too large") in verdict.cautions


def test_where_nothing_can_be_written_to_the_end_a_mark_says_so(tmp_path: Path) -> None:
    _, whole = recorded(tmp_path / "whole", NEVER)
    recording, run = recorded(tmp_path / "hole", 100)
    assert recording.events("broken") == [] and recording.events("exit") == []
    (trace,) = run.traces
    assert trace.broken == Incomplete(kind="not written")
    assert judge((whole, run), Tolerance()).first_divergence is None


def test_without_the_iterations_that_are_compared_there_is_no_verdict(tmp_path: Path) -> None:
    _, run = recorded(tmp_path / "nothing", 1)
    verdict = judge((run, run), Tolerance())
    assert verdict.verdict == "inconclusive"
    assert isinstance(verdict.because, NotCompared) and verdict.because.why == "broken"


def test_a_trace_whose_first_line_could_not_be_written_begins_with_it_later(tmp_path: Path) -> None:
    folder = tmp_path / "trace"
    writer = Writer({})
    writer._file = TraceFile(str(folder / "1-1.jsonl"))
    writer._greeting = '{"e":"process"}\n'
    writer.emit({"e": "lost"})
    folder.mkdir()
    writer.emit({"e": "note"})
    writer.emit({"e": "exit"})
    lines = (folder / "1-1.jsonl").read_text().splitlines()
    assert [json.loads(line)["e"] for line in lines] == ["process", "broken", "note", "exit"]
