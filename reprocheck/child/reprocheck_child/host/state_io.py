"""Reads the variables of a framework in the continued run, and writes them in a resumed one.

They are written by the framework's own assignment.
"""

import re
from itertools import count
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from ..recorder.hooking import guarded
from ..resume.state_holders import BATCH, GENERATORS
from .tensors import array

NOT_GIVEN = "no step was given what the continued run was given there, or it has another form"
Named = Iterable[Tuple[str, Any]]
_NUMBER = re.compile(r"_\d+(?=[.:]|$)")
"""What Keras puts behind the name of a layer that it makes once more."""


class Variables:
    """The variables of one rung.

    each the variables by their names read returns a variable as an array of numpy write gives a
    variable the values of an array
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
        """Return the values of the variables."""
        return {name: self.read(variable) for name, variable in self.each()}

    def put(self, values: Dict[str, Any]) -> List[str]:
        """Write the kept values; one of another shape is not written."""
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
    """Return whether two arrays hold the same in every bit."""
    if (first.dtype, first.shape) != (second.dtype, second.shape):
        return False
    return bool(first.tobytes() == second.tobytes())


def renamed(kept_names: Sequence[str], names: Sequence[str]) -> Dict[str, str]:
    """Return name -> the name of the same variable among those that are kept.

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
    """A generator whose state can be read and not set; where it differs, that is reported."""

    rung = GENERATORS

    def __init__(self, name: str, why: str, values: Any) -> None:
        self.name = name
        self.why = why
        self.values = values

    def take(self) -> Dict[str, Any]:
        """Return its state, as far as it can be read."""
        return {self.name: self.values.recorder.deep.states().get(self.name)}

    def put(self, values: Dict[str, Any]) -> List[str]:
        """Put nothing back."""
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
        """Return the arrays to use in place of the tensors of a batch; None to leave them.

        They are left where nothing of their form was kept.
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
