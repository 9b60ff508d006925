"""What a training with PyTorch holds, as values: taken by the continued run, and put back into a
resumed one.
"""

from functools import partial
from typing import Any, Callable, Dict, Iterator, List, Tuple

from ...holders import GENERATORS, OPTIMIZER, SCHEDULES, WEIGHTS
from .attributes import attributes, numbers

_COUNTER = "n_averaged"
"""The buffer that `AveragedModel` counts in: what lies beside it are averages of weights."""


_MOST_BESIDE = 1 << 26
"""Bytes of tensors that modules keep beside their weights, such as caches."""


def install(torch: Any, deep: Any, held: Any, own: Any) -> None:
    """Take and put back what `held` (see `boundary`) and `own` (see `own_weights`) know of."""
    values = deep.boundary.values
    tensors = _Tensors(torch)
    values.codec.add("torch", tensors.encode, tensors.decode)
    values.holders += [
        _Weights(torch, held),
        _States(torch, held),
        _Schedules(torch, held),
        _Generators(torch),
        _TensorsBeside(torch, values, partial(_copies, own)),
        _TensorsBeside(torch, values, partial(_attributes, torch, held)),
        _NumbersBeside(values, SCHEDULES, partial(_counts, own)),
        _NumbersBeside(values, WEIGHTS, partial(numbers, held.names)),
    ]


class _Tensors:
    """Tensors as bytes."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def encode(self, value: Any) -> Any:
        """What stands for a tensor: its bytes, type, shape and device."""
        torch = self.torch
        if not isinstance(value, torch.Tensor):
            return None
        with torch._C.DisableTorchFunction(), torch.no_grad():
            flat = _local(value).detach().cpu().contiguous().reshape(-1)
            data = flat.view(torch.uint8).numpy()
        return data, value.dtype, tuple(_local(value).shape), str(value.device)

    def decode(self, held: Any) -> Any:
        """The tensor again."""
        data, dtype, shape, device = held
        flat = self.torch.from_numpy(data.copy())
        return flat.view(dtype).reshape(shape).to(device)


class _Weights:
    """Weights and buffers, but for averages of them."""

    rung = WEIGHTS

    def __init__(self, torch: Any, held: Any) -> None:
        self.torch = torch
        self.held = held

    def take(self) -> Dict[str, Any]:
        """By name."""
        self.held.name_others()
        return dict(self.mine())

    def put(self, kept: Dict[str, Any]) -> List[str]:
        """In place."""
        self.held.name_others()
        changed = []
        for name, tensor in self.mine():
            if name in kept and _replaced(self.torch, tensor, kept[name]):
                changed.append(name)
        return changed

    def mine(self) -> Iterator[Tuple[str, Any]]:
        """Those of this rung."""
        averaged = _averages(self.held)
        for name, tensor, _ in self.held.weights():
            if not name.startswith(averaged):
                yield name, tensor


class _States:
    """The states of optimizers."""

    rung = OPTIMIZER

    def __init__(self, torch: Any, held: Any) -> None:
        self.torch = torch
        self.held = held

    def take(self) -> Dict[str, Any]:
        """Of each weight that has one, by its place: before the first forward pass of a resumed run
        not all of them have the names that they get.
        """
        return {place: (name, dict(state)) for place, name, _, _, state in self._each() if state}

    def put(self, kept: Dict[str, Any]) -> List[str]:
        """What was not there before is taken away, too."""
        changed = []
        for place, own_name, optimizer, tensor, state in self._each():
            name, wanted = kept.get(place, (own_name, {}))
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


class _Schedules:
    """Hyper-parameters of optimizers, schedulers, loss scales, and averages of weights."""

    rung = SCHEDULES

    def __init__(self, torch: Any, held: Any) -> None:
        self.torch = torch
        self.held = held

    def take(self) -> Dict[str, Any]:
        """By name."""
        found: Dict[str, Any] = {}
        for index, optimizer in self.held.optimizers():
            found["optimizer %d" % index] = [_numbers(group) for group in optimizer.param_groups]
        for name, schedule in self.held.live_schedules():
            found[name] = schedule.state_dict()
        found.update(self._averages())
        return found

    def put(self, kept: Dict[str, Any]) -> List[str]:
        """Schedules first: theirs may be the rates of an optimizer."""
        changed = []
        for name, schedule in self.held.live_schedules():
            if name in kept and not _same(self.torch, schedule.state_dict(), kept[name]):
                schedule.load_state_dict(kept[name])
                changed.append(name)
        for index, optimizer in self.held.optimizers():
            name = "optimizer %d" % index
            for group, wanted in zip(optimizer.param_groups, kept.get(name, [])):
                if not _same(self.torch, _numbers(group), wanted):
                    group.update(wanted)
                    changed.append(name)
        for name, tensor in self._averages():
            if name in kept and _replaced(self.torch, tensor, kept[name]):
                changed.append(name)
        return changed

    def _averages(self) -> Iterator[Tuple[str, Any]]:
        self.held.name_others()
        averaged = _averages(self.held)
        for name, tensor, _ in self.held.weights():
            if name.startswith(averaged):
                yield name, tensor


class _Generators:
    """The default generators of the host and of each device."""

    rung = GENERATORS

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def take(self) -> Dict[str, Any]:
        """Their states."""
        return {name: generator.get_state() for name, generator in self._each()}

    def put(self, kept: Dict[str, Any]) -> List[str]:
        """By the generators themselves: the functions of the modules are watched."""
        changed = []
        for name, generator in self._each():
            if name in kept and not _same(self.torch, generator.get_state(), kept[name]):
                generator.set_state(kept[name].cpu())
                changed.append(name)
        return changed

    def _each(self) -> Iterator[Tuple[str, Any]]:
        yield "torch", self.torch.default_generator
        for backend in ("cuda", "xpu"):
            module: Any = getattr(self.torch, backend, None)
            generators = getattr(module, "default_generators", ())
            if generators and module.is_initialized():
                for number, generator in enumerate(generators):
                    yield "%s:%d" % (backend, number), generator


class _TensorsBeside:
    """Tensors that no `state_dict` has; of these, those are put back whose names are asked for."""

    rung = WEIGHTS

    def __init__(
        self, torch: Any, values: Any, each: Callable[[], Iterator[Tuple[str, Any]]]
    ) -> None:
        self.torch = torch
        self.values = values
        self.each = each

    def take(self) -> Dict[str, Any]:
        """By name."""
        return dict(self.each())

    def put(self, kept: Dict[str, Any]) -> List[str]:
        """In place."""
        wanted = self.values.beside & kept.keys()
        return [
            name
            for name, tensor in self.each()
            if name in wanted and _replaced(self.torch, tensor, kept[name])
        ]


def _copies(own: Any) -> Iterator[Tuple[str, Any]]:
    """Copies of weights that objects of the script hold."""
    own.find()
    yield from own.copies()


def _counts(own: Any) -> Iterator[Tuple[str, Any, str]]:
    """What these objects count."""
    own.find()
    yield from own.counts()


def _attributes(torch: Any, held: Any) -> Iterator[Tuple[str, Any]]:
    """What modules keep beside their weights, as far as there is room."""
    size = 0
    for name, tensor in attributes(torch, held.names):
        size += tensor.numel() * tensor.element_size()
        if size > _MOST_BESIDE:
            return
        yield name, tensor


class _NumbersBeside:
    """Numbers that modules and objects of the script count on, as `_TensorsBeside`."""

    def __init__(
        self, values: Any, rung: str, each: Callable[[], Iterator[Tuple[str, Any, str]]]
    ) -> None:
        self.values = values
        self.rung = rung
        self.each = each

    def take(self) -> Dict[str, Any]:
        """By name."""
        return {name: vars(thing)[attribute] for name, thing, attribute in self.each()}

    def put(self, kept: Dict[str, Any]) -> List[str]:
        """Past `__setattr__`, which may be the script's."""
        changed = []
        for name, thing, attribute in list(self.each()):
            now = vars(thing)[attribute]
            if name in self.values.beside and name in kept and now != kept[name]:
                vars(thing)[attribute] = kept[name]
                changed.append(name)
        return changed


def _averages(held: Any) -> Tuple[str, ...]:
    """How the names of averages of weights begin."""
    names = [name for name, _, _ in held.weights()]
    return tuple(name[: -len(_COUNTER)] for name in names if name.endswith("." + _COUNTER))


def _numbers(group: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in group.items() if name != "params"}


def _local(tensor: Any) -> Any:
    """The part of a tensor that this rank has."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def _replaced(torch: Any, tensor: Any, kept: Any) -> bool:
    """Gives a tensor these values; returns whether it had others."""
    local = _local(tensor.detach())
    if _same(torch, local, kept):
        return False
    with torch.no_grad():
        local.copy_(kept)
    return True


def _same(torch: Any, one: Any, other: Any) -> bool:
    """Whether two values are the same in every bit."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return _same_tensors(torch, _local(one.detach()), _local(other))
    if isinstance(one, dict) and isinstance(other, dict):
        keys = one.keys() | other.keys()
        return all(k in one and k in other and _same(torch, one[k], other[k]) for k in keys)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(lambda a, b: _same(torch, a, b), one, other))
    return type(one) is type(other) and repr(one) == repr(other)


def _same_tensors(torch: Any, one: Any, other: Any) -> bool:
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    first, second = (part.cpu().contiguous().reshape(-1) for part in (one, other))
    return bool(torch.equal(first.view(torch.uint8), second.view(torch.uint8)))
