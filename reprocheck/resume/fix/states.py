"""What the order of the data and the random numbers of a training are drawn from: generators of
modules, and what a script makes for itself.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from reprocheck.resume.fix.script import OWN, Made, Scope, Script
from reprocheck.resume.fix.source import Source
from reprocheck.scan.index import within
from reprocheck.scan.syntax import word


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """How a state is read and set.

    key       under which it is saved
    read      the expression that reads it
    write     the statement that sets it, with `{}` for the value
    drawn     whether something draws from it while a pass is under way
    """

    key: str
    read: str
    write: str
    drawn: bool = True

    @property
    def setter(self) -> str:
        """The function that sets it, as a script calls it."""
        return self.write.partition("({}")[0]

    @property
    def of_pass(self) -> str:
        """The name of what it was when a pass began, and the key of that."""
        return f"{self.key}_of_pass"

    def set_to(self, value: str) -> str:
        """The statement that sets it."""
        return self.write.format(value)


@dataclass(frozen=True, slots=True)
class _Default:
    """The generator of a module, and the names that scripts give that module.

    plain    what is saved of the state, where `torch.load` does not read the state itself but where
             it may read any object
    on_host  what follows the value where `torch.load` may have moved it to a device
    """

    module: str
    names: tuple[str, ...]
    key: str
    get: str
    set: str
    plain: str = "{}"
    on_host: str = ""


_DEFAULTS = {
    "torch": _Default(
        "torch", ("torch",), "rng", "get_rng_state()", "set_rng_state", on_host=".cpu()"
    ),
    "numpy": _Default(
        "numpy",
        ("np", "numpy"),
        "numpy_rng",
        "random.get_state()",
        "random.set_state",
        plain="[{0}[0], {0}[1].tolist(), *{0}[2:]]",
    ),
    "python": _Default("random", ("random",), "python_rng", "getstate()", "setstate"),
    "cuda": _Default(
        "torch", ("torch",), "cuda_rng", "cuda.get_rng_state_all()", "cuda.set_rng_state_all"
    ),
}
_OWN = {
    "torch.Generator": ("{}.get_state()", "{}.set_state({{}})"),
    "random.Random": ("{}.getstate()", "{}.setstate({{}})"),
    "numpy.random.default_rng": ("{}.bit_generator.state", "{}.bit_generator.state = {{}}"),
}
"""Generators that a script makes: how their state is read and set, by what makes them."""
_DRAWS = (("RandomSampler", "RandomSampler("), ("DataLoader", "shuffle=True"))
"""Calls that draw an order, with what stands in their text then."""


def defaults(source: Source, names: Collection[str]) -> Iterator[State]:
    """The generators of modules that the script has a name for.

    names  such as `torch` or `cuda:0`
    """
    kinds = dict.fromkeys(name.partition(":")[0] for name in names)
    for one in filter(None, map(_DEFAULTS.get, kinds)):
        for module in one.names:
            if source.script.names.of_global(module) == one.module:
                yield _default(source, one, module)


def _default(source: Source, one: _Default, module: str) -> State:
    state = f"{module}.{one.get}"
    read = state if source.saves(state) else one.plain.format(state)
    key = source.saved_as(read, one.key)
    on_host = one.on_host if source.is_moved else ""
    write = f"{module}.{one.set}({{}}{on_host})"
    return State(key=key, read=read, write=write)


def of_the_order(source: Source, scopes: Collection[Scope]) -> Iterator[State]:
    """What the order of the data is made from: generators of the script's own, counters of its
    samplers, and the generator of PyTorch where a loader shuffles with it.

    scopes  in all of which it has to be known by its name
    """
    script = source.script
    for made in script.made:
        is_seen = script.scope(made.statement) in {*scopes, script.tree}
        if is_seen and all(script.is_known(made.name, scope) for scope in scopes):
            yield from _generator(source, made)
            yield from _counters(source, made)
    if any(map(_shuffles, script.index.calls)):
        yield from defaults(source, ["torch"])


def _generator(source: Source, made: Made) -> Iterator[State]:
    if made.maker in _OWN:
        read, write = (text.format(made.name) for text in _OWN[made.maker])
        key = source.saved_as(read, made.name.rpartition(".")[2])
        yield State(key=key, read=read, write=write)


def _counters(source: Source, made: Made) -> Iterator[State]:
    """Numbers that an iterable of the script counts on when a pass over it begins."""
    for name in _counted(source.script, made.maker.removeprefix(f"{OWN}.")):
        read = f"{made.name}.{name}"
        key = source.saved_as(read, read.replace(".", "_"))
        yield State(key=key, read=read, write=f"{read} = {{}}", drawn=False)


def _counted(script: Script, name: str) -> list[str]:
    """The attributes that `__iter__` of a class counts on."""
    methods = [
        one
        for one in script.index.functions
        if one.name == "__iter__"
        if getattr(script.holder(one), "name", "") == name
    ]
    added = [ast.unparse(one.target) for one in within(methods, ast.AugAssign)]
    return [target.removeprefix("self.") for target in dict.fromkeys(added) if "self." in target]


def _shuffles(call: ast.Call) -> bool:
    """Whether a call makes what draws its order from PyTorch's own generator."""
    text = ast.unparse(call)
    named = any(word(call) == name and draws in text for name, draws in _DRAWS)
    return named and "generator=" not in text
