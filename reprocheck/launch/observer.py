"""What a check tells while it is under way."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from reprocheck.model import RunRecord


class Observer(Protocol):
    """Hears of the runs. With `--jobs` the methods are called from several threads, never two at a
    time.
    """

    def run_started(self, number: int, of: int) -> None:
        """Run `number` of `of` starts."""

    def progress(self, number: int, iteration: int, loss: float | None, seconds: float) -> None:
        """Run `number` has closed `iteration` iterations; `loss`: the last one recorded; `seconds`
        since its start.
        """

    def silent(self, number: int, seconds: float) -> None:
        """Run `number` has recorded nothing for so many seconds (called every 60)."""

    def masking(self, number: int) -> None:
        """Run `number` has ended, and secrets are taken out of its logs."""

    def run_ended(self, record: RunRecord) -> None:
        """A run has ended and its record is written."""

    def message(self, text: str) -> None:
        """Something that the user should know: a file that cannot be put back, a snapshot of an
        earlier check.
        """


class Quiet:
    """An observer that listens to nothing."""

    def run_started(self, number: int, of: int) -> None: ...
    def progress(self, number: int, iteration: int, loss: float | None, seconds: float) -> None: ...
    def silent(self, number: int, seconds: float) -> None: ...
    def masking(self, number: int) -> None: ...
    def run_ended(self, record: RunRecord) -> None: ...
    def message(self, text: str) -> None: ...


class Held:
    """Keeps what it hears for another observer, and hands it on from `listen` on: that of runs of
    which is not known whether anybody needs them.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._lock = threading.RLock()
        self._listening = False
        self._heard: list[tuple[str, tuple[object, ...]]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        def call(*arguments: object) -> None:
            with self._lock:
                if self._listening:
                    getattr(self._observer, name)(*arguments)
                elif name != "silent":  # that was so then, and says nothing of now
                    self._heard.append((name, arguments))

        return call

    def listen(self) -> None:
        """The observer hears what there was, and everything from now on."""
        with self._lock:
            for name, arguments in self._heard:
                getattr(self._observer, name)(*arguments)
            self._heard.clear()
            self._listening = True
