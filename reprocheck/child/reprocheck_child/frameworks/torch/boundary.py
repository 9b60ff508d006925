"""Records the state of a training with PyTorch where it was stopped or goes on.

That is weights and buffers, the state of each optimizer, schedulers and scalers.
"""

import weakref
from inspect import getmembers, isclass
from typing import Any, Dict, Iterator, List, Tuple

from ...deep_levels import scope
from ...deep_levels.leaves import plain
from ...recorder.hooking import guarded
from .attributes import attributes, numbers
from .identity import ByIdentity
from .names import LIMIT
from .state_dicts import StateDicts
from .weight_copies import OwnWeights


class Held:
    """The writer of `held` facts, one for each weight, optimizer state and schedule."""

    def __init__(self, torch: Any, deep: Any, adapter: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.prints = deep.fingerprints
        self.names = adapter.deep.names
        self.adapter = adapter
        self.aside = torch._C.DisableTorchFunction
        self.schedules: weakref.WeakKeyDictionary[Any, None] = weakref.WeakKeyDictionary()
        """Schedulers and scalers, in the order in which they were made."""
        self.copies = ByIdentity(LIMIT)
        """Modules that were copied, such as for an average of weights: none of it is registered."""

    def watch(self) -> None:
        """Set hooks on new schedulers, and on functions that restore generator states."""
        torch, boundary = self.torch, self.deep.boundary
        boundary.held.append(self.write)
        own = OwnWeights(torch, self.deep, self)
        boundary.held.append(own.write)
        boundary.held_next.append(own.write_next)
        boundary.begins.append(self.name_copies)
        # what `copy.deepcopy` calls of a copy
        about = "a module was copied"
        self.deep.hooks.around(torch.nn.Module, "__setstate__", about, after=self.copied)
        if boundary.values is not None:
            from . import state_io

            state_io.install(torch, self.deep, self, own)
        boundary.watch("torch", "set_rng_state", torch, torch.random)
        for backend in ("cuda", "xpu"):
            module = getattr(torch, backend, None)
            for name in ("set_rng_state", "set_rng_state_all"):
                boundary.watch(backend, name, module, getattr(module, "random", None))
        for kind in self.kinds_of_schedules():
            if "__init__" in vars(kind):
                self.deep.hooks.around(kind, "__init__", "a schedule was made", after=self.made)
        StateDicts(torch, self.deep, self).watch()

    def kinds_of_schedules(self) -> Iterator[Any]:
        """Yield the classes of PyTorch's schedulers, and the base class of its loss scalers.

        Each scheduler class is hooked, because not all of them call the constructor of their base.
        """
        module = self.torch.optim.lr_scheduler
        for _, kind in getmembers(module, isclass):
            if issubclass(kind, module.LRScheduler):
                yield kind
        # the base of all scalers, wherever this version defines it
        yield self.torch.cuda.amp.GradScaler.__mro__[-2]

    def made(self, returned: Any, schedule: Any, *args: Any, **kwargs: Any) -> None:
        """Register a scheduler or a scaler when its (or its base class's) constructor returns."""
        self.schedules.setdefault(schedule)

    def copied(self, _: None, module: Any, *args: Any) -> None:
        """Register a module that was copied, or read from a file, as a copy."""
        self.copies.keep(module, None)

    def write(self) -> None:
        """Write weights, attributes of modules, optimizer states and schedules as `held` facts."""
        with self.aside(), self.torch.no_grad():
            self.name_others()
            for name, tensor, buffer in self.weights():
                self._write(name, [["", self.prints.later(tensor, sketched=False)]], b=buffer)
            for name, tensor in attributes(self.torch, self.names):
                self._write(name, [["", self.prints.later(tensor, sketched=False)]], k="attribute")
            for name, module, attribute in numbers(self.names):
                number = plain(vars(module)[attribute])
                self._write(name, [["", number]], k="attribute")
            for index, optimizer in self.optimizers():
                for name, tensor in self.names.optimizer_weights(optimizer):
                    for key, value in list(optimizer.state.get(tensor, {}).items()):
                        self._write(
                            "%s:%s" % (name, key), self.prints.leaves(value, False), o=index
                        )
            for place, schedule in self.live_schedules():
                self._write(place, self.prints.leaves(_numbers(schedule)), k="schedule")

    def live_schedules(self) -> Iterator[Tuple[str, Any]]:
        """Return schedulers and scalers that are still referenced, by their names."""
        for number, schedule in enumerate(list(self.schedules)):
            yield "%s[%d]" % (type(schedule).__name__, number), schedule

    def _write(self, place: str, leaves: List[Any], **keys: Any) -> None:
        self.deep.seen("held", place, call=False, out=leaves, **keys)

    @guarded("naming modules that were not called")
    def name_others(self) -> None:
        """Name modules that the training holds and never calls, such as averages of the weights.

        Layers of Keras are left out: they get the names that Keras gives when they are called.
        """
        for birth in list(self.names.births.values()):
            module = birth.module()
            top = module and self.names.top(module)
            if top is None or self.names.knows(top) or self.deep.named(top, ""):
                continue
            self.names.adopt(top, self.deep.frame(2))
            list(self.names.new_weights(top))
        for copy in self._copied():
            list(self.names.new_weights(copy))

    @guarded("naming copies of modules")
    def name_copies(self) -> None:
        """Name copies of modules before the first step.

        Otherwise a copy could get another name in run 2, where the script may call it from another
        line.
        """
        changed, frame = self.names.changed, self.deep.frame(2)
        for copy in self._copied():
            self.names.adopt(copy, frame, _attribute(frame, copy))
        self.names.changed = changed

    def _copied(self) -> List[Any]:
        """Return the copied modules that are part of no other module, in the order of copying."""
        copies = [module for module, _ in self.copies.living()]
        parts = {id(part) for module in copies for part in module._modules.values()}
        outermost = (module for module in copies if id(module) not in parts)
        return [module for module in outermost if self.names.top(module) is module]

    def weights(self) -> Iterator[Tuple[str, Any, bool]]:
        """Yield (name, tensor, is a buffer) of each named weight that still exists.

        Non-persistent buffers are left out, because the module computes them again.
        """
        for identity, (owner, attribute, name) in list(self.names.weights.items()):
            module = owner()
            if attribute in getattr(module, "_non_persistent_buffers_set", ()):
                continue
            for tensors, buffer in (("_parameters", False), ("_buffers", True)):
                tensor = getattr(module, tensors, {}).get(attribute)
                if id(tensor) == identity:
                    yield name, tensor, buffer

    def optimizers(self) -> Iterator[Tuple[int, Any]]:
        """Yield (index, optimizer) of the optimizers that still exist, by index."""
        optimizers_by_index: Dict[int, Any] = {}
        for index, reference in list(self.adapter.index.values()):
            optimizer = reference()
            if optimizer is not None:
                optimizers_by_index[index] = optimizer
        return iter(sorted(optimizers_by_index.items()))


def _attribute(frame: Any, module: Any) -> str:
    """Return `ema.shadow` if an object `ema` of the script holds a module; "" if unknown."""
    for name, value_of_variable in scope.variables(frame):
        for attribute, value in list(getattr(value_of_variable, "__dict__", {}).items()):
            if value is module:
                return "%s.%s" % (name, attribute)
    return ""


def _numbers(schedule: Any) -> Any:
    """Return the numbers that decide the next value of a scheduler or loss scaler.

    Attributes of a scheduler that begin with `_` are left out, because they are only notes.
    """
    if hasattr(schedule, "get_scale"):
        return schedule.state_dict()
    attributes = vars(schedule).items()
    return {name: value for name, value in attributes if name[0] != "_" and name != "optimizer"}
