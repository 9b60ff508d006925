"""The bulk of most trainings: one scalar loss, one update of the one optimizer, again and again.

Such a stretch costs a short line a loss and nothing an update: the update between two losses is implied. Formatting numbers,
looking up what is known already and a second line would cost a step of some milliseconds twice as much: the caches are cold each time.
"""

from __future__ import annotations

from _struct import Struct
from binascii import hexlify, unhexlify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .trace_file import TraceFile

_DOUBLE = Struct(">d")
_pack, _hexlify = _DOUBLE.pack, hexlify


def loss_of(digits: str) -> float:
    """The loss that a line of a regular stretch holds; NaN where the digits are damaged."""
    try:
        return float(_DOUBLE.unpack(unhexlify(digits)[:8].ljust(8, b"\xff"))[0])
    except ValueError:
        return float("nan")


class Regular:
    """A regular stretch. `loss` and `update` return False, and do nothing, where the training leaves the pattern."""

    __slots__ = ("_file", "_lock", "dtype", "index", "kind", "limit", "losses", "updates")

    def __init__(self, file: TraceFile, lock: Any, index: int, kind: str, dtype: str, limit: float) -> None:
        self._file, self._lock = file, lock
        self.index, self.kind, self.dtype = index, kind, dtype
        self.losses = self.updates = 0
        self.limit = limit
        """Updates after which the process is to stop."""

    def loss(self, value: float) -> bool:
        """One scalar loss of the stretch's kind and dtype."""
        if self.losses != self.updates:
            return False
        with self._lock:
            self._file.write(b'{"e":"x","h":"' + _hexlify(_pack(value)) + b'"}\n')
        self.losses += 1
        return True

    def update(self, index: int) -> bool:
        """An update of optimizer `index`, whose weights were not looked at."""
        if index != self.index or self.losses == self.updates:
            return False
        self.updates += 1
        return True
