"""Records the state of a training with MindSpore where it was stopped or goes on.

That is parameters, the states of each optimizer, and what scales the loss.
"""

from functools import partial
from typing import Any, Callable, Dict, Iterator, List, Tuple

from ...host.state_io import Batches, Unsettable, Variables
from ...resume.restored_values import GENERATORS, OPTIMIZER, SCHEDULES, WEIGHTS, Slots
from .steps import AsItIs

NO_STATE = (
    "operators of MindSpore keep the states of their generators to themselves once they were built"
)


def install(held: Any, values: Any) -> None:
    """Read and restore what `held` knows of; replace batches in a resumed run."""
    mindspore = held.watcher.recording.mindspore
    tensor = mindspore.Tensor
    values.codec.add("mindspore", partial(_encoded, tensor), lambda data: tensor(*data))

    def write(parameter: Any, value: Any) -> None:
        parameter.set_data(mindspore.Tensor(value, parameter.dtype))

    def holder(rung: str, each: Callable[[], Any]) -> Variables:
        return Variables(rung, each, _read, write)

    held.given = Given(mindspore, values)
    values.holders += [
        holder(WEIGHTS, lambda: _named(held.weights())),
        holder(OPTIMIZER, partial(_states, held)),
        holder(SCHEDULES, lambda: [*_named(held.scales()), *held.rates(), *_scalers(held)]),
        Slots(GENERATORS, lambda: _default(mindspore)),
        Unsettable("mindspore", NO_STATE, values),
    ]


def _encoded(kind: Any, value: Any) -> Any:
    """Return (numpy array,) for a tensor of the class `kind`; None for any other value."""
    return (value.asnumpy(),) if isinstance(value, kind) else None


def _read(tensor: Any) -> Any:
    return tensor.asnumpy()


def _named(parameters: List[Any]) -> List[Tuple[str, Any]]:
    return [(parameter.name, parameter) for parameter in parameters]


def _states(held: Any) -> Iterator[Tuple[str, Any]]:
    """Yield (name, state) of the states of optimizers.

    From the second optimizer on, names end with its number, because two optimizers may have the
    same parameters.
    """
    for number, (_, optimizer) in enumerate(held.optimizers()):
        behind = " (%d)" % number if number else ""
        for name, state in held.states(optimizer):
            yield name + behind, state


def _scalers(held: Any) -> Iterator[Tuple[str, Any]]:
    """Yield the scales of loss scalers that hold them as parameters."""
    alive = filter(None, [reference() for reference in held.watcher.scalers])
    for number, scaler in enumerate(alive):
        for name in ("scale_value", "counter"):
            value = getattr(scaler, name, None)
            if hasattr(value, "set_data"):
                yield "%s of %s[%d]" % (name, type(scaler).__name__, number), value


def _default(mindspore: Any) -> Iterator[Tuple[str, Any, Any]]:
    """Yield the default generator, from which the functions of `mint` draw."""
    tensor = mindspore.Tensor
    yield (
        "mindspore.mint",
        lambda: mindspore.get_rng_state().asnumpy(),
        lambda state: mindspore.set_rng_state(tensor(state)),
    )


class Given(AsItIs):
    """The arguments of gradient functions, replaced by those of the continued run."""

    def __init__(self, mindspore: Any, values: Any) -> None:
        self.mindspore = mindspore
        self.batches = Batches(values, _read)
        # id of a tensor -> (it, the one in its place), until the next step
        self._replaced: Dict[int, Tuple[Any, Any]] = {}

    def instead(self, args: Tuple[Any, ...]) -> Tuple[Any, ...]:
        """Return the arguments to call the forward half (loss) with."""
        tensors = [argument for argument in args if isinstance(argument, self.mindspore.Tensor)]
        replacements = self.batches.instead(tensors)
        self._replaced.clear()
        for before, value in zip(tensors, replacements or ()):
            self._replaced[id(before)] = before, self.mindspore.Tensor(value, before.dtype)
        return self.same(args)

    def same(self, args: Tuple[Any, ...]) -> Tuple[Any, ...]:
        """Return the same replaced arguments for the backward half (gradients).

        MindSpore finds the graph of the forward half by these objects.
        """
        pairs = [self._replaced.get(id(argument), (argument, argument)) for argument in args]
        return tuple(new for _, new in pairs)


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
            install(self, boundary.values)

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
