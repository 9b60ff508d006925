"""Runs of scripts without the recorder, and with it alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import CHILD, clean_environment

SCRIPTS = Path(__file__).parent / "scripts"


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What a recorded run printed, and its events."""

    stdout: str
    events: list[dict[str, Any]]

    def seen(self, *kinds: str, iteration: int | None = None) -> list[dict[str, Any]]:
        """What was seen, of these kinds, in order."""
        return [
            event
            for event in self.events
            if event["e"] == "seen" and event["r"] in kinds and iteration in (None, event["i"])
        ]

    def held(self, iteration: int) -> dict[str, dict[str, Any]]:
        """What the training held before an iteration, by name."""
        return {event["p"]: event for event in self.seen("held", iteration=iteration)}

    def left(self, place: str, iteration: int) -> str:
        """The hash of what the update of an iteration left there at last."""
        left = [one for one in self.seen("update", iteration=iteration) if one["p"] == place]
        found: str = left[-1]["out"][0][1]["h"]
        return found

    def places(self, kind: str, iteration: int | None = None) -> list[str]:
        """Where things of a kind were seen."""
        return [event["p"] for event in self.seen(kind, iteration=iteration)]

    def order(self, iteration: int) -> list[str]:
        """The kinds of facts of an iteration, each once, in the order in which they came first."""
        return list(
            dict.fromkeys(
                event["r"]
                for event in self.events
                if event["e"] == "seen" and event["i"] == iteration
            )
        )


class Started:
    """A run under way: plain, or recorded at a level into `folder`."""

    def __init__(
        self,
        folder: Path,
        script: str,
        *arguments: str,
        level: str = "",
        boundaries: Sequence[int] = (),
    ) -> None:
        self.trace = folder / "trace"
        self.level = level
        self.trace.mkdir(parents=True)
        more = {}
        if level:
            settings = {"steps": None, "level": level, "workdir": str(folder), "stop_wait": 20}
            if boundaries:
                settings["boundaries"] = list(boundaries)
            (self.trace / "recorder.json").write_text(json.dumps(settings))
            more = {"REPROCHECK_CHILD": str(self.trace), "PYTHONPATH": str(CHILD)}
        self.process = subprocess.Popen(
            [sys.executable, str(SCRIPTS / script), *arguments],
            cwd=folder,
            env=clean_environment(OMP_NUM_THREADS="1", **more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self) -> Recorded:
        """Wait for it."""
        stdout, stderr = self.process.communicate(timeout=300)
        assert self.process.returncode == 0, stderr[-3000:]
        events = [
            json.loads(line)
            for file in self.trace.glob("*.jsonl")
            for line in file.read_text().rstrip("\0").splitlines()
        ]
        assert not [event for event in events if event["e"] == "problem"]
        assert {
            what
            for event in events
            if event["e"] == "framework"
            for what in event["hooks"].values()
        } <= {"ok"}
        return Recorded(stdout=stdout, events=events)
