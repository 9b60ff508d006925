"""What a check tells while it is under way."""

from __future__ import annotations

from typing import Protocol

from reprocheck.model import RunRecord


class Observer(Protocol):
    """Hears of the runs. With `--jobs` the methods are called from several threads, never two at a
    time.
    """

    def run_started(self, number: int, of: int) -> None:
        """Run `number` of `of` starts."""

    def progress(self, number: int, iteration: int, loss: float | None, seconds: float) -> None:
        """Hear that run `number` has closed `iteration` iterations; `loss`: the last one recorded;
        `seconds` since its start.
        """

    def silent(self, number: int, seconds: float) -> None:
        """Hear that run `number` has recorded nothing for this many seconds (called every 60)."""

    def masking(self, number: int) -> None:
        """Hear that run `number` has ended, and that secrets are being masked in its logs."""

    def run_ended(self, record: RunRecord) -> None:
        """Hear that a run has ended and its record is written."""

    def message(self, text: str) -> None:
        """Hear what the user should know: a file that cannot be put back, a snapshot of an earlier
        check.
        """


class Quiet:
    """An observer that ignores everything."""

    def run_started(self, number: int, of: int) -> None: ...
    def progress(self, number: int, iteration: int, loss: float | None, seconds: float) -> None: ...
    def silent(self, number: int, seconds: float) -> None: ...
    def masking(self, number: int) -> None: ...
    def run_ended(self, record: RunRecord) -> None: ...
    def message(self, text: str) -> None: ...
