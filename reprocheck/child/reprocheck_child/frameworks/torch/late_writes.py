"""Finds weights that something other than the optimizer wrote to after their update.

Such are noise, clipping, averaging, a copy into them.
"""

import weakref
from typing import Any, Dict, Iterator, Tuple

_UNSEEN: Tuple[str, Any] = ("", None)


class Written:
    """A comparison of the weights before a forward with what the last update left.

    The marks that it compares cost next to nothing.

    Other parameters count, too: those of a frozen module, or of a teacher that follows the weights.
    Buffers change in each forward.
    """

    def __init__(self, deep: Any, names: Any) -> None:
        self.deep = deep
        self.prints = deep.fingerprints
        self.names = names
        self.stepped: Dict[int, Any] = {}  # id of an optimizer that has stepped -> a reference
        # id of a weight -> its name and its mark when it was seen last
        self.marks: Dict[int, Tuple[str, Any]] = {}
        self.due = False  # whether an update has been since the last look

    def updated(self, optimizer: Any) -> None:
        """Mark the weights of an optimizer that has stepped, once they are recorded."""
        self.stepped[id(optimizer)] = weakref.ref(optimizer)
        self.due = True
        for name, weight in self.names.optimizer_weights(optimizer):
            self.marks[id(weight)] = name, self.prints.mark(weight)
        for name, weight in self._others():
            seen_as, _ = self.marks.get(id(weight), _UNSEEN)
            if seen_as != name:
                self.marks[id(weight)] = name, self.prints.mark(weight)

    def look(self) -> None:
        """Record the weights that differ from when they were seen last, once after each update."""
        if not self.due:
            return
        self.due = False
        for reference in list(self.stepped.values()):
            optimizer = reference()
            if optimizer is not None:
                self._compare(self.names.optimizer_weights(optimizer))
        self._compare(self._others())

    def _compare(self, weights: Iterator[Tuple[str, Any]]) -> None:
        for name, weight in weights:
            seen_as, before = self.marks.get(id(weight), _UNSEEN)
            if seen_as != name or before is None:
                continue
            # None before: a weight whose writes cannot be seen
            mark = self.prints.mark(weight)
            if mark != before:
                self.marks[id(weight)] = name, mark
                self.deep.seen("written", name, out=[["", self.prints.later(weight, True)]])

    def _others(self) -> Iterator[Tuple[str, Any]]:
        """Return named parameters that no optimizer of a step holds."""
        for name, weight in self.names.parameters():
            if not weight.requires_grad:
                yield name, weight
