"""Records the state of a training with MindSpore where it was stopped or goes on.

That is parameters, the states of each optimizer, and what scales the loss.
"""

from typing import Any, Dict, Iterator, List, Tuple

from .arguments import AsItIs

OF_SCALE = ("scale_sense", "current_iterator_step", "last_overflow_iterator_step")
"""Parameters of the cell that steps for a Model with a loss scale that changes."""
_RATE = "learning_rate"
"""In the name of a parameter of an optimizer that is recorded with its hyper-parameters."""


class Held:
    """The writer of `held` facts, which also gives each step of a resumed run its arguments."""

    def __init__(self, watcher: Any) -> None:
        self.watcher = watcher
        self.deep = watcher.deep
        self.given: Any = AsItIs()
        """Keeps or replaces what the gradient of a step is taken of, where that is asked for."""

    def watch(self) -> None:
        """Register to be called at each boundary."""
        boundary = self.deep.boundary
        boundary.held.append(self.write)
        if boundary.values is not None:
            from . import state_io

            state_io.install(self, boundary.values)

    def write(self) -> None:
        """Write parameters, optimizer states and loss scales as `held` facts."""
        weights = self.weights()
        for index, optimizer in self.optimizers():
            for name, state in self.states(optimizer):
                self._write(name, state, o=index)
        for parameter in weights:
            self._write(parameter.name, parameter, b=not parameter.requires_grad)
        for parameter in self.scales():
            self._write(parameter.name, parameter, k="schedule")

    def _write(self, place: str, value: Any, **keys: Any) -> None:
        out = [["", self.watcher.prints.of(value)]]
        self.deep.seen("held", place, call=False, out=out, **keys)

    def optimizers(self) -> List[Tuple[int, Any]]:
        """Return the optimizers that are alive, by their index."""
        known = self.watcher.recording.index.items()
        return sorted(((index, optimizer) for optimizer, index in list(known)), key=_index)

    def weights(self) -> List[Any]:
        """Return parameters and buffers: those used so far, and those that optimizers update."""
        for _, optimizer in self.optimizers():
            self.watcher.begin(optimizer.parameters)
        return [weight for weight in self.watcher.weights() if weight.name not in OF_SCALE]

    def scales(self) -> List[Any]:
        """Return parameters of a Model that scale its loss."""
        return [weight for weight in self.watcher.weights() if weight.name in OF_SCALE]

    def states(self, optimizer: Any) -> List[Tuple[str, Any]]:
        """Return optimizer states, such as `0.weight:moments` or a step count (of no parameter).

        The learning rate is left out, because it is among the hyper-parameters.
        """
        return [pair for pair in self._variables(optimizer) if _RATE not in pair[0]]

    def rates(self) -> Iterator[Tuple[str, Any]]:
        """Yield the learning rates of optimizers that hold them as parameters."""
        for index, optimizer in self.optimizers():
            for name, rate in self._variables(optimizer):
                if _RATE in name:
                    yield "%s of %s[%d]" % (name, type(optimizer).__name__, index), rate

    def _variables(self, optimizer: Any) -> List[Tuple[str, Any]]:
        named = self.watcher.states(optimizer)
        variables: Dict[int, Tuple[str, Any]] = {id(state): (name, state) for name, state in named}
        for name, state in optimizer.parameters_and_names():
            variables.setdefault(id(state), (str(state.name or name), state))
        weights = set(map(id, self.watcher.weights()))
        return [variable for key, variable in variables.items() if key not in weights]


def _index(pair: Tuple[int, Any]) -> int:
    return pair[0]
