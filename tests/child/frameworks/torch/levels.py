"""Runs a script with the recorder at a deeper level, and reads back what was seen."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import CHILD, clean_environment


@dataclass(frozen=True, kw_only=True)
class Level:
    """What one run printed and recorded."""

    printed: list[str]
    events: list[dict[str, Any]]
    """Those of the first process."""
    processes: list[list[dict[str, Any]]] = field(default_factory=list)
    """Those of each process."""

    def seen(self, kind: str, place: str = "") -> list[dict[str, Any]]:
        """The facts of a kind, of places that begin with `place`, in the order of execution."""
        return [
            event
            for event in self.events
            if event["e"] == "seen" and event["r"] == kind and event["p"].startswith(place)
        ]

    @property
    def problems(self) -> list[dict[str, Any]]:
        """What went wrong in the recorder, and what could not be recorded."""
        hooks = [
            hook
            for event in self.events
            if event["e"] == "framework"
            for hook in event["hooks"].values()
            if hook != "ok"
        ]
        return [event for event in self.events if event["e"] in ("problem", "unrecorded")] + [
            {"hook": hook} for hook in hooks
        ]


def plain(script: Path, *arguments: str) -> list[str]:
    """The lines that a script prints without a recorder."""
    return _run(script, arguments, {}).splitlines()


def record(
    script: Path,
    level: str,
    *arguments: str,
    inside: str = "",
    steps: int | None = None,
    begin: int = 1,
    **settings: object,
) -> Level:
    """Run a script with the recorder; `settings` are those that most runs have not.

    Its trace lies beside it afterwards.
    """
    trace = script.parent / f"trace-{len(list(script.parent.iterdir()))}"
    trace.mkdir()
    told = {
        "steps": steps,
        "level": level,
        "inside": inside,
        "begin": begin,
        "workdir": str(script.parent),
        "output": str(trace),
        "stop_wait": 5,
        **settings,
    }
    (trace / "recorder.json").write_text(json.dumps(told))
    printed = _run(script, arguments, {"REPROCHECK_CHILD": str(trace), "PYTHONPATH": str(CHILD)})
    files = [
        [json.loads(line) for line in file.read_text().rstrip("\0").splitlines()]
        for file in trace.glob("*.jsonl")
    ]
    first = min(files, key=lambda events: events[0]["time"])
    return Level(printed=printed.splitlines(), events=first, processes=files)


def _run(script: Path, arguments: tuple[str, ...], variables: dict[str, str]) -> str:
    environment = {**clean_environment(), "OMP_NUM_THREADS": "2", **variables}
    command = [sys.executable, str(script), *arguments]
    done = subprocess.run(
        command, cwd=script.parent, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
