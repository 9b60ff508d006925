"""The time of an iteration, as the observer of a run hears of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from reprocheck.errors import ReprocheckError
from reprocheck.model import RunRecord

LEAST = 1.0
"""Seconds between the first and the last iteration below which nothing can be said: runs are looked
at ten times a second.
"""


class Stopwatch:
    """An observer that hands everything on to another, and notes when each run came to its first
    and to its last iteration.
    """

    def __init__(self, observer: Any) -> None:
        self._observer = observer
        self._first: dict[int, tuple[int, float]] = {}
        self._last: dict[int, tuple[int, float]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._observer, name)

    def run_started(self, number: int, of: int) -> None:
        """Run `number` of `of` starts."""
        self._first.pop(number, None)
        self._last.pop(number, None)
        self._observer.run_started(number, of)

    def progress(self, number: int, iteration: int, loss: float | None, seconds: float) -> None:
        """Note the time of an iteration."""
        if iteration:
            self._first.setdefault(number, (iteration, seconds))
            self._last[number] = (iteration, seconds)
        self._observer.progress(number, iteration, loss, seconds)

    def run_ended(self, record: RunRecord) -> None:
        """A run has ended."""
        self._observer.run_ended(record)

    def step_times(self) -> tuple[float, ...]:
        """Return the time of an iteration in each run since the last call, of those that took long
        enough.
        """
        found = []
        for number, (first, start) in self._first.items():
            last, end = self._last[number]
            if last > first and end - start >= LEAST:
                found.append((end - start) / (last - first))
        self._first, self._last = {}, {}
        return tuple(found)

    def keep_as_is(self, folder: Path) -> None:
        """Write the time of an iteration as it is into the record."""
        from reprocheck.recording import record

        with suppress(ReprocheckError):
            record.write(folder, replace(record.read(folder), step_times=self.step_times()))

    def keep_arm(self, folder: Path, name: str) -> None:
        """Write the time of an iteration under the controls of an arm into the record."""
        from reprocheck.recording import record

        times = self.step_times()
        with suppress(ReprocheckError):
            held = record.read(folder)
            arms = tuple(
                replace(arm, step_times=times) if arm.name == name else arm for arm in held.arms
            )
            record.write(folder, replace(held, arms=arms))
