"""What the deeper levels of TensorFlow and of Keras share: names of weights, where they were made,
and the facts around an update.
"""

import os
import sys
import tempfile
import weakref
from typing import Any, Dict, Iterable, List, Optional, Sequence, Set, Tuple

from .. import deep as deeper
from ..scope import variable as variable_of
from .fingerprint import Prints, array, concrete

_facts: List["Facts"] = []

UNMADE = (
    "its first value is not recorded: it is made and updated within one call of a compiled function"
)
LIMIT = 200_000
"""Variables of which is known where they were made."""
Birth = Tuple[Any, Dict[str, Any]]


def of(recorder: Any) -> "Facts":
    """The one of this process."""
    if not _facts:
        _facts.append(Facts(recorder))
    return _facts[0]


class Facts:
    """Writes facts on weights, losses, gradients and updates.

    Weights are variables of TensorFlow or of Keras.
    """

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.deep = deeper.of(recorder)
        self.prints = Prints(self.deep)
        # key of a weight -> (it, its name); keeps it, so that keys stay theirs
        self.names: Dict[int, Tuple[Any, str]] = {}
        self.taken: Dict[str, int] = {}
        self.births: Dict[int, Birth] = {}
        # name of a model that is called by the script -> what its parts' paths begin with
        self.roots: Dict[str, str] = {}
        self.begun = False
        # names of weights that had no value yet when they were looked at, and have not been updated
        self.unmade: Set[str] = set()
        # name of a weight -> the hash of what an update left, until it is looked at again
        self.left: Dict[str, str] = {}
        for name in ("tensorflow", "keras"):
            self.foreign(name)
        self.deep.foreign.append(os.path.join(tempfile.gettempdir(), "__autograph_generated_file"))

    def foreign(self, name: str) -> None:
        """The code of a package is not the user's."""
        file = getattr(sys.modules.get(name), "__file__", None)
        folder = os.path.join(os.path.dirname(os.path.abspath(file)), "") if file else ""
        if folder and folder not in self.deep.foreign:
            self.deep.foreign.append(folder)

    # -------------------------------------------------------------------------------------- weights

    def born(self, weight: Any, line: str, states: Dict[str, str], seeds: int) -> None:
        """A weight was made: the line of the script, the states that its values were drawn from,
        and how many seeds were set before.
        """
        if len(self.births) < LIMIT or id(weight) in self.births:
            made = {
                **({"l": line} if line else {}),
                **({"g": states} if states else {}),
                "sn": seeds,
            }
            self.births[id(weight)] = (weakref.ref(weight), made)

    def root(self, name: str) -> str:
        """What the paths in a model begin with: the first that is called needs nothing, others
        their names.
        """
        if name not in self.roots:
            self.roots[name] = name if self.roots else ""
        return self.roots[name]

    def begin(self, weights: Iterable[Any], frame: Any = None) -> None:
        """Record the first values of new weights, and those written to since their update; at the
        very first, states of generators.
        """
        for weight in weights:
            _, known = self.names.get(key(weight), (None, ""))
            if known and known not in self.unmade:
                self._written(weight, known)
                continue
            if not concrete(weight):
                continue
            name = self.name(weight, frame)
            if not has_value(weight):
                self.unmade.add(name)
                continue
            self.unmade.discard(name)
            keys = self._birth(weight)
            if not getattr(weight, "trainable", True):
                keys["b"] = True
            self.deep.seen("weights", name, call=False, out=[["", self.prints.of(weight)]], **keys)
        if not self.begun:
            self.begun = True
            self.deep.seen("rng", "first forward", call=False, g=self.deep.rng())

    def _written(self, weight: Any, name: str) -> None:
        """Something else than an optimizer may have changed a weight since its update: once after
        each of them.
        """
        left = self.left.pop(name, None)
        if (
            left is not None
            and concrete(weight)
            and (now := self.prints.of(weight)).get("h") != left
        ):
            self.deep.seen("written", name, out=[["", now]])

    def _birth(self, weight: Any) -> Dict[str, Any]:
        for one in (weight, getattr(weight, "_value", None)):
            reference, made = self.births.get(id(one), (None, {}))
            if reference is not None and reference() is one:
                return dict(made)
        return {}

    def name(self, weight: Any, frame: Any = None) -> str:
        """The name of a weight: that of Keras, the one that it was given, or the variable that
        holds it in the script.
        """
        known = self.names.get(key(weight))
        if known is not None:
            return known[1]
        if hasattr(weight, "path"):
            wanted = self.dotted(weight.path)
        else:
            wanted = (
                _own_name(weight) or variable_of(frame or self.deep.frame(1), weight) or "variable"
            )
        number = self.taken[wanted] = self.taken.get(wanted, 0) + 1
        name = wanted if number == 1 else "%s (%d)" % (wanted, number)
        self.names[key(weight)] = (weight, name)
        return name

    def dotted(self, path: str) -> str:
        """`dense.kernel` for `sequential/dense/kernel` of the model `sequential`."""
        first, _, rest = path.partition("/")
        if rest and first in self.roots:
            path = self.roots[first] + "/" + rest if self.roots[first] else rest
        return path.replace("/", ".")

    # ----------------------------------------------------------------------------- around an update

    def differentiated(self, losses: Sequence[Any]) -> None:
        """What is differentiated, as numpy values."""
        for loss in losses:
            self.deep.seen("root", "loss", out=[["", self.prints.of(loss)]])

    def gradients(
        self,
        kind: str,
        weights: Sequence[Any],
        gradients: Sequence[Any],
        index: Optional[int] = None,
    ) -> None:
        """Gradients of weights, the last first: nearer to the order of the backward pass, which
        hands out all at once.
        """
        keys: Dict[str, Any] = {} if index is None else {"o": index}
        for weight, gradient in reversed(list(zip(weights, gradients))):
            if gradient is not None:
                self.deep.seen(
                    kind,
                    weight if isinstance(weight, str) else self.name(weight),
                    out=[["", self.prints.of(gradient)]],
                    **keys,
                )

    def updated(self, named: Sequence[Tuple[str, Any]], index: Optional[int]) -> None:
        """Weights and states of an optimizer after an update."""
        keys: Dict[str, Any] = {} if index is None else {"o": index}
        for name, value in named:
            found = self.prints.of(value)
            self.deep.seen("update", name, out=[["", found]], **keys)
            if ":" not in name:
                self.left[name] = found.get("h", "")
            if name in self.unmade:
                self.unmade.discard(name)
                self.deep.unrecorded(name, UNMADE)

    @staticmethod
    def prints_bytes(value: Any) -> bytes:
        """The bytes of a small tensor."""
        return bytes(array(value).tobytes())

    def batch(self, place: str, batch: Any) -> None:
        """A batch that a loader has handed out, or that was given."""
        samples = self.prints.samples(batch)
        found = self.prints.leaves(batch)
        keys: Dict[str, Any] = {} if samples is None else {"n": samples}
        self.deep.seen("batch", place, out=found, **keys)


def has_value(weight: Any) -> bool:
    """Whether a weight can be read.

    A variable of TensorFlow that is made while a function is traced is empty until the function
    runs.

    Where the function makes variables, TensorFlow fills them after the first tracing and traces
    again before anything runs.
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
    """What stands for a weight: variables of Keras hold one of TensorFlow, and may be given as
    either.
    """
    inner = getattr(weight, "_value", None)
    return id(inner) if inner is not None and hasattr(inner, "assign") else id(weight)


def _own_name(weight: Any) -> str:
    name = str(getattr(weight, "name", "") or "").split(":")[0]
    return "" if name.startswith("Variable") else name.replace("/", ".")
