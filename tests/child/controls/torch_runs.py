"""Starts scripts under controls as the launcher does, several at once, and reads what they trained
and what the controls said.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import CHILD, clean_environment

SCRIPTS = Path(__file__).parent / "scripts" / "torch"
TABLE = {
    entry["name"]: entry
    for entry in json.loads((CHILD / "reprocheck_child" / "shared" / "relations.json").read_text())
    if entry["kind"] == "control"
}


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A finished run: what each process wrote, in the order of the processes."""

    status: int
    output: str
    errors: str
    processes: list[list[dict[str, Any]]]

    def events(self, kind: str, control: str = "") -> list[dict[str, Any]]:
        """The events of a kind, of all processes, of one control where it is named."""
        return [
            event
            for process in self.processes
            for event in process
            if event["e"] == kind and (not control or event["c"] == control)
        ]

    def losses(self) -> list[Any]:
        """The losses of each process that has some, in every bit, by rank."""
        found = []
        for process in self.processes:
            losses = [value for event in process if event["e"] == "loss" for value in event["v"]]
            if losses:
                ranks = [event["rank"] for event in process if event.get("rank") is not None]
                found.append((ranks[-1] if ranks else 0, [str(value) for value in losses]))
        return sorted(found)

    def touched(self, control: str) -> dict[str, int]:
        """What a control touched, and how often in all processes."""
        found: dict[str, int] = {}
        for process in self.processes:
            mine: dict[str, int] = {}
            for event in process:
                if event["e"] == "control" and event["c"] == control:
                    mine[event["w"]] = max(event["n"], mine.get(event["w"], 0))
            for what, count in mine.items():
                found[what] = found.get(what, 0) + count
        return found


class Start:
    """A run under way."""

    def __init__(
        self,
        script: Path,
        folder: Path,
        *controls: str,
        seed: int = 0,
        override: bool = False,
        steps: int | None = 4,
        launcher: tuple[str, ...] = (),
        arguments: tuple[str, ...] = (),
        level: str = "loss",
        **variables: str,
    ) -> None:
        self.trace = folder / "trace"
        self.trace.mkdir(parents=True)
        settings = {
            "steps": steps,
            "level": level,
            "workdir": str(folder),
            "output": str(self.trace),
            "stop_wait": 20,
            "mask": {},
        }
        settings |= {"controls": list(controls), "seed": seed, "override": override}
        (self.trace / "recorder.json").write_text(json.dumps(settings))
        path = str(CHILD) + (":" + variables.pop("PYTHONPATH") if "PYTHONPATH" in variables else "")
        given = {
            name: value.format(seed=seed, tmp=folder)
            for control in controls
            for name, value in TABLE[control]["environment"].items()
        }
        self.process = subprocess.Popen(
            [sys.executable, *launcher, str(script), *arguments],
            cwd=folder,
            env={
                **clean_environment(),
                **given,
                "REPROCHECK_CHILD": str(self.trace),
                "PYTHONPATH": path,
                **variables,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self) -> Trained:
        """Wait for it."""
        output, errors = self.process.communicate(timeout=180)
        files = [
            [json.loads(line) for line in file.read_text().rstrip("\0").splitlines()]
            for file in self.trace.glob("*.jsonl")
        ]
        processes = sorted(files, key=lambda events: events[0].get("time", 0.0))
        problems = [event for process in processes for event in process if event["e"] == "problem"]
        assert not problems, problems
        return Trained(
            status=self.process.returncode, output=output, errors=errors, processes=processes
        )


def pair(script: Path, folder: Path, *controls: str, **options: Any) -> tuple[Trained, Trained]:
    """Two runs at once."""
    starts = [Start(script, folder / name, *controls, **options) for name in ("a", "b")]
    first, second = (start.end() for start in starts)
    return first, second
