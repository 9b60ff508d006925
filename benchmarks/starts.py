"""How often a failed check starts the script before it can say where the runs diverge: at level
`loss`, which records a second pair of runs, and at level `auto`, which does not.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import SCRIPTS, plain_environment
from benchmarks.table import Row

UNSEEDED = SCRIPTS / "unseeded.py"
ALLOWED = 2
"""Starts at level `auto`."""
_FAILED = 1
"""How reprocheck exits where the check failed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failed:
    """A failed check: how often it started the script, and how long it took."""

    starts: int
    seconds: float


def starts(folder: Path) -> list[Row]:
    """Starts and time until the first rung that differs is known, at both levels."""
    former, new = (checked(UNSEEDED, folder / level, level) for level in ("loss", "auto"))
    return [
        Row(
            what="starts of a script until the rung is known: level `loss`, two pairs of runs",
            value=former.starts,
            allowed=None,
            unit="",
        ),
        Row(
            what="the same at level `auto`, one pair of runs",
            value=new.starts,
            allowed=ALLOWED,
            unit="",
        ),
        Row(
            what="time until the rung is known at level `auto`, against level `loss`",
            value=new.seconds / former.seconds,
            allowed=1.0,
            unit="×",
            plain=f"{former.seconds:.1f} s at level `loss`",
            how="wall time of one check each, one after the other",
        ),
    ]


def checked(training: Path, folder: Path, level: str) -> Failed:
    """Check a training that fails, and that adds a line to the file that it is given when it
    starts.

    Raises RuntimeError where the check does not fail, or no rung is said.
    """
    # outside of the working directory: what runs write there is put back between the pairs
    counted, reports, work = folder / "starts.txt", folder / "reports", folder / "work"
    work.mkdir(parents=True)
    options = ("--quiet", "--no-draw", "--level", level, "--output", str(reports))
    script = (str(training), str(counted))
    began = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-m", "reprocheck", "run", *options, *script],
        env=plain_environment(),
        cwd=work,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    if ended.returncode != _FAILED:
        raise RuntimeError(f"the check ended with {ended.returncode}: {ended.stderr[-2000:]}")
    report = json.loads((reports / "latest" / "report.json").read_text(encoding="utf-8"))
    if not report["ladder"]:
        raise RuntimeError("the check does not say where the runs diverge")
    return Failed(starts=len(counted.read_text(encoding="utf-8").splitlines()), seconds=seconds)
