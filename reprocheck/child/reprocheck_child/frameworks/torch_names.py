"""Names of modules and of weights: the path from the module that the script calls, the variable of a bare tensor, the line that made it."""

import weakref
from typing import Any, Dict, Iterable, Iterator, NamedTuple, Optional, Tuple

LIMIT = 200_000
"""Weights and modules that are named; what lies beyond stays unnamed."""


class Weight(NamedTuple):
    """A parameter, a buffer or a bare tensor that got its name."""

    name: str
    tensor: Any
    buffer: bool
    line: str
    generators: Dict[str, str]


class _Birth(NamedTuple):
    module: Any
    line: str
    generators: Dict[str, str]


class Names:
    """Remembers names by identity, without a reference to any tensor: a tensor with weak references cannot be swapped, for one."""

    def __init__(self, torch: Any, deep: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.module = torch.nn.Module
        self.modules: Dict[int, Tuple[Any, str]] = {}  # id of a module -> (a reference, its path)
        self.weights: Dict[int, Tuple[Any, str, str]] = {}
        """Id of a tensor -> a reference to the module or optimizer that holds it, the attribute of the module, the name."""
        self.taken: Dict[str, Tuple[Any, str]] = {}  # name -> as in `weights`: who holds the tensor, and as which attribute
        self.births: Dict[Tuple[int, str], _Birth] = {}  # (id of a module, attribute) -> where it was registered
        self.changed = False  # whether weights or modules were registered since the roots were looked at
        self.uninitialised = False
        self._prefixes: Dict[str, Any] = {}
        self._plain = False  # whether a root has taken the names without a prefix
        self._state: Tuple[bytes, Dict[str, str]] = (b"", {})

    def watch(self) -> None:
        """Be told of each parameter, buffer and module that is registered."""
        from torch.nn.modules import module as registry

        registry.register_module_parameter_registration_hook(self._registered)
        registry.register_module_buffer_registration_hook(self._registered)
        registry.register_module_module_registration_hook(self._attached)

    # ------------------------------------------------------------------------------------------------ modules

    def path(self, module: Any, outer: Optional[Tuple[Any, str]]) -> str:
        """The path of a module that is called, inside `outer` (module, path) if it is."""
        known = self.modules.get(id(module))
        if known is not None and known[0]() is module:
            return known[1]
        if outer is None:
            return type(module).__name__
        name = next((name for name, child in outer[0]._modules.items() if child is module), type(module).__name__)
        path = outer[1] + "." + name if outer[1] else name
        self._keep(module, path)
        return path

    def knows(self, module: Any) -> bool:
        """Whether a module has its path."""
        known = self.modules.get(id(module))
        return known is not None and known[0]() is module

    def adopt(self, root: Any, frame: Any) -> None:
        """Name the modules of a root that is called for the first time, or has got new ones."""
        self.changed = False
        if self.knows(root):
            prefix = self.modules[id(root)][1]
        elif not self._plain and next(_weights(root, self.module), None) is not None:
            self._plain, prefix = True, ""
        else:
            prefix = self._unique(variable(frame, root) or type(root).__name__, root)
        for path, module in self.module.named_modules(root):
            if not self.knows(module):
                self._keep(module, _join(prefix, path))

    def _unique(self, name: str, root: Any) -> str:
        number, prefix = 0, name
        while prefix in self._prefixes:
            number += 1
            prefix = "%s[%d]" % (name, number)
        self._prefixes[prefix] = None
        return prefix

    def _keep(self, module: Any, path: str) -> None:
        if len(self.modules) < LIMIT:
            identity = id(module)
            self.modules[identity] = (weakref.ref(module, lambda _: self.modules.pop(identity, None)), path)

    # ------------------------------------------------------------------------------------------------ weights

    def new_weights(self, root: Any) -> Iterator[Weight]:
        """The parameters and buffers of a root that had no name yet; those not initialised yet get theirs later."""
        self.uninitialised = False
        for module, attribute, tensor, buffer in _weights(root, self.module):
            if self.name(tensor):
                continue
            if isinstance(tensor, self.torch.nn.parameter.UninitializedTensorMixin):
                self.uninitialised = True
                continue
            reference = weakref.ref(module)
            name = self._name(tensor, reference, attribute, _join(self.path(module, None), attribute))
            birth = self.births.get((id(module), attribute))
            if birth is None or birth.module() is not module:
                birth = _Birth(reference, "", {})
            yield Weight(name, tensor, buffer, birth.line, birth.generators)

    def name(self, tensor: Any) -> str:
        """The name of a weight, "" where it has none."""
        known = self.weights.get(id(tensor))
        return known[2] if known is not None and known[0]() is not None else ""

    def parameter(self, identity: int) -> Any:
        """The named parameter with that id, None where it is gone."""
        module, attribute, _ = self.weights.get(identity, (None, "", ""))
        tensor = getattr(module(), "_parameters", {}).get(attribute) if module is not None else None
        return tensor if id(tensor) == identity else None

    def optimized(self, optimizer: Any, frame: Any) -> Dict[int, str]:
        """Names for the tensors of an optimizer, from the variables of the frame that built it: id of the tensor -> name."""
        wanted = {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
        found: Dict[int, str] = {}
        for name, value in variables(frame):
            for path, tensor in self._tensors(name, value):
                if id(tensor) in wanted:
                    found.setdefault(id(tensor), path)
            if len(found) == len(wanted):
                break
        return found

    def name_bare(self, tensor: Any, owner: Any, name: str) -> str:
        """Give a tensor that belongs to no module its name, as long as `owner` lives; returns it as it is unlike all others."""
        return self._name(tensor, weakref.ref(owner), "", name)

    def _name(self, tensor: Any, owner: Any, attribute: str, name: str) -> str:
        """Keep the name of a tensor, with a number behind it where another has it."""
        number, free = 1, name
        while free in self.taken:
            holder, place = self.taken[free]
            if holder() is None or (attribute and place == attribute and holder() is owner()):
                break  # its tensor is gone, or was replaced by this one
            number += 1
            free = "%s (%d)" % (name, number)
        self.taken[free] = (owner, attribute)
        if len(self.weights) < LIMIT:
            self.weights[id(tensor)] = (owner, attribute, free)
        return free

    def _tensors(self, name: str, value: Any) -> Iterable[Tuple[str, Any]]:
        if isinstance(value, self.torch.Tensor):
            return [(name, value)]
        if isinstance(value, (list, tuple)):
            return [("%s[%d]" % (name, index), one) for index, one in enumerate(value[:1000]) if isinstance(one, self.torch.Tensor)]
        if type(value) is dict:
            return [("%s[%r]" % (name, key), one) for key, one in list(value.items())[:1000] if isinstance(one, self.torch.Tensor)]
        if isinstance(value, self.module):
            return [(name + "." + path, one) for path, one in self.module.named_parameters(value)]
        return ()

    # ------------------------------------------------------------------------------------------------ births

    def _registered(self, module: Any, attribute: str, tensor: Any) -> None:
        try:
            known = self.births.get((id(module), attribute))
            if (known is not None and known.module() is module) or tensor is None or len(self.births) >= LIMIT:
                return
            self.changed = True
            state = self.deep.generators["torch"]()
            if state != self._state[0]:
                self._state = (state, {"torch": self.deep.hash_bytes(state)})
            self.births[(id(module), attribute)] = _Birth(weakref.ref(module), self.deep.source(1), self._state[1])
        except Exception as error:
            self.deep.recorder.problem("a weight was registered", error)

    def _attached(self, module: Any, attribute: str, child: Any) -> None:
        self.changed = True


def variable(frame: Any, thing: Any) -> str:
    """The name of the variable that holds `thing` in a frame, "" where none does."""
    return next((name for name, value in variables(frame) if value is thing), "")


def variables(frame: Any) -> Iterator[Tuple[str, Any]]:
    """Local variables of a frame, the attributes of its `self`, global variables."""
    if frame is None:
        return
    local = dict(frame.f_locals)
    yield from local.items()
    attributes = getattr(local.get("self"), "__dict__", None)
    if isinstance(attributes, dict):
        yield from list(attributes.items())
        for name in ("_modules", "_parameters"):
            yield from list((attributes.get(name) or {}).items())
    if frame.f_globals is not frame.f_locals:
        yield from list(frame.f_globals.items())


def _weights(root: Any, base: Any) -> Iterator[Tuple[Any, str, Any, bool]]:
    """(module, attribute, tensor, whether it is a buffer) of each parameter and buffer, each tensor once."""
    seen = set()
    for _, module in base.named_modules(root):
        for tensors, buffer in ((module._parameters, False), (module._buffers, True)):
            for attribute, tensor in list(tensors.items()):
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield module, attribute, tensor, buffer


def _join(prefix: str, path: str) -> str:
    return prefix + "." + path if prefix and path else prefix or path
