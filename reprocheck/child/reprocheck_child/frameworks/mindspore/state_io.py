"""Reads the values of a training with MindSpore, and restores them by `set_data`.

The continued run reads the values, the resumed run restores them.

Batches are replaced when a dataset returns them, and when the gradient of a function that takes
them is computed.
"""

from functools import partial
from typing import Any, Callable, Dict, Iterator, List, Tuple

from ...host.state_io import Batches, Unsettable, Variables
from ...resume.state_holders import GENERATORS, OPTIMIZER, SCHEDULES, WEIGHTS, Slots
from .arguments import AsItIs

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
