"""The shared part of the deeper levels (`module` and `op`) of TensorFlow and Keras.

It knows the names of weights, where they were made, and the facts around an update.
"""

import os
import sys
import tempfile
from typing import Any, Dict, Iterable, List, Optional, Sequence, Set, Tuple

from ..deep_levels import facts as deeper, scope
from .facts import Facts
from .tensors import Prints, array, concrete

UNMADE = (
    "its first value is not recorded: it is made and updated within one call of a compiled function"
)
_facts: List["VariableFacts"] = []


def of(recorder: Any) -> "VariableFacts":
    """Return the `VariableFacts` of this process."""
    if not _facts:
        _facts.append(VariableFacts(recorder))
    return _facts[0]


class VariableFacts(Facts):
    """The writer of facts on weights that are variables of TensorFlow or of Keras."""

    def __init__(self, recorder: Any) -> None:
        deep = deeper.of(recorder)
        super().__init__(deep, Prints(deep))
        # key of a weight -> (it, its name); keeps it, so that keys stay theirs
        self.names: Dict[int, Tuple[Any, str]] = {}
        self.taken: Dict[str, int] = {}
        # name of a model that is called by the script -> what its parts' paths begin with
        self.roots: Dict[str, str] = {}
        # names of weights that had no value yet when they were looked at, and have not been updated
        self.unmade: Set[str] = set()
        for name in ("tensorflow", "keras"):
            self.foreign(name)
        # AutoGraph writes what it makes of a function to a file of this name
        deep.foreign.append(os.path.join(tempfile.gettempdir(), "__autograph_generated_file"))

    def foreign(self, name: str) -> None:
        """Treat the code of the package `name` as a library's, not the user's."""
        file = getattr(sys.modules.get(name), "__file__", None)
        if not file:
            return
        folder = os.path.join(os.path.dirname(os.path.abspath(file)), "")
        if folder not in self.deep.foreign:
            self.deep.foreign.append(folder)

    def root(self, name: str) -> str:
        """Return the prefix of the paths in a model.

        It is "" for the first model that is called, and the name of the model for any other.
        """
        prefix = name if self.roots else ""
        return self.roots.setdefault(name, prefix)

    def begin(self, weights: Iterable[Any], frame: Any = None) -> None:
        """Record new weights, and those written to since their update.

        At the first call, the states of generators are recorded, too.
        """
        for weight in weights:
            if concrete(weight):
                self._look_at(weight, frame)
        self.first_forward()

    def _look_at(self, weight: Any, frame: Any) -> None:
        _, known = self.names.get(key(weight), (None, ""))
        if known and known not in self.unmade:
            self.written(known, known, weight)
            return
        name = self.name(weight, frame)
        if not has_value(weight):
            self.unmade.add(name)
            return
        self.unmade.discard(name)
        # an initializer of Keras fills the variable of the backend, or that of Keras
        birth = self.birth(weight) or self.birth(getattr(weight, "_value", None))
        self.first_value(name, weight, birth, buffer=not getattr(weight, "trainable", True))

    def name(self, weight: Any, frame: Any = None) -> str:
        """Return the name of a weight.

        It is the path that Keras gives, the name that the script gave, or the variable of the
        script.
        """
        known = self.names.get(key(weight))
        if known is not None:
            return known[1]
        wanted = self._wanted(weight, frame)
        number = self.taken[wanted] = self.taken.get(wanted, 0) + 1
        name = wanted
        if number > 1:
            name += " (%d)" % number
        self.names[key(weight)] = (weight, name)
        return name

    def _wanted(self, weight: Any, frame: Any) -> str:
        if hasattr(weight, "path"):
            return self.dotted(weight.path)
        own = str(getattr(weight, "name", "") or "").split(":")[0]
        if own and not own.startswith("Variable"):  # TensorFlow's name for one that was given none
            return own.replace("/", ".")
        return scope.variable(frame or self.deep.frame(2), weight) or "variable"

    def dotted(self, path: str) -> str:
        """Return `dense.kernel` for `sequential/dense/kernel` of the model `sequential`."""
        first, _, rest = path.partition("/")
        prefix = self.roots.get(first)
        if rest and prefix is not None:
            path = (prefix + "/" + rest).lstrip("/")
        return path.replace("/", ".")

    def gradients_of(
        self,
        kind: str,
        weights: Sequence[Any],
        gradients: Sequence[Any],
        index: Optional[int] = None,
    ) -> None:
        """Record the gradients of weights; weights without a gradient are left out."""
        pairs = zip(weights, gradients)
        named = [(self.name(weight), given) for weight, given in pairs if given is not None]
        self.gradients(kind, named, index)

    def all_updated(self, named: Sequence[Tuple[str, Any]], index: Optional[int]) -> None:
        """Record the weights and states of an optimizer after an update."""
        for name, value in named:
            is_state = ":" in name
            self.updated(name, value, index, key=None if is_state else name)
            if name in self.unmade:
                self.unmade.discard(name)
                self.deep.unrecorded(name, UNMADE)


def has_value(weight: Any) -> bool:
    """Return whether a weight can be read.

    A variable of TensorFlow that is made while a function is traced is empty until the function
    runs. Where the function makes variables, TensorFlow fills them after the first tracing and
    traces again before anything runs.
    """
    shape = getattr(getattr(weight, "_value", weight), "shape", None)
    fits = getattr(shape, "is_compatible_with", None)  # shapes of other frameworks are tuples
    if fits is None:
        return True
    try:
        return bool(fits(array(weight).shape))
    except Exception:  # TensorFlow refuses to read it
        return False


def key(weight: Any) -> int:
    """Return the identity of a weight: that of the TensorFlow variable inside a Keras variable.

    The weight may be given as either of the two.
    """
    # private: the variable of TensorFlow that a variable of Keras holds
    inner = getattr(weight, "_value", None)
    if hasattr(inner, "assign"):
        return id(inner)
    return id(weight)
