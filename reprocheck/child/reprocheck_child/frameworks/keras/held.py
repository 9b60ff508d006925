"""What a training with Keras holds where it was stopped or goes on: weights, the variables of each
optimizer, loss scales.
"""

from typing import Any, Iterator, List, Tuple

from ...host.tensors import concrete
from ...host.variables import has_value

_RATE = "learning_rate"
"""A variable of an optimizer that is recorded with its hyper-parameters."""
_SCALES = ("step_counter", "dynamic_scale")
"""What decides the next scale of a loss, as `LossScaleOptimizer` names it."""


class Held:
    """Writes `held` facts: one a weight, a variable of an optimizer, a loss scale."""

    def __init__(self, watcher: Any) -> None:
        self.watcher = watcher
        self.facts = watcher.facts
        self.deep = watcher.deep
        self.optimizer: Any = None
        """That of the trainer whose batch begins; one that scales the loss holds another one."""

    def watch(self) -> None:
        """Be asked at each boundary."""
        self.deep.boundary.held.append(self.write)

    def write(self) -> None:
        """Write all of it."""
        # on PyTorch the adapter of PyTorch knows the weights
        if self.watcher.backend != "torch":
            for weight, name in list(self.facts.names.values()):
                if concrete(weight) and has_value(weight):
                    self._write(name, weight, b=not getattr(weight, "trainable", True))
        for index, optimizer in self._optimizers():
            for name, variable in self._variables(optimizer):
                self._write(name, variable, o=index)
        self._write_scale(self.optimizer)

    def _write(self, place: str, value: Any, **keys: Any) -> None:
        out = [["", self.facts.prints.of(value)]]
        self.deep.seen("held", place, call=False, out=out, **keys)

    def _optimizers(self) -> Iterator[Tuple[int, Any]]:
        """The optimizers that have weights, and that of the trainer, which may have none yet."""
        own = getattr(self.optimizer, "inner_optimizer", self.optimizer)
        for optimizer, index in list(self.watcher.updates.optimizers().items()):
            if optimizer.built or optimizer is own:
                yield index, optimizer

    def _variables(self, optimizer: Any) -> List[Tuple[str, Any]]:
        """`dense.kernel:momentum`, and what belongs to no weight, such as `iteration`."""
        named = self.watcher.updates.states(optimizer) if optimizer.built else []
        states = [(name, state) for name, state in named if ":" in name]
        known = {id(state) for _, state in states}
        others = [
            (str(one.name), one)
            for one in optimizer.variables
            if id(one) not in known and str(one.name) != _RATE
        ]
        return states + others

    def _write_scale(self, optimizer: Any) -> None:
        """The scale of the loss, where the optimizer has one that changes."""
        held = [(name, getattr(optimizer, name, None)) for name in _SCALES]
        out = [[name, self.facts.prints.of(one)] for name, one in held if one is not None]
        if out:
            place = type(optimizer).__name__ + "[0]"
            self.deep.seen("held", place, call=False, out=out, k="schedule")
