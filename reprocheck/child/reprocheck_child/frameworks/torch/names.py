"""Names modules and weights.

A name is the path from the module that the script holds, the variable of a bare tensor, or the line
that made it.
"""

import weakref
from typing import Any, Container, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ...deep_levels import scope
from ...recorder.hooking import guarded
from .fills import Fills
from .identity import ByIdentity

LIMIT = 200_000
"""Weights and modules that are named; what lies beyond stays unnamed."""
_FRAMES = 6
"""Frames outwards that are looked at for the list that holds a module."""


class Weight(NamedTuple):
    """A parameter, a buffer or a bare tensor (one that belongs to no module) that was named."""

    name: str
    tensor: Any
    buffer: bool
    made: Dict[str, Any]
    """Where it was made: its line (`l`), the states of the generators then (`g`), how many seeds
    had been set (`sn`); of one that was written to afterwards these are of the last write, with its
    line (`wl`) and its number (`wn`).
    """


class _Birth(NamedTuple):
    module: Any
    tensor: int
    made: Dict[str, Any]


def _gone() -> None:
    """Return None, as a weak reference to a deleted object does."""
    return


_UNBORN = _Birth(_gone, 0, {})
_UNNAMED = (_gone, "", "")


class Names:
    """The names of modules and weights by `id`, without a reference to any tensor.

    Even a weak reference to a tensor would prevent `torch.utils.swap_tensors`.
    """

    def __init__(self, torch: Any, deep: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.module = torch.nn.Module
        self.modules = ByIdentity(LIMIT)  # a module -> its path
        self.weights: Dict[int, Tuple[Any, str, str]] = {}
        """Id of a tensor -> a reference to the module or optimizer that holds it, the attribute of
        the module, the name.
        """
        # name -> as in `weights`: who holds the tensor, and as which attribute
        self.taken: Dict[str, Tuple[Any, str]] = {}
        # (id of a module, attribute) -> where it was registered
        self.births: Dict[Tuple[int, str], _Birth] = {}
        # a module -> a reference to the module that it was attached to first
        self.holders = ByIdentity(LIMIT)
        self.fills = Fills(torch, deep)
        # whether weights or modules were registered since the roots were looked at
        self.changed = False
        self.uninitialised = False
        self._prefixes: Dict[str, Any] = {}
        self._plain = False  # whether a root has taken the names without a prefix
        self._state: Tuple[bytes, Dict[str, str]] = (b"", {})

    def watch(self) -> None:
        """Register to be called for each new parameter, buffer and module."""
        # They see what `__setattr__`, `register_parameter` and `add_module` do alike, and are there
        # since 2.0. Nothing tells of what is deleted: so a module is asked again, each time,
        # whether it still holds another.
        from torch.nn.modules import module as registry

        hold = self.deep.hooks.hold
        hold(registry.register_module_parameter_registration_hook(self._registered))
        hold(registry.register_module_buffer_registration_hook(self._registered))
        hold(registry.register_module_module_registration_hook(self._attached))
        self.fills.watch()

    def path(self, module: Any, outer: Optional[Tuple[Any, str]]) -> str:
        """Return the path of a called module; `outer` is (module, path) around the call."""
        known = self.modules.get(module)
        if known is not None:
            return str(known)
        if outer is None:
            return type(module).__name__
        caller, prefix = outer
        children = caller._modules.items()
        own = next((name for name, child in children if child is module), type(module).__name__)
        path = _join(prefix, self.deep.named(module, "") or own)
        self.modules.keep(module, path)
        return path

    def knows(self, module: Any) -> bool:
        """Return whether a module has a path."""
        return self.modules.get(module) is not None

    def top(self, module: Any) -> Any:
        """Return the outermost module that holds a module.

        Containers (`ModuleDict`) and models need not be called themselves.
        """
        for _ in range(64):
            holder = self.holders.get(module, _gone)()
            # it may have been taken out of that again
            if holder is None or not any(child is module for child in holder._modules.values()):
                break
            module = holder
        return module

    def adopt(self, root: Any, frame: Any, given: str = "") -> None:
        """Name the modules of `root` when one is called first, or when `root` got new modules.

        `given` is the name of the root if no variable of the frame holds it.
        """
        self.changed = False
        prefix = self.modules.get(root)
        if prefix is None:
            prefix = self._prefix(root, frame, given)
        for path, module in self.module.named_modules(root):
            if self.knows(module):
                continue
            # one that the script has named itself gets that name when it is called
            if module is root or not self.deep.named(module, ""):
                self.modules.keep(module, _join(prefix, path))

    def _prefix(self, root: Any, frame: Any, given: str) -> str:
        """Return the name by which the paths of a root's modules begin.

        The first root with weights has "", unless it is one layer of a list: `layers[0]`.
        """
        name = scope.variable(frame, root)
        vague = not root._modules or name in ("", "self", *self._prefixes)
        element = self._element(frame, root)
        # asked last: to read the instructions of a long function takes longer than all the rest
        if element and (vague or name in scope.loop_variables(frame)):
            name = element
        if given and not name:
            return self._unique(given)
        if self._plain or "[" in name or not any(_weights(root, self.module)):
            return self._unique(name or type(root).__name__)
        self._plain = True
        return ""

    def _element(self, frame: Any, root: Any) -> str:
        """Return `layers[0]` for a root in a list or dict `layers` of several modules.

        The variables of the calling frames are searched, too.
        """
        for _ in range(_FRAMES):
            if frame is None:
                break
            # a list of a library's, as the arguments of a process, is no name of the user's
            if self.deep.is_own(frame):
                for name, value in scope.variables(frame):
                    place = scope.place(value, root, self.module)
                    if place:
                        return name + place
            frame = frame.f_back
        return ""

    def _unique(self, name: str) -> str:
        number, prefix = 0, name
        while prefix in self._prefixes:
            number += 1
            prefix = "%s[%d]" % (name, number)
        self._prefixes[prefix] = None
        return prefix

    def new_weights(self, root: Any) -> Iterator[Weight]:
        """Yield the parameters and buffers of a root that had no name yet.

        Lazy parameters without a shape are named once they are initialised.
        """
        self.uninitialised = False
        for module, attribute, tensor, buffer in _weights(root, self.module):
            if self.name(tensor):
                continue
            # of a lazy module: it gets its shape, and another class, in the first call
            if isinstance(tensor, self.torch.nn.parameter.UninitializedTensorMixin):
                self.uninitialised = True
                continue
            reference = weakref.ref(module)
            wanted = self.deep.named(module, attribute) or _join(self.path(module, None), attribute)
            name = self._name(tensor, reference, attribute, wanted)
            last_write = self.fills.of(tensor)
            birth = self.births.get((id(module), attribute), _UNBORN)
            if birth.module() is module:
                last_write = {**birth.made, **last_write}
            yield Weight(name, tensor, buffer, last_write)

    def name(self, tensor: Any) -> str:
        """Return the name of a weight; "" if it has none."""
        owner, _, name = self.weights.get(id(tensor), _UNNAMED)
        if owner() is None:
            return ""
        return name

    def parameter(self, identity: int) -> Any:
        """Return the named parameter with that `id`; None if it no longer exists."""
        # The module has it: a weak reference to a tensor would forbid to swap its contents
        # (`torch.utils.swap_tensors`).
        owner, attribute, _ = self.weights.get(identity, _UNNAMED)
        # not as the attribute of the module: that may be a property of the script's
        parameters = getattr(owner(), "_parameters", {})
        if attribute not in parameters:
            return None
        tensor = parameters[attribute]  # a scripted module has no dict with `get`
        return tensor if id(tensor) == identity else None

    def frozen(self, but: Container[int]) -> List[Tuple[str, Any]]:
        """Return the same as `parameters`, of those that need no gradient."""
        return [(name, weight) for name, weight in self.parameters(but) if not weight.requires_grad]

    def parameters(self, but: Container[int] = ()) -> List[Tuple[str, Any]]:
        """Return (name, parameter) of all named parameters that still exist.

        but  `id` of those that are left out
        """
        named: List[Tuple[str, Any]] = []
        for identity, (owner, attribute, name) in list(self.weights.items()):
            if identity in but:
                continue
            # as in `parameter`
            parameters = getattr(owner(), "_parameters", {})
            if attribute in parameters and id(parameters[attribute]) == identity:
                named.append((name, parameters[attribute]))
        return named

    def roots(self, optimizer: Any, names: Dict[int, str]) -> List[Tuple[Any, str]]:
        """Return the outermost modules that hold an optimizer's unnamed tensors, with their names.

        The name is taken from `names`, the names of tensors where the optimizer was built:
        `net.head` of `net.head.weight`.
        """
        wanted = {id(tensor) for tensor in _tensors(optimizer) if not self.name(tensor)}
        if not wanted:
            return []
        outermost: Dict[int, Any] = {}
        for (_, attribute), birth in list(self.births.items()):
            module = birth.module()
            if module is not None and id(module._parameters.get(attribute)) in wanted:
                top = self.top(module)
                outermost[id(top)] = top
        return [(root, self._held(root, names)) for root in outermost.values()]

    def _held(self, root: Any, names: Dict[int, str]) -> str:
        for path, tensor in self.module.named_parameters(root):
            name = names.get(id(tensor), "")
            if name.endswith("." + path):
                return name[: -len(path) - 1]
        return ""

    def optimizer_weights(self, optimizer: Any) -> List[Tuple[str, Any]]:
        """Return (name, tensor) of the tensors of an optimizer, in its order."""
        named: List[Tuple[str, Any]] = []
        known = self.weights
        for number, group in enumerate(optimizer.param_groups):
            for index, tensor in enumerate(group["params"]):
                owner, _, name = known.get(id(tensor), _UNNAMED)
                if not name or owner() is None:
                    name = "param_groups[%d].params[%d]" % (number, index)
                named.append((name, tensor))
        return named

    def optimized(self, optimizer: Any, frame: Any) -> Dict[int, str]:
        """Return names for the tensors of an optimizer: id of the tensor -> name.

        The names are those of the variables in the frame that built the optimizer.
        """
        wanted = set(map(id, _tensors(optimizer)))
        names: Dict[int, str] = {}
        for name, value in scope.variables(frame):
            for path, tensor in self._inside(name, value):
                if id(tensor) in wanted:
                    names.setdefault(id(tensor), path)
            if len(names) == len(wanted):
                break
        return names

    def name_bare(self, tensor: Any, owner: Any, name: str) -> str:
        """Name a tensor that belongs to no module, as long as `owner` lives; return the name.

        A number is added if another tensor has the name.
        """
        return self._name(tensor, weakref.ref(owner), "", name)

    def _name(self, tensor: Any, owner: Any, attribute: str, name: str) -> str:
        """Store the name of a tensor; a number is added if another tensor has that name."""
        number, free = 1, name
        while free in self.taken:
            holder, place = self.taken[free]
            if holder() is None:
                break  # its tensor is gone
            if attribute and place == attribute and holder() is owner():
                break  # its tensor was replaced by this one
            number += 1
            free = "%s (%d)" % (name, number)
        self.taken[free] = (owner, attribute)
        if len(self.weights) < LIMIT:
            self.weights[id(tensor)] = (owner, attribute, free)
        return free

    def _inside(self, name: str, value: Any, depth: int = 0) -> List[Tuple[str, Any]]:
        """Return (name, tensor) of the tensors in a variable, also inside containers."""
        if isinstance(value, self.torch.Tensor):
            return [(name, value)]
        if isinstance(value, self.module):
            return [
                (name + "." + path, parameter)
                for path, parameter in self.module.named_parameters(value)
            ]
        tensors: List[Tuple[str, Any]] = []
        if depth <= scope.DEPTH:
            for part, parameter in scope.parts(value) or scope.attributes(value):
                tensors += self._inside(name + part, parameter, depth + 1)
        return tensors

    @guarded("a weight was registered")
    def _registered(self, module: Any, attribute: str, tensor: Any) -> None:
        known = self.births.get((id(module), attribute), _UNBORN)
        same = known.module() is module and known.tensor == id(tensor)
        if same or tensor is None or len(self.births) >= LIMIT:
            return
        self.changed = True
        state = self.deep.generators["torch"]()
        if state != self._state[0]:
            self._state = (state, {"torch": self.deep.hash_bytes(state)})
        modules: Dict[str, Any] = {}
        line = self.deep.source(1)
        if line:
            modules["l"] = line
        modules.update(g=self._state[1], sn=self.deep.seeds)
        self.births[(id(module), attribute)] = _Birth(weakref.ref(module), id(tensor), modules)
        self.fills.registered(tensor)

    def _attached(self, module: Any, attribute: str, child: Any) -> None:
        self.changed = True
        with guarded("a module was attached"):
            if child is not None and self.holders.get(child, _gone)() is None:
                self.holders.keep(child, weakref.ref(module))


def _weights(root: Any, base: Any) -> Iterator[Tuple[Any, str, Any, bool]]:
    """Yield (module, attribute, tensor, whether it is a buffer) of each parameter and buffer.

    Each tensor comes once.
    """
    seen = {id(None)}  # an attribute that is registered may hold nothing
    for _, module in base.named_modules(root):
        # `named_parameters` and `named_buffers` say neither the module nor the attribute
        for tensors, buffer in ((module._parameters, False), (module._buffers, True)):
            for attribute, tensor in list(tensors.items()):
                if id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield module, attribute, tensor, buffer


def _tensors(optimizer: Any) -> List[Any]:
    """Return the tensors of an optimizer, in the order of its parameter groups."""
    return [tensor for group in optimizer.param_groups for tensor in group["params"]]


def _join(prefix: str, path: str) -> str:
    return ".".join(filter(None, (prefix, path)))
