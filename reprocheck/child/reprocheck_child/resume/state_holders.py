"""Reads the parts of a training whose values can be kept at a boundary, and puts them back.

States of random generators are read here; the adapters of the frameworks read the other parts.
"""

from __future__ import annotations

from ..deep_levels import generator_states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Collection, Iterable, Iterator, Protocol

    Values = dict[str, Any]
    Slot = tuple[str, Callable[[], Any], Callable[[Any], object]]

    class Holder(Protocol):
        """Read and write one part of a training, such as the weights.

        rung  kind of the values; the rungs of the ladder stand in the order in which a run needs
              them
        """

        rung: str

        def take(self) -> Values:
            """Return all values of the part by name.

            They must be written at once, because the training changes them.
            """

        def put(self, values: Values) -> list[str]:
            """Put the values back; return the names of the values that differed before."""


WEIGHTS, OPTIMIZER = "weights", "optimizer state"
SCHEDULES, GENERATORS, BATCH = "hyper-parameters", "RNG state", "batch"


def same_states(first: Any, second: Any) -> bool:
    """Return whether two states of random generators, or two numbers, are the same."""
    return _text(first) == _text(second)


class Slots:
    """Read and write the values of one kind one by one.

    rung  kind of the values, such as `RNG state`
    each  returns (name, reader, writer) of each value
    same  returns whether two values are the same in every bit
    only  names of the values that are put back; None: all
    """

    def __init__(
        self,
        rung: str,
        each: Callable[[], Iterable[Slot]],
        same: Callable[[Any, Any], bool] = same_states,
        only: Collection[str] | None = None,
    ) -> None:
        self.rung = rung
        self.each = each
        self.same = same
        self.only = only

    def take(self) -> Values:
        """Return all of the values."""
        return {name: read() for name, read, _ in self.each()}

    def put(self, values: Values) -> list[str]:
        """Write the kept values that differ from the present ones; return their names."""
        changed = []
        wanted = values.keys() if self.only is None else values.keys() & self.only
        for name, read, write in list(self.each()):
            if name in wanted and not self.same(read(), values[name]):
                write(values[name])
                changed.append(name)
        return changed


def of_the_host() -> Iterator[Slot]:
    """Yield the states of the generators of Python and NumPy that all code shares.

    The methods of the generators are used, because the functions of the modules, such as
    `random.setstate`, are watched as calls of the script.
    """
    python, numpy = generator_states.python(), generator_states.numpy()
    if python is not None:
        yield "python", python.getstate, python.setstate
    if numpy is not None:
        yield "numpy", numpy.get_state, numpy.set_state


def _text(state: Any) -> str:
    """Return a generator's state as text without omissions; `repr` would shorten an array."""
    if isinstance(state, tuple):
        return repr([_text(part) for part in state])
    if hasattr(state, "numpy"):
        state = state.numpy()
    return repr(state.tobytes() if hasattr(state, "tobytes") else state)
