"""Reads the values of a training with PyTorch, and restores them.

The continued run reads the values, the resumed run restores them.
"""

from functools import partial
from typing import Any, Callable, Dict, Iterable, Iterator, List, Tuple

from ...resume.restored_values import GENERATORS, OPTIMIZER, SCHEDULES, WEIGHTS, Slots
from .attributes import attributes, numbers

Slot = Tuple[str, Callable[[], Any], Callable[[Any], object]]
_COUNTER = "n_averaged"
"""The buffer that `AveragedModel` counts in: what lies beside it are averages of weights."""
_MOST_BESIDE = 1 << 26
"""Bytes of tensors that modules keep beside their weights, such as caches."""


def install(torch: Any, deep: Any, held: Any, own: Any) -> None:
    """Read and restore what `held` (see `boundary`) and `own` (see `weight_copies`) know of."""
    values = deep.boundary.values
    tensors = _Tensors(torch)
    values.codec.add("torch", tensors.encode, tensors.decode)
    beside = getattr(values, "beside", None)
    same = partial(_same, torch)
    values.holders += [
        Slots(WEIGHTS, lambda: _weights(torch, held, False), same),
        _States(torch, held),
        Slots(SCHEDULES, lambda: _schedules(torch, held), same),
        Slots(GENERATORS, lambda: _generators(torch), same),
        Slots(WEIGHTS, lambda: _tensors(torch, _copies(own)), same, beside),
        Slots(WEIGHTS, lambda: _tensors(torch, _attributes(torch, held)), same, beside),
        Slots(SCHEDULES, lambda: _numbers_of(_counts(own)), same, beside),
        Slots(WEIGHTS, lambda: _numbers_of(numbers(held.names)), same, beside),
    ]


class _Tensors:
    """A codec of tensors as bytes."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def encode(self, value: Any) -> Any:
        """Return (bytes, dtype, shape, device) of a tensor; None for any other value."""
        torch = self.torch
        if not isinstance(value, torch.Tensor):
            return None
        with torch._C.DisableTorchFunction(), torch.no_grad():
            flat = _local(value).detach().cpu().contiguous().reshape(-1)
            data = flat.view(torch.uint8).numpy()
        return data, value.dtype, tuple(_local(value).shape), str(value.device)

    def decode(self, encoded: Any) -> Any:
        """Return the tensor that `encode` has encoded."""
        data, dtype, shape, device = encoded
        flat = self.torch.from_numpy(data.copy())
        return flat.view(dtype).reshape(shape).to(device)


def _weights(torch: Any, held: Any, averaged: bool) -> Iterator[Slot]:
    """Return weights and buffers, or, if `averaged`, averages of the weights."""
    held.name_others()
    names = [name for name, _, _ in held.weights()]
    averages = tuple(name[: -len(_COUNTER)] for name in names if name.endswith("." + _COUNTER))
    named = ((name, tensor) for name, tensor, _ in held.weights())
    return _tensors(torch, (pair for pair in named if pair[0].startswith(averages) is averaged))


def _tensors(torch: Any, named: Iterable[Tuple[str, Any]]) -> Iterator[Slot]:
    for name, tensor in named:
        yield name, partial(_itself, tensor), partial(_copy, torch, tensor)


class _States:
    """The states of optimizers, read and restored."""

    rung = OPTIMIZER

    def __init__(self, torch: Any, held: Any) -> None:
        self.torch = torch
        self.held = held

    def take(self) -> Dict[str, Any]:
        """Return the optimizer state of each weight that has one, by its place.

        Before the first forward pass of a resumed run, not all weights have their final names.
        """
        return {place: (name, dict(state)) for place, name, _, _, state in self._each() if state}

    def put(self, states: Dict[str, Any]) -> List[str]:
        """Restore the kept optimizer states, and remove states that were not there before."""
        changed = []
        for place, own_name, optimizer, tensor, state in self._each():
            name, wanted = states.get(place, (own_name, {}))
            if _same(self.torch, state, wanted):
                continue
            optimizer.state.pop(tensor, None)
            if wanted:
                optimizer.state[tensor] = wanted
            changed.append(name)
        return changed

    def _each(self) -> Iterator[Tuple[str, str, Any, Any, Any]]:
        for index, optimizer in self.held.optimizers():
            weights = self.held.names.optimizer_weights(optimizer)
            for number, (name, tensor) in enumerate(weights):
                state = optimizer.state.get(tensor, {})
                yield "%d:%d" % (index, number), name, optimizer, tensor, state


def _schedules(torch: Any, held: Any) -> Iterator[Slot]:
    """Return schedulers, loss scales, hyper-parameters of optimizers and averaged weights.

    Schedulers come first, because restoring one may set the learning rate of an optimizer.
    """
    for name, schedule in held.live_schedules():
        yield name, schedule.state_dict, schedule.load_state_dict
    for index, optimizer in held.optimizers():
        groups = optimizer.param_groups
        yield "optimizer %d" % index, partial(_numbers, groups), partial(_update, groups)
    yield from _weights(torch, held, True)


def _generators(torch: Any) -> Iterator[Slot]:
    """Yield the default generators of the host and of each device.

    Methods of the generator objects are used, because the functions of the modules are hooked.
    """
    yield _generator("torch", torch.default_generator)
    for backend in ("cuda", "xpu"):
        module: Any = getattr(torch, backend, None)
        generators = getattr(module, "default_generators", ())
        if generators and module.is_initialized():
            for number, generator in enumerate(generators):
                yield _generator("%s:%d" % (backend, number), generator)


def _generator(name: str, generator: Any) -> Slot:
    return name, generator.get_state, lambda state: generator.set_state(state.cpu())


def _copies(own: Any) -> Iterator[Tuple[str, Any]]:
    """Return the copies of weights that objects of the script hold."""
    own.find()
    yield from own.copies()


def _counts(own: Any) -> Iterator[Tuple[str, Any, str]]:
    """Yield the counters, such as a step count, of the objects that hold copies of weights."""
    own.find()
    yield from own.counts()


def _attributes(torch: Any, held: Any) -> Iterator[Tuple[str, Any]]:
    """Yield tensors that modules keep as plain attributes, up to a total size in bytes."""
    size = 0
    for name, tensor in attributes(torch, held.names):
        size += tensor.numel() * tensor.element_size()
        if size > _MOST_BESIDE:
            return
        yield name, tensor


def _numbers_of(each: Iterable[Tuple[str, Any, str]]) -> Iterator[Slot]:
    """Yield numbers that modules and objects of the script count with.

    They are set past `__setattr__`, which may run code of the script.
    """
    for name, thing, attribute in each:
        own = vars(thing)
        yield name, partial(own.get, attribute), partial(own.__setitem__, attribute)


def _numbers(groups: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    return [{name: value for name, value in group.items() if name != "params"} for group in groups]


def _update(groups: List[Dict[str, Any]], values: List[Dict[str, Any]]) -> None:
    for group, wanted in zip(groups, values):
        group.update(wanted)


def _local(tensor: Any) -> Any:
    """Return this rank's shard of a DTensor; a plain tensor as it is."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def _itself(tensor: Any) -> Any:
    return _local(tensor.detach())


def _copy(torch: Any, tensor: Any, value: Any) -> None:
    with torch.no_grad():
        _itself(tensor).copy_(value)


def _same(torch: Any, first: Any, second: Any) -> bool:
    """Return whether two values are the same in every bit."""
    if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
        return _same_tensors(torch, _itself(first), _local(second))
    if isinstance(first, dict) and isinstance(second, dict):
        keys = first.keys() | second.keys()
        return all(k in first and k in second and _same(torch, first[k], second[k]) for k in keys)
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(
            map(lambda a, b: _same(torch, a, b), first, second)
        )
    return type(first) is type(second) and repr(first) == repr(second)


def _same_tensors(torch: Any, mine: Any, theirs: Any) -> bool:
    if (mine.dtype, mine.shape) != (theirs.dtype, theirs.shape):
        return False
    first, second = (part.cpu().contiguous().reshape(-1) for part in (mine, theirs))
    return bool(torch.equal(first.view(torch.uint8), second.view(torch.uint8)))
