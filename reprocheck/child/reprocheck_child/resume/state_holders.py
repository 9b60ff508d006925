"""Parts of a training whose values can be taken at a boundary and put back.

The states of generators are here; the adapters have the others.
"""

from __future__ import annotations

from ..deep_levels import generator_states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Collection, Iterable, Iterator, Protocol

    Values = dict[str, Any]
    Slot = tuple[str, Callable[[], Any], Callable[[Any], object]]

    class Holder(Protocol):
        """One part of a training. `rung` is its place on the ladder across the gap."""

        rung: str

        def take(self) -> Values:
            """Return all values by name; they may change later and are written at once."""

        def put(self, values: Values) -> list[str]:
            """Put the values back; return the names of those that differed before."""


WEIGHTS, OPTIMIZER = "weights", "optimizer state"
SCHEDULES, GENERATORS, BATCH = "hyper-parameters", "RNG state", "batch"


def same_states(first: Any, second: Any) -> bool:
    """Return whether two states of generators, or two numbers, are the same."""
    return _text(first) == _text(second)


class Slots:
    """Values of one rung that are read and written one by one.

    each name, reader and writer of each value same whether two values are the same in every bit
    only names of those that are put back; None: all
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
        """Write the values that are kept."""
        changed = []
        wanted = values.keys() if self.only is None else values.keys() & self.only
        for name, read, write in list(self.each()):
            if name in wanted and not self.same(read(), values[name]):
                write(values[name])
                changed.append(name)
        return changed


def of_the_host() -> Iterator[Slot]:
    """Yield the generators of Python and NumPy that scripts share.

    They themselves are taken, as the functions of the modules, by which scripts put states back,
    are watched.
    """
    python, numpy = generator_states.python(), generator_states.numpy()
    if python is not None:
        yield "python", python.getstate, python.setstate
    if numpy is not None:
        yield "numpy", numpy.get_state, numpy.set_state


def _text(state: Any) -> str:
    """Return a state as a complete text; those of NumPy and PyTorch are arrays or hold one."""
    if isinstance(state, tuple):
        return repr([_text(part) for part in state])
    if hasattr(state, "numpy"):
        state = state.numpy()
    return repr(state.tobytes() if hasattr(state, "tobytes") else state)
