"""Starts scripts under controls as the launcher does, and reads what they printed and what the
controls said.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import CHILD, clean_environment

SCRIPTS = Path(__file__).parent / "scripts" / "python"


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A finished run: what it printed, and the events of its processes."""

    status: int
    output: str
    errors: str
    events: list[dict[str, Any]]
    names: list[str]
    """Of the trace files."""

    @property
    def seen(self) -> dict[str, Any]:
        """What the script printed, as JSON."""
        assert self.status == 0, self.errors
        found: dict[str, Any] = json.loads(self.output)
        return found

    def touched(self, control: str) -> dict[str, int]:
        """What a control touched, and the largest count that a process told."""
        found: dict[str, int] = {}
        for event in self.events:
            if event["e"] == "control" and event["c"] == control:
                found[event["w"]] = max(event["n"], found.get(event["w"], 0))
        return found

    def kind(self, kind: str) -> list[dict[str, Any]]:
        """The events of one kind."""
        return [event for event in self.events if event["e"] == kind]


def under(
    folder: Path,
    command: list[str],
    *controls: str,
    seed: int = 7,
    spared: list[str] | None = None,
    **variables: str,
) -> Ran:
    """`python COMMAND` in `folder`, under controls. Its TMPDIR is empty."""
    trace, temporary = folder / "trace", folder / "tmp"
    trace.mkdir(parents=True)
    temporary.mkdir()
    wanted: dict[str, Any] = {}
    if controls:
        wanted = {"controls": list(controls), "seed": seed, "override": False}
        wanted["spared"] = spared or []
    fixed = {
        "steps": None,
        "level": "loss",
        "workdir": str(SCRIPTS),
        "output": str(trace),
        "stop_wait": 20,
        "mask": {},
    }
    (trace / "recorder.json").write_text(json.dumps({**fixed, **wanted}))
    environment = {
        **clean_environment(),
        "REPROCHECK_CHILD": str(trace),
        "PYTHONPATH": str(CHILD),
        "TMPDIR": str(temporary),
        **variables,
    }
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    files = sorted(trace.glob("*.jsonl"))
    events = [
        json.loads(line) for file in files for line in file.read_text().rstrip("\0").splitlines()
    ]
    return Ran(
        status=done.returncode,
        output=done.stdout,
        errors=done.stderr,
        events=events,
        names=[file.name for file in files],
    )
