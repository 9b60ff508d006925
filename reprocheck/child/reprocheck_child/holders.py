"""What of a training can be taken at a boundary as values, and put back: the states of generators
here, the rest by the adapters.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    Values = dict[str, Any]

    class Holder(Protocol):
        """One part of a training. `rung` is its place on the ladder across the gap."""

        rung: str

        def take(self) -> Values:
            """All of it by name; what is taken may change later and is written at once."""

        def put(self, kept: Values) -> list[str]:
            """Puts it back; returns the names of what was another value before."""


WEIGHTS, OPTIMIZER = "weights", "optimizer state"
SCHEDULES, GENERATORS, BATCH = "hyper-parameters", "RNG state", "batch"


class HostGenerators:
    """The generators of Python and NumPy that scripts share."""

    rung = GENERATORS

    def take(self) -> Values:
        """Their states as they give them themselves."""
        found: Values = {}
        python, numpy = _python(), _numpy()
        if python is not None:
            found["python"] = python.getstate()
        if numpy is not None:
            found["numpy"] = numpy.get_state()
        return found

    def put(self, kept: Values) -> list[str]:
        """Sets them."""
        changed = []
        python, numpy = _python(), _numpy()
        if python is not None and "python" in kept and python.getstate() != kept["python"]:
            python.setstate(kept["python"])
            changed.append("python")
        if numpy is not None and "numpy" in kept and repr_of(numpy) != _text(kept["numpy"]):
            numpy.set_state(kept["numpy"])
            changed.append("numpy")
        return changed


def repr_of(numpy: Any) -> str:
    """The whole state of the generator of NumPy as text."""
    return _text(numpy.get_state())


def _text(state: Any) -> str:
    """A state of NumPy's, whose second part is an array."""
    if isinstance(state, tuple):
        return repr((state[0], state[1].tobytes(), *state[2:]))
    return repr(state)


def _python() -> Any:
    # not the function of the module: that one is watched, as scripts put states back by it
    return getattr(sys.modules.get("random"), "_inst", None)


def _numpy() -> Any:
    return getattr(sys.modules.get("numpy.random.mtrand"), "_rand", None)
