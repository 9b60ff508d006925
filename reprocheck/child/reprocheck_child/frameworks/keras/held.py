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
        self.values: Any = getattr(self.deep.boundary, "values", None)
        """Keeps what is held as values, or puts that back, where that is asked for."""
        self.optimizer: Any = None
        """That of the trainer whose batch begins; one that scales the loss holds another one."""

    def watch(self) -> None:
        """Be asked at each boundary."""
        self.deep.boundary.held.append(self.write)
        if self.values is not None:
            from . import held_values

            held_values.install(self)

    def callbacks(self) -> List[Any]:
        """What `fit` calls behind the callbacks of the script."""
        if self.values is None:
            return []
        from .held_values import rates_before_batch

        kind = self.watcher.keras.callbacks.LambdaCallback
        return [kind(on_train_batch_begin=lambda *_, **__: rates_before_batch(self))]

    def write(self) -> None:
        """Write all of it."""
        for name, weight in self.weights():
            self._write(name, weight, b=not getattr(weight, "trainable", True))
        for index, optimizer in self.optimizers():
            for name, variable in self.variables(optimizer):
                self._write(name, variable, o=index)
        self._write_scale(self.optimizer)

    def weights(self) -> List[Tuple[str, Any]]:
        """The weights that have a value; on PyTorch the adapter of PyTorch knows them."""
        if self.watcher.backend == "torch":
            return []
        known = [(name, weight) for weight, name in self.facts.names.values()]
        return [pair for pair in known if concrete(pair[1]) and has_value(pair[1])]

    def _write(self, place: str, value: Any, **keys: Any) -> None:
        out = [["", self.facts.prints.of(value)]]
        self.deep.seen("held", place, call=False, out=out, **keys)

    def optimizers(self) -> Iterator[Tuple[int, Any]]:
        """The optimizers that have weights, and that of the trainer, which may have none yet."""
        own = getattr(self.optimizer, "inner_optimizer", self.optimizer)
        for optimizer, index in list(self.watcher.updates.optimizers().items()):
            if optimizer.built or optimizer is own:
                yield index, optimizer

    def outermost(self, optimizer: Any) -> Any:
        """The optimizer that scales the loss for this one, where one does; else itself."""
        scaling = getattr(self.optimizer, "inner_optimizer", None)
        return optimizer if scaling is not optimizer else self.optimizer

    def variables(self, optimizer: Any) -> List[Tuple[str, Any]]:
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
        out = [[name, self.facts.prints.of(one)] for name, one in self.scales()]
        if out:
            place = type(optimizer).__name__ + "[0]"
            self.deep.seen("held", place, call=False, out=out, k="schedule")

    def scales(self) -> List[Tuple[str, Any]]:
        """What decides the next scale of the loss."""
        held = [(name, getattr(self.optimizer, name, None)) for name in _SCALES]
        return [pair for pair in held if pair[1] is not None]
