"""Stores the bulk of most trainings: one scalar loss, one update, again and again.

In such a stretch a loss costs one store into a column of doubles, in a file of its own. An update
costs nothing, because one update between two losses is implied. Formatting a number, a lock or a
second line would cost several times as much: the caches are cold in each step.
"""

from __future__ import annotations

from _thread import get_ident

from .mapping import BLOCK, Block, cut_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from typing import Any

WIDTH = 8
"""Bytes of a loss: a double in the machine's byte order."""
UNUSED = b"\xff" * WIDTH
"""Stands where no loss was stored yet: a NaN that no computation yields.

Losses that are NaN are lines of the trace, they end a stretch.
"""


def stored(data: bytes) -> array[float]:
    """Return the losses of a part of a column, up to the first that was not stored yet."""
    from array import array  # it imports `collections`: 3 ms of each process

    used = len(data.rstrip(UNUSED[:1]))
    return array("d", data[: -(-used // WIDTH) * WIDTH][: len(data) // WIDTH * WIDTH])


class Column:
    """Hold the file with the losses of all regular stretches of one process.

    The block of the file from loss `start` on is mapped into memory.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.start = 0
        self._block: Block | None = None

    def view(self, used: int) -> Any:
        """Return a memory view of doubles, to store further losses in.

        Raises OSError if the file cannot be mapped.

        used  number of losses that are stored so far
        """
        self._release()
        self.start = used * WIDTH // BLOCK * BLOCK // WIDTH
        try:
            self._block = block = Block(self.path, self.start * WIDTH, BLOCK)
        except OSError:
            cut_off(self.path, used * WIDTH)  # a part of it may have been allocated
            raise
        block.bytes[(used - self.start) * WIDTH :] = b"\xff" * (BLOCK - (used - self.start) * WIDTH)
        return block.bytes.cast("d")

    def close(self, used: int) -> None:
        """Cut off the unused end of the file."""
        if self._block is not None:
            self._release()
            cut_off(self.path, used * WIDTH)

    def _release(self) -> None:
        if self._block is not None:
            self._block.release()
            self._block = None


class Regular:
    """Store the losses of one regular stretch.

    `loss` and `update` do nothing and return False if the training leaves the pattern.
    """

    __slots__ = (
        "_column",
        "_next",
        "_room",
        "_thread",
        "_view",
        "dtype",
        "first",
        "index",
        "kind",
        "limit",
        "losses",
        "token",
        "updates",
    )

    def __init__(
        self,
        column: Column,
        first: int,
        index: int,
        kind: str,
        dtype: str,
        token: Any,
        limit: float,
    ) -> None:
        self.index, self.kind, self.dtype = index, kind, dtype
        self.token = token
        """What the framework calls the dtype."""
        self.first = first
        """Losses in the column before this stretch."""
        self.losses = self.updates = 0
        self.limit = limit
        """Updates after which the process is to stop."""
        self._thread = get_ident()
        self._column = column
        self._view = column.view(first)
        self._next = first - column.start
        self._room = len(self._view)

    def loss(self, value: float) -> bool:
        """Store one scalar loss of the stretch's kind and dtype, from the stretch's thread."""
        updates = self.updates
        if self.losses != updates or value != value or get_ident() != self._thread:
            return False
        if self._next == self._room and not self._more():
            return False
        self._view[self._next] = value
        self._next += 1
        self.losses = updates + 1
        return True

    def update(self, index: int) -> bool:
        """Count an update of optimizer `index`, whose weights were not compared.

        Return False also for the last update before the early stop.
        """
        losses = self.losses
        if index != self.index or self.updates == losses or losses >= self.limit:
            return False
        self.updates = losses
        return True

    def close(self) -> None:
        """Cut off the part of the file that the stretch did not use.

        Call this only in the stretch's own thread, which may be storing a loss.
        """
        if get_ident() == self._thread:
            self._view = None
            self._column.close(self.first + self.losses)

    def _more(self) -> bool:
        self._view = None
        self._next = self._room = 0
        try:
            self._view = self._column.view(self.first + self.losses)
        except OSError:
            return False
        self._room = len(self._view)
        return True
