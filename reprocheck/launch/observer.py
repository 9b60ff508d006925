"""What a check tells while it is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from reprocheck.model import RunRecord

if TYPE_CHECKING:
    from reprocheck.launch import Output


class Observer(Protocol):
    """Hears of the runs.

    With `--jobs` the methods are called from several threads, never two at a time.
    """

    def run_started(self, number: int, of: int) -> None:
        """Run `number` of `of` starts."""

    def progress(self, number: int, iteration: int, loss: float | None, seconds: float) -> None:
        """Hear that run `number` has closed `iteration` iterations.

        `loss`: the last one recorded; `seconds` since its start.
        """

    def silent(self, number: int, seconds: float) -> None:
        """Hear that run `number` has recorded nothing for this many seconds (called every 60)."""

    def masking(self, number: int) -> None:
        """Hear that run `number` has ended, and that secrets are being masked in its logs."""

    def run_ended(self, record: RunRecord) -> None:
        """Hear that a run has ended and its record is written."""

    def message(self, text: str) -> None:
        """Hear what the user should know: a file that cannot be put back, an old snapshot."""


class Quiet:
    """An observer that ignores everything."""

    def run_started(self, number: int, of: int) -> None: ...
    def progress(self, number: int, iteration: int, loss: float | None, seconds: float) -> None: ...
    def silent(self, number: int, seconds: float) -> None: ...
    def masking(self, number: int) -> None: ...
    def run_ended(self, record: RunRecord) -> None: ...
    def message(self, text: str) -> None: ...


class Teller(Observer, Protocol):
    """An observer that also hears of events between the runs; the console is one.

    `output`: where the output of the runs goes.
    """

    @property
    def output(self) -> Output | None: ...

    def deeper(self, title: str, level: str, inside: str = "") -> None:
        """Announce runs at a deeper level, to explain the verdict `title` of earlier runs."""

    def half(self, level: str) -> None:
        """Announce a run at a deeper level, to be compared with that of another recording."""

    def arm(self, name: str, why: str, most: int = 0) -> None:
        """Announce runs under controls, and why they are made.

        `most`: runs of the search still to come at most.
        """

    def status(self, text: str) -> None:
        """Show what reprocheck itself is doing."""

    def remark(self, text: str, style: str = "") -> None:
        """Tell the user a sentence."""

    def clear(self) -> None:
        """Hear that nothing is under way any more."""


class Silent:
    """Passes events of the runs on to an observer, and ignores all other events."""

    output = None

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._observer, name)

    def masking(self, number: int) -> None:
        """Ignore that the logs of a run are masked."""

    def deeper(self, title: str, level: str, inside: str = "") -> None:
        """Ignore that two more runs at a deeper level follow."""

    def half(self, level: str) -> None:
        """Tell that one more run at a deeper level follows."""

    def arm(self, name: str, why: str, most: int = 0) -> None:
        """Ignore that runs under controls follow."""

    def status(self, text: str) -> None:
        """Show what reprocheck itself is doing."""

    def remark(self, text: str, style: str = "") -> None:
        """Ignore a sentence for the user."""

    def clear(self) -> None:
        """Do nothing, because nothing is shown."""
