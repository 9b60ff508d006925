"""One stream, and events on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch_npu import fake


class Event:
    """Done when the device has come to where it was recorded."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self._due: int | None = None

    def record(self, stream: Any = None) -> None:
        """Mark this place."""
        self._due = fake.due()

    def query(self) -> bool:
        """Whether the device has come to it; waits for nothing."""
        return self._due is None or fake.is_past(self._due)

    def synchronize(self) -> None:
        """Wait until it has."""
        fake.counts["synchronize"] += 1
        fake.finish()

    def wait(self, stream: Any = None) -> None:
        """There is one stream: nothing to wait for."""


class Stream:
    """The one stream."""

    def __init__(self, device: Any = None, priority: int = 0) -> None:
        pass

    def synchronize(self) -> None:
        """Wait for the device."""
        fake.counts["synchronize"] += 1
        fake.finish()

    def query(self) -> bool:
        """Whether everything is done."""
        return not fake._pending

    def wait_event(self, event: Event) -> None:
        """There is one stream: nothing to wait for."""

    def wait_stream(self, stream: Stream) -> None:
        """There is one stream: nothing to wait for."""

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event."""
        event = event or Event()
        event.record(self)
        return event


_the_stream = Stream()


def current_stream(device: Any = None) -> Stream:
    """The one stream."""
    return _the_stream


default_stream = current_stream


@contextmanager
def stream(stream: Stream | None) -> Iterator[None]:
    """There is one stream."""
    yield
