"""The clock by which a run is watched, for tests of what happens when its time is over: none of
them waits, or depends on the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reprocheck.launch.run.run import SILENT

TIMEOUT = 5 * SILENT
"""A limit for runs under this clock: it leaves room for several looks at a run that has been silent
for too long.
"""


class Clock:
    """Stands for the module `time`.

    Once nothing more will happen in the run (`settled`), it is past the next silence at each look.
    """

    def __init__(self, settled: Callable[[], bool]) -> None:
        self._settled = settled
        self._ahead = 0.0

    def monotonic(self) -> float:
        """Seconds that never go back."""
        if self._settled():
            self._ahead += SILENT + 1
        return time.monotonic() + self._ahead


def watch_by(monkeypatch: pytest.MonkeyPatch, settled: Callable[[], bool]) -> None:
    """Runs of this process are watched by such a clock from now on."""
    monkeypatch.setattr("reprocheck.launch.run.run.time", Clock(settled))


def living(markers: Path) -> Iterator[str]:
    """Names of the files in a folder, each of which holds the number of a process, where that
    process is alive.
    """
    for marker in markers.iterdir():
        text = marker.read_text()
        if text.endswith("\n") and Path("/proc", text.strip()).exists():
            yield marker.name
