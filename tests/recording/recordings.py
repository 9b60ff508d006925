"""Recordings made by hand: what each of several nodes has written of a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from reprocheck.model import CheckRecord, EntryPoint, RunRecord, Setting, Tolerance
from reprocheck.recording import record

Event = dict[str, object]


def process(
    rank: int | None,
    world: int | None,
    events: Iterable[Event],
    *,
    pid: int = 7,
    time: float = 1.0,
    **keys: object,
) -> bytes:
    """The trace of a process."""
    first: Event = {
        "e": "process",
        "v": 1,
        "pid": pid,
        "ppid": 1,
        "time": time,
        "argv": ["train.py"],
        "name": "MainProcess",
    }
    return b"".join(
        json.dumps(event).encode() + b"\n"
        for event in ({**first, "rank": rank, "world": world, **keys}, *events)
    )


def training(losses: Sequence[float]) -> list[Event]:
    """One update after each loss."""
    return [
        event
        for number, loss in enumerate(losses, start=1)
        for event in (
            {"e": "loss", "k": "backward", "v": [loss], "d": "float32"},
            {"e": "update", "o": 0, "c": number == 1 or None, "i": number},
        )
    ]


def recording(
    folder: Path,
    traces: dict[str, bytes],
    *,
    script: str = "train.py",
    ended: str = "completed",
    status: int = 0,
    steps: int = 10,
    stdout: str = "",
    stderr: str = "",
    gone: dict[str, float] | None = None,
    number: int = 1,
) -> Path:
    """A folder as `reprocheck record` leaves it; `traces`: names without suffix and content."""
    trace = folder / f"run-{number}" / "trace"
    trace.mkdir(parents=True)
    for name, content in traces.items():
        (trace / f"{name}.jsonl").write_bytes(content)
    (trace / "recorder.json").write_text("{}")
    (trace.parent / "stdout.log").write_text(stdout)
    (trace.parent / "stderr.log").write_text(stderr)
    run = RunRecord(
        number=number,
        ended=ended,  # type: ignore[arg-type]
        exit_status=status,
        started="2026-01-01T00:00:00+00:00",
        seconds=1.0,
        trace=f"run-{number}/trace",
        stdout=f"run-{number}/stdout.log",
        stderr=f"run-{number}/stderr.log",
        gone=gone or {},
    )
    entry = EntryPoint(command=("torchrun", "--nnodes", "2", script), kind="command", name="train")
    made = CheckRecord(
        reprocheck_version="0",
        entry_point=entry,
        started="2026-01-01T00:00:00+00:00",
        tolerance=Tolerance(),
        settings=(Setting(name="steps", value=steps, origin="default"),),
        runs=(run,),
    )
    record.write(folder, made)
    return folder
