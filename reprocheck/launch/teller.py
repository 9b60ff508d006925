"""What a check tells while it is under way: of its runs, and of what comes between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from reprocheck.launch.observer import Observer

if TYPE_CHECKING:
    from reprocheck.launch import Output


class Teller(Observer, Protocol):
    """An observer that also hears of events between the runs; the console is one.

    `output`: where the output of the runs goes.
    """

    @property
    def output(self) -> Output | None: ...

    def deeper(self, title: str, level: str, inside: str = "") -> None:
        """Announce runs at a deeper level of recording, to explain the verdict `title` of the
        earlier runs.
        """

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
        """Nothing is under way any more."""


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
        """Two more runs at a deeper level follow."""

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
