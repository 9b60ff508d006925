"""Finds which part of a training a saved or loaded value is, such as an optimizer's state.

Parts are recognised by their contents, because scripts copy, rename and merge state dicts.
"""

from typing import Any, Iterator, List, Optional, Tuple

_OF_LOADER = "_snapshot", "_num_yielded", "_index_sampler_state", "_sampler_iter_state"
"""Keys of the state dict of a `StatefulDataLoader` of torchdata."""
Kind = Optional[Tuple[str, str]]


class StateDicts:
    """The parts that `held` knows of (see `boundary`)."""

    def __init__(self, torch: Any, deep: Any, held: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.held = held
        self.archives = deep.boundary.archives

    def watch(self) -> None:
        """Set hooks on the functions that load a state into optimizers, schedulers and scalers."""
        self.archives.parts.append(self.parts)
        self.archives.kinds.append(self.kind)
        for owner in (self.torch.optim.Optimizer, *self.held.kinds_of_schedules()):
            if "load_state_dict" in vars(owner):
                about = "a state was loaded"
                self.deep.hooks.around(owner, "load_state_dict", about, after=self.loaded)

    def loaded(self, _: Any, part: Any, state: Any = None, *args: Any, **kwargs: Any) -> None:
        """Record that an optimizer, scheduler or scaler has loaded a state."""
        names = {id(thing): name for name, thing in self.parts()}
        self.archives.loaded("part", names.get(id(part), ""), state)

    def parts(self) -> Iterator[Tuple[str, Any]]:
        """Return optimizers, schedulers, scalers and outermost modules by their names."""
        names = self.held.names
        for index, optimizer in self.held.optimizers():
            yield "optimizer %d" % index, optimizer
        yield from self.held.live_schedules()
        for module, path in names.modules.living():
            if names.top(module) is module:
                yield "module %s" % path, module

    def kind(self, value: Any) -> Kind:
        """Return (kind, name of the part) of a saved value; None if it is of no kind."""
        torch = self.torch
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, torch.nn.Module):
            return "module", self._weights(value.state_dict())
        if isinstance(value, torch.optim.Optimizer):
            return "optimizer", self._optimizer(value.state_dict())
        if not isinstance(value, dict) or not value:
            return None
        if value.keys() >= {"state", "param_groups"}:
            return "optimizer", self._optimizer(value)
        if not value.keys().isdisjoint(_OF_LOADER):
            return "loader", ""
        for place, schedule in self.held.live_schedules():
            if _is_of(schedule, value):
                return "schedule", place
        tensors = [tensor for tensor in value.values() if isinstance(tensor, torch.Tensor)]
        if len(tensors) == len(value) > 0 and tensors[0].dtype != torch.uint8:
            return "weights", self._weights(value)
        return None

    def _tensor(self, value: Any) -> Tuple[str, str]:
        torch = self.torch
        if value.dtype != torch.uint8 or value.dim() != 1 or not 16 <= value.numel() <= 6000:
            return "weights", self._weights({"": value})
        own = [
            named
            for named in self.archives.generators().items()
            if isinstance(named[1], torch.Generator)
        ]
        for name, generator in (("torch", torch.default_generator), *own):
            state = generator.get_state()
            if state.shape == value.shape and torch.equal(state, value.cpu()):
                return "generator", name
        return "generator", "torch" if value.numel() > 16 else "cuda"

    def _optimizer(self, state: Any) -> str:
        """Return the name of the optimizer whose state a value is.

        It is the optimizer that holds the same values, else the first that has as many weights.
        """
        fitting = []
        for index, optimizer in self.held.optimizers():
            own = [id(weight_state) for weight_state in optimizer.state.values()]
            if not set(own).isdisjoint(map(id, state["state"].values())):
                return "optimizer %d" % index
            if _weights_of(optimizer.param_groups) == _weights_of(state["param_groups"]):
                fitting.append("optimizer %d" % index)
        return fitting[0] if fitting else ""

    def _weights(self, tensors: Any) -> str:
        """Return the names of the weights whose values a saved dict of tensors holds.

        "" if no named weight of the training matches, such as for an average of the weights.
        """
        known = {tensor.data_ptr(): name for name, tensor, _ in self.held.weights()}
        names = [known.get(saved.data_ptr(), "") for saved in tensors.values()]
        if not any(names):
            names = list(self._copies(tensors))
        return ", ".join(filter(None, names))

    def _copies(self, tensors: Any) -> Iterator[str]:
        """Yield the names of the weights that equal saved tensors of the same name.

        Saved tensors may lie on another device than the weights.
        """
        for name, weight, _ in self.held.weights():
            given = next((tensor for key, tensor in tensors.items() if _ends(name, key)), None)
            if given is None or given.shape != weight.shape:
                continue
            if self.torch.equal(given.to(weight.device, weight.dtype), weight):
                yield name


def _is_of(schedule: Any, state: Any) -> bool:
    """Return whether a state dict is that of a given scheduler or scaler."""
    try:
        own = schedule.state_dict()
    except Exception:  # a class of the script's
        return False
    return bool(own) and own.keys() == state.keys() and repr(own) == repr(state)


def _weights_of(groups: Any) -> List[int]:
    return [len(group["params"]) for group in groups]


def _ends(name: str, key: str) -> bool:
    """Return whether `module.fc.weight` (a key) ends with `fc.weight` (a name), or vice versa."""
    mine, theirs = "." + name, "." + key
    return bool(key) and (mine.endswith(theirs) or theirs.endswith(mine))
