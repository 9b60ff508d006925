"""Finds weights that something other than the optimizer wrote to after their update.

Examples are added noise, clipping, averaging, or a copy into the weights.
"""

import weakref
from typing import Any, Dict, List, Tuple

_UNSEEN: Tuple[str, Any] = ("", None)


class Written:
    """A comparison of the weights before a forward pass with the state that the last update left.

    Weights are compared by marks (see `Fingerprints.mark`), which cost next to nothing.

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

    def updated(self, optimizer: Any, marks: Dict[int, Tuple[str, Any]]) -> None:
        """Store the `marks` of an optimizer's weights after its step was recorded."""
        self.stepped[id(optimizer)] = weakref.ref(optimizer)
        self.due = True
        self.marks.update(marks)
        for name, weight in self.names.frozen(marks):
            if self.marks.get(id(weight), _UNSEEN)[0] != name:
                self.marks[id(weight)] = name, self.prints.mark(weight)

    def look(self) -> None:
        """Record, once after each update, the weights whose mark differs from the last one."""
        if not self.due:
            return
        self.due = False
        weights: List[Tuple[str, Any]] = []
        for reference in list(self.stepped.values()):
            optimizer = reference()
            if optimizer is not None:
                weights += self.names.optimizer_weights(optimizer)
        weights += self.names.frozen({id(weight) for _, weight in weights})
        for name, weight in weights:
            seen_as, before = self.marks.get(id(weight), _UNSEEN)
            # None before: a weight whose writes cannot be seen
            if seen_as != name or before is None:
                continue
            mark = self.prints.mark(weight)
            if mark != before:
                self.marks[id(weight)] = name, mark
                self.deep.seen("written", name, out=[["", self.prints.later(weight)]])
