"""Runs a script with the recorder as the launcher would, and reads back the raw events."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import CHILD, clean_environment


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A finished process and the events of each process that wrote a trace, in order of their first
    lines.
    """

    done: subprocess.CompletedProcess[str]
    processes: list[list[dict[str, Any]]]

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The events of one kind, of all processes."""
        return [event for process in self.processes for event in process if event["e"] == kind]

    def losses(self) -> list[float]:
        """The values of all losses."""
        return [value for event in self.events("loss") for value in event["v"]]


def record(
    source: str,
    folder: Path,
    *arguments: str,
    steps: int | None = None,
    python: str = sys.executable,
    flags: tuple[str, ...] = (),
    **variables: str,
) -> Recording:
    """Write `source` to a script in `folder` and run it there with the recorder."""
    trace = folder / "trace"
    trace.mkdir()
    settings = {
        "steps": steps,
        "level": "loss",
        "workdir": str(folder),
        "output": str(trace),
        "stop_wait": 20,
        "mask": {},
    }
    (trace / "recorder.json").write_text(json.dumps(settings))
    script = folder / "script.py"
    script.write_text(source)
    path = str(CHILD) + (":" + variables.pop("PYTHONPATH") if "PYTHONPATH" in variables else "")
    done = subprocess.run(
        [python, *flags, str(script), *arguments],
        cwd=folder,
        env={
            **clean_environment(),
            "REPROCHECK_CHILD": str(trace),
            "PYTHONPATH": path,
            **variables,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    files = [
        [json.loads(line) for line in file.read_text().rstrip("\0").splitlines()]
        for file in trace.glob("*.jsonl")
    ]
    return Recording(
        done=done, processes=sorted(files, key=lambda events: events[0].get("time", 0.0))
    )


def interpreters() -> list[str]:
    """A Python of each version that a script may use and that this machine has, 3.9 to 3.14."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = []
    for minor in range(9, 15):
        of_pyenv = sorted(map(str, versions.glob(f"3.{minor}.*/bin/python")))
        path = of_pyenv[-1] if of_pyenv else shutil.which(f"python3.{minor}")
        if path is not None:
            found.append(path)
    return found
