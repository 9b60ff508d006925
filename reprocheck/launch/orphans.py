"""What a run leaves alive when its guard is killed: it comes to this process, which ends it.

While a guard is at work, this process adopts orphans too (PR_SET_CHILD_SUBREAPER): the processes of
a run are then either below their guard or, once it is dead, below this one. They are told from
other children of this process, which may be a user's own program, by what was there before, by the
guards, and by their session: a run has one of its own.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from reprocheck.launch.guard import LAST_RESORT, PR_SET_CHILD_SUBREAPER, below, children_of_all

PR_GET_CHILD_SUBREAPER = 37
LOOK_AGAIN = 0.02

_lock = threading.RLock()
_guards: set[int] = set()
_adopted_before = False


class Strays:
    """The orphaned processes of one run that this process may adopt. `close` ends the adoption."""

    def __init__(self, start: Callable[[], int]) -> None:
        """`start` starts the guard and returns its pid."""
        with _lock:
            self._known = {pid for pid, _, _ in children_of_all().get(os.getpid(), ())}
            _adopt()
            try:
                self.guard = start()
            except BaseException:
                _adopt_no_longer()
                raise
            _guards.add(self.guard)

    def end(self) -> int:
        """Send SIGKILL to all descendants of the guard, after it is dead, until none is left.

        Return how many there were.
        """
        ended: set[int] = set()
        deadline = time.monotonic() + LAST_RESORT
        while time.monotonic() < deadline:
            heads, living = self._here()
            for pid, group in living:
                ended.add(pid)
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
                    if group > 0:
                        os.killpg(group, signal.SIGKILL)
            for pid in heads:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            if not living:
                return len(ended)
            time.sleep(LOOK_AGAIN)
        return len(ended)

    def close(self) -> None:
        """End the adoption after the guard and all its descendants have ended."""
        with _lock:
            _guards.discard(self.guard)
            if not _guards:
                _adopt_no_longer()

    def _here(self) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the children of this process that came from the guard, dead ones too, and (pid,
        process group) of all of them that live.
        """
        with _lock:
            tree, ours = children_of_all(), os.getsid(0)
            others = self._known | _guards
            heads = [
                process
                for process in tree.get(os.getpid(), ())
                if process[0] not in others and process[2] != ours
            ]
        living = [
            process
            for head in heads
            for process in ([head] if head[1] >= 0 else []) + below(head[0], tree)
        ]
        return [pid for pid, _, _ in heads], [(pid, group) for pid, group, _ in living]


def _adopt() -> None:
    global _adopted_before
    if _guards:
        return
    was_set = ctypes.c_int(0)
    _library().prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(was_set), 0, 0, 0)
    _adopted_before = bool(was_set.value)
    _library().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _adopt_no_longer() -> None:
    if not _guards and not _adopted_before:
        _library().prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)
