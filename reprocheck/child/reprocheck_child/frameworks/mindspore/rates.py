"""Records learning rates of MindSpore's optimizers.

They are parameters in host memory, read before the step.

A callback may set the next rate at the end of a step, before ours is called: so rates are read when
the step begins, and recorded when it has ended.
"""

import weakref
from typing import Any, Dict, List, Optional, Sequence

from ...recorder.hooking import guarded

BY = "mindspore"


class Rates:
    """The rates of all optimizers at each update; only changes are recorded."""

    def __init__(self, mindspore: Any, recorder: Any) -> None:
        self.parameter = mindspore.Parameter
        self.series = recorder.series
        self.held: weakref.WeakKeyDictionary[Any, List[Any]] = weakref.WeakKeyDictionary()
        """Optimizer -> what its groups had when its step began."""
        self.names: Dict[int, List[str]] = {}

    @guarded("learning rates")
    def look(self, optimizers: Sequence[Any]) -> None:
        """Read the rates as a step of these optimizers begins."""
        for optimizer in optimizers:
            step = getattr(optimizer, "global_step", None)
            self.held[optimizer] = [self._read(rate, step) for rate in _groups(optimizer)]

    @guarded("a learning rate")
    def report(self, optimizer: Any, index: int, built: int) -> None:
        """Record the learning rates of an optimizer that has stepped.

        `built`: how many optimizers were built so far.
        """
        values = self.held.pop(optimizer, [])
        names = self.names.setdefault(index, [])
        if not names and len(values) == 1 and built == 1:
            names.append("learning_rate")
        while len(names) < len(values):
            names.append("learning_rate/%d.%d" % (index, len(names)))
        for name, value in zip(names, values):
            if value is not None:
                self.series.keep(name, value, BY)

    def _read(self, rate: Any, step: Any) -> Any:
        """Return a rate as a number of Python or numpy; None if it would have to be computed."""
        if isinstance(rate, float):
            return rate
        parameter = self._parameter(rate)
        if parameter is None:
            return None
        values = parameter.asnumpy()  # a view: what is taken out of it is a copy
        if not values.ndim:
            return values[()]
        place = int(step.asnumpy()[0])
        if place >= len(values):
            return None
        return values[place]

    def _parameter(self, rate: Any) -> Any:
        """Return the parameter that holds a rate; None for a schedule, which computes it.

        It is held as it is, or in one of the two cells that MindSpore makes of a number and of a
        list of rates.
        """
        if isinstance(rate, self.parameter):
            return rate
        # private; a schedule of the script's own has another class, whatever its attributes
        if type(rate).__name__ not in ("_ConvertToCell", "_IteratorLearningRate"):
            return None
        return rate.learning_rate


def _groups(optimizer: Any) -> List[Any]:
    """Return the learning rates of an optimizer, one for each group of parameters."""
    groups: Optional[List[Any]] = getattr(optimizer, "param_groups", None)
    if groups is not None:  # of `mindspore.experimental` and `mindspore.mint`
        return [group.get("lr") for group in groups]
    rates: Any = getattr(optimizer, "learning_rate", None)
    if not getattr(optimizer, "is_group_lr", False):
        return [rates]
    # one for each parameter: those of a group are the same object
    return list({id(rate): rate for rate in rates}.values())
