"""Reads the variables of a framework in the continued run, and restores them in a resumed one.

They are written by the framework's own assignment.
"""

import re
from itertools import count
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from ..recorder.hooking import guarded
from ..resume.restored_values import BATCH, GENERATORS
from .tensors import array

NOT_GIVEN = "no step was given what the continued run was given there, or it has another form"
Named = Iterable[Tuple[str, Any]]
_NUMBER = re.compile(r"_\d+(?=[.:]|$)")
"""What Keras puts behind the name of a layer that it makes once more."""


class Variables:
    """The variables of one rung: one kind of restored state, such as weights.

    each   yields (name, variable)
    read   returns a variable as a numpy array
    write  writes an array to a variable
    """

    def __init__(
        self,
        rung: str,
        each: Callable[[], Named],
        read: Callable[[Any], Any],
        write: Callable[[Any, Any], object],
    ) -> None:
        self.rung = rung
        self.each = each
        self.read = read
        self.write = write

    def take(self) -> Dict[str, Any]:
        """Return the values of the variables by name."""
        return {name: self.read(variable) for name, variable in self.each()}

    def put(self, values: Dict[str, Any]) -> List[str]:
        """Write the kept values to the variables; a value of another shape is not written."""
        named = list(self.each())
        names = renamed(list(values), [name for name, _ in named])
        changed = []
        for name, variable in named:
            wanted = values.get(names[name])
            if wanted is None:
                continue
            now = self.read(variable)
            if now.shape == wanted.shape and not same(now, wanted):
                self.write(variable, wanted)
                changed.append(name)
        return changed


def same(first: Any, second: Any) -> bool:
    """Return whether two arrays are equal in every bit."""
    if (first.dtype, first.shape) != (second.dtype, second.shape):
        return False
    return bool(first.tobytes() == second.tobytes())


def renamed(kept_names: Sequence[str], names: Sequence[str]) -> Dict[str, str]:
    """Return a dict from each name to the kept name of the same variable.

    A model that was built again may have other numbers, as `dense_2.kernel` for `dense.kernel`.
    """
    translation = dict(zip(names, names))
    lost = [name for name in kept_names if name not in translation]
    known = set(kept_names)
    more = [name for name in names if name not in known]
    if list(map(_without_number, lost)) == list(map(_without_number, more)):
        translation.update(zip(more, lost))
    return translation


def _without_number(name: str) -> str:
    return _NUMBER.sub("", name)


class Unsettable:
    """A generator whose state can be read but not set; a difference in state is reported."""

    rung = GENERATORS

    def __init__(self, name: str, why: str, values: Any) -> None:
        self.name = name
        self.why = why
        self.values = values

    def take(self) -> Dict[str, Any]:
        """Return the state of the generator; None if it cannot be read."""
        return {self.name: self.values.recorder.deep.states().get(self.name)}

    def put(self, values: Dict[str, Any]) -> List[str]:
        """Report if the state differs from the kept one; the state cannot be restored."""
        if self.take() != values:
            self.values.unavailable(GENERATORS, self.why)
        return []


class Batches:
    """The batches that each step is given, replaced by those of the continued run."""

    def __init__(self, values: Any, read: Callable[[Any], Any] = array) -> None:
        self.values = values
        self.read = read
        self.count = count(1)
        values.by_step.setdefault(BATCH, NOT_GIVEN)

    @guarded("a batch of the continued run")
    def instead(self, leaves: Sequence[Any]) -> Optional[List[Any]]:
        """Return the kept arrays to use in place of the tensors of a batch; None to leave them.

        The tensors are left if no batch of the same shapes and dtypes was kept.
        """
        given = list(map(self.read, leaves))
        if not given:
            return None
        batch = self.values.step(BATCH, (BATCH,), lambda: given)
        if batch is None or list(map(_form, batch)) != list(map(_form, given)):
            return None
        differs = not all(map(same, batch, given))
        self.values.acted(BATCH, ["batch %d" % next(self.count)] * differs)
        return list(batch)


def _form(value: Any) -> Tuple[Any, Any]:
    return value.dtype, value.shape
