"""Records the first iterations at level `module` and the rest at level `loss`: level `auto`.

The first iterations are those that the forward check and the backward check compare. Afterwards the
hooks of level `module` remove themselves.

Level `module` is left earlier if it would change the training (code is about to be compiled or
captured), or if it costs too much: a device has no memory for fingerprints, or recording takes
longer than the training itself.
"""

from __future__ import annotations

from time import perf_counter

from .hooking import guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

MOST = 10
"""Iterations after which the level is left although no update has changed a weight."""
DEAR = 2.0
"""Seconds of recording in one iteration below which it is never too dear: a second start of the
script, which the facts save, takes longer.
"""
NOT_MOVED = "no update changed a weight in the first %d iterations"
TOO_DEAR = "recording took %.1f of the %.1f seconds of iteration %d"


class FirstIterations:
    """Decide when this process leaves level `module`.

    One for a process. Nothing here raises.
    """

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.on_leave: list[Callable[[], None]] = []
        """Take the deeper hooks away."""
        self.left = False
        self._moved_in = 0  # the iteration in which an update was first seen to change weights
        self._spent = 0.0  # seconds of recording in the iteration under way
        self._began = perf_counter()
        self._closed = 0
        recorder.on_event.append(self.look)
        recorder.on_fork.append(self._forked)

    def timed(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap `work` so that its duration counts as time spent on recording."""

        def run(*args: Any, **named: Any) -> Any:
            began = perf_counter()
            try:
                return work(*args, **named)
            finally:
                self._spent += perf_counter() - began

        return run

    def look(self) -> None:
        """Leave level `module` if both checks have the iterations that they compare."""
        grouping = self.recorder.grouping
        closed = len(grouping.ends)
        if self.left or closed == self._closed:
            return
        self._closed = closed
        if not self.recorder.watching() and not self._moved_in:
            self._moved_in = grouping.moved_in or closed
        dear = self._too_dear(closed)
        # Where a loss closes its iteration, the gradients and the update behind it are still to
        # come: they are complete with the next one.
        complete = closed - bool(grouping.closed_by_loss)
        if self._moved_in and complete > self._moved_in:
            self.leave()
        elif dear:
            self.leave(dear)
        elif complete >= MOST:
            self.leave(NOT_MOVED % MOST)

    def _too_dear(self, closed: int) -> str:
        """Return why recording the last iteration took too long; "" if it did not.

        closed  number of closed iterations
        """
        now = perf_counter()
        duration, self._began = now - self._began, now
        spent, self._spent = self._spent, 0.0
        if spent < DEAR or spent < duration / 2:
            return ""
        return TOO_DEAR % (spent, duration, closed)

    @guarded("leaving level module")
    def leave(self, why: str = "") -> None:
        """Remove the hooks of level `module`.

        why  why that is earlier than the checks need it; "" if it is not
        """
        if self.left:
            return
        self.left = True
        self.recorder.leave_level(why)
        for callback in self.on_leave:
            with guarded("taking the deeper hooks away"):
                callback()
        self.on_leave.clear()

    def _forked(self) -> None:
        """Count the iterations of a forked process from 0; a level that was left stays left."""
        self._moved_in, self._closed = 0, 0
