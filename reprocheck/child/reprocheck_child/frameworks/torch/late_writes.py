"""Finds weights that something other than the optimizer wrote to after their update.

Examples are added noise, clipping, averaging, or a copy into the weights.
"""

import weakref
from typing import Any, Dict, Iterator, Tuple

_UNSEEN: Tuple[str, Any] = ("", None)


class Written:
    """A comparison of the weights before a forward pass with the state that the last update left.

    Weights are compared by marks (see `version_counter`), which cost next to nothing.

    Parameters outside the optimizer are compared, too: those of a frozen module, or of a teacher
    that follows the weights. Buffers are not, because each forward pass changes them.
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
        """Store the marks of an optimizer's weights after its step was recorded."""
        self.stepped[id(optimizer)] = weakref.ref(optimizer)
        self.due = True
        for name, weight in self.names.optimizer_weights(optimizer):
            self.marks[id(weight)] = name, self.prints.mark(weight)
        for name, weight in self._others():
            seen_as, _ = self.marks.get(id(weight), _UNSEEN)
            if seen_as != name:
                self.marks[id(weight)] = name, self.prints.mark(weight)

    def look(self) -> None:
        """Record, once after each update, the weights whose mark differs from the last one."""
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
        """Yield (name, parameter) of the named parameters whose `requires_grad` is False."""
        for name, weight in self.names.parameters():
            if not weight.requires_grad:
                yield name, weight
