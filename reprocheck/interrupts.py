"""Turns the signals that end a check into one KeyboardInterrupt.

They are Ctrl-C, SIGTERM and SIGHUP, wherever reprocheck is, and none is lost.

The command line listens from its first line to its last (`listen`); a check that is started from
Python, while its runs are under way (`interrupting`). While the user's files are put back, a signal
waits (`waiting`). What a user ignores (`nohup`) stays ignored.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_Handler = Callable[[int, FrameType | None], object]

_heard = False
_listening = False


def heard() -> bool:
    """Return whether a signal arrived since `listen`.

    Also where the exception was lost on its way (in a callback of the interpreter).
    """
    return _heard


def answered() -> None:
    """Forget a signal that has done what it was to do: the command ends well."""
    global _heard
    _heard = False


def listen() -> None:
    """Let each signal raise KeyboardInterrupt in the main thread from now on.

    Forks of this process end by them as usual.
    """
    global _heard, _listening
    _heard = False
    if threading.current_thread() is not threading.main_thread():
        return
    _listening = True
    for number in _not_ignored():
        signal.signal(number, _interrupt)
    os.register_at_fork(after_in_child=_as_usual)


def ignore() -> None:
    """Ignore signals while the result is printed."""
    global _listening
    _listening = False
    if threading.current_thread() is threading.main_thread():
        for number in NUMBERS:
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def interrupting() -> Iterator[None]:
    """Let SIGTERM and SIGHUP act as Ctrl-C meanwhile.

    What was heard before belongs to an earlier check, unless the command line listens.
    """
    if not _listening:
        answered()
    with _handled([number for number in _not_ignored() if number != signal.SIGINT], _interrupt):
        yield


@contextmanager
def waiting() -> Iterator[None]:
    """Hold a signal back until the end, and raise KeyboardInterrupt then."""
    arrived: list[int] = []
    with _handled(_not_ignored(), lambda number, _: arrived.append(number)):
        yield
    if arrived:
        _interrupt()


def _not_ignored() -> list[signal.Signals]:
    return [number for number in NUMBERS if signal.getsignal(number) != signal.SIG_IGN]


@contextmanager
def _handled(numbers: Iterable[signal.Signals], handler: _Handler) -> Iterator[None]:
    """Set another handler for some signals.

    Nothing happens in a thread, where Python allows no handler.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            # None: a handler that was not set from Python cannot be put back.
            signal.signal(number, old or signal.SIG_DFL)


def _as_usual() -> None:
    for number in _not_ignored():
        signal.signal(number, signal.SIG_DFL)


def _interrupt(number: int = 0, frame: FrameType | None = None) -> None:
    global _heard
    _heard = True
    raise KeyboardInterrupt
