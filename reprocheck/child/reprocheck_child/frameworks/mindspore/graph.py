"""Finds the optimizers and gradients that a compiled step holds, without calling it.

A graph hides its insides; only what goes in and comes out is seen from Python. Whether an execution
is a training step (and not an evaluation, or the loss scaler's arithmetic) is answered by following
the names in the code to the objects that they stand for.
"""

import functools
import sys
import types
from itertools import chain
from typing import Any, Callable, Dict, FrozenSet, Iterable, Iterator, List, Set, Tuple

from ...deep_levels import scope
from .pynative import hook_compilers

GRADIENTS = frozenset({"value_and_grad", "grad", "GradOperation"})


Step = Tuple[Any, FrozenSet[str]]
"""An object, and the names in the code that led to it."""


class Contents:
    """The parts of a compiled step.

    `optimizers`: those reached, in order; `gradient`: a gradient is taken; `scalers`: loss scalers
    whose `scale` is called.
    """

    def __init__(self) -> None:
        self.optimizers: List[Any] = []
        self.gradient = False
        self.scalers: List[Any] = []

    def trains(self) -> bool:
        """Return whether an execution is a step of a training."""
        return self.gradient or bool(self.optimizers)


class Reader:
    """A walk along the names in functions and cells."""

    LIMIT = 3000
    ITEMS = 256

    def __init__(
        self,
        cell: Any,
        optimizers: Tuple[type, ...],
        gradients: Tuple[type, ...],
        scalers: Tuple[type, ...],
    ) -> None:
        self.cell = cell
        self.optimizers = optimizers
        self.gradients = gradients
        self.scalers = scalers

    def contents(self, function: Any, owner: Any = None) -> Contents:
        """Return the optimizers, gradients and scalers that `function` reaches.

        `owner` is its `self` if it is a method.
        """
        contents = Contents()
        seen: Set[Any] = set()
        todo: List[Step] = []
        todo.extend(self._names_of(function, owner, contents))
        while todo and len(seen) < self.LIMIT:
            thing, names = todo.pop()
            key = (id(thing), names)
            if key not in seen:
                seen.add(key)
                todo.extend(self._visit(thing, names, contents))
        contents.optimizers.reverse()
        return contents

    def _visit(self, thing: Any, names: FrozenSet[str], contents: Contents) -> Iterable[Step]:
        """Note whether `thing` is an optimizer, gradient or scaler; return what to look at next."""
        if isinstance(thing, (type(None), str, bytes, int, float)):  # most of what names stand for
            return ()
        if isinstance(thing, self.optimizers):
            if all(thing is not optimizer for optimizer in contents.optimizers):
                contents.optimizers.append(thing)
            return ()
        if isinstance(thing, self.gradients) or (
            isinstance(thing, type) and issubclass(thing, self.gradients)
        ):
            contents.gradient = True
            return ()
        if isinstance(thing, self.scalers):
            if "scale" in names:
                contents.scalers.append(thing)
            return ()
        if isinstance(thing, self.cell):
            return self._of_cell(thing, names, contents)
        for kind, inside in _INSIDE.items():
            if isinstance(thing, kind):
                return [(item, names) for item in inside(thing)]
        return self._of_code(thing, names, contents)

    def _of_cell(self, cell: Any, names: FrozenSet[str], contents: Contents) -> Iterator[Step]:
        yield from self._names_of(getattr(type(cell), "construct", None), cell, contents)
        yield from attributes(cell, names)
        if hasattr(cell, "__len__"):  # a list of cells: its items have no names
            yield from ((item, names) for item in cell._cells.values())

    def _of_code(self, thing: Any, names: FrozenSet[str], contents: Contents) -> Iterable[Step]:
        """Return the objects used by a function, a module or an object of the script's."""
        if isinstance(thing, types.MethodType):
            return self._names_of(thing.__func__, thing.__self__, contents)
        if isinstance(thing, types.FunctionType):
            return self._names_of(thing, None, contents)
        if isinstance(thing, types.ModuleType):
            return self._of_module(thing, names, contents)
        if isinstance(thing, type) or _is_library(type(thing).__module__):
            return ()
        return attributes(thing, names)

    def _names_of(self, function: Any, owner: Any, contents: Contents) -> Iterator[Step]:
        """Yield the objects that the names in a function's code stand for.

        They are its closure, the globals it uses, and attributes of its owner.
        """
        function = getattr(function, "__func__", function)
        # `jit` and other decorators keep the function of the script's as `__wrapped__`
        for inner in (function, getattr(function, "__wrapped__", None)):
            code = getattr(inner, "__code__", None)
            if code is not None:
                yield from self._names_in(inner, code, owner, contents)

    def _names_in(self, function: Any, code: Any, owner: Any, contents: Contents) -> Iterator[Step]:
        names = frozenset(code_names(code))
        values = [*scope.cells(function).values(), *(function.__defaults__ or ())]
        yield from ((value, names) for value in values)
        # names in the library's own functions lead all over it, and to no training of the script's
        if not _is_library(function.__module__ or ""):
            outside = function.__globals__
            yield from ((outside[name], names) for name in names & outside.keys())
        elif owner is None and function.__name__ in GRADIENTS:  # `mindspore.grad` itself
            contents.gradient = True
        if owner is not None:
            yield from attributes(owner, names)

    def _of_module(self, module: Any, names: FrozenSet[str], contents: Contents) -> Iterator[Step]:
        namespace = vars(module)
        if not _is_library(module.__name__):
            yield from ((namespace[name], names) for name in names & namespace.keys())
        elif any(hasattr(module, name) for name in names & GRADIENTS):
            contents.gradient = True


_INSIDE: Dict[Any, Callable[[Any], Iterable[Any]]] = {
    functools.partial: lambda thing: (thing.func, *thing.args, *thing.keywords.values()),
    (list, tuple): lambda thing: thing[: Reader.ITEMS],
    dict: lambda thing: list(thing.values())[: Reader.ITEMS],
}
"""What is in things that are only looked through."""


def code_names(code: Any) -> Set[str]:
    """Return names of globals and attributes in a code object and the functions inside it."""
    return set(chain.from_iterable(inner.co_names for inner in scope.codes(code)))


def attributes(owner: Any, names: FrozenSet[str]) -> Iterator[Step]:
    """Yield those of `names` that `owner` has, without running a property.

    They are instance attributes, sub-cells and methods.
    """
    own: Dict[str, Any] = getattr(owner, "__dict__", {})
    # where `nn.Cell.__setattr__` puts the cells that are assigned to it
    namespace = {**(own.get("_cells") or {}), **own}
    for name in names:
        if name in namespace:
            yield namespace[name], names
            continue
        method = getattr(type(owner), name, None)
        if isinstance(method, types.FunctionType):
            yield types.MethodType(method, owner), names


def closure(function: Any) -> Dict[str, Any]:
    """Return the closure of a function by name, through the wrapper that `jit` puts around it."""
    return scope.cells(getattr(function, "__wrapped__", function))


_LIBRARIES = frozenset(
    {
        "mindspore",
        "numpy",
        "builtins",
        "functools",
        "types",
        "typing",
        "collections",
        "os",
        "sys",
    }
)


def _is_library(module: str) -> bool:
    return module.split(".", 1)[0] in _LIBRARIES


GRAPH_MODE = "graph mode compiles the training"
COMPILED = "a cell was compiled"


def watch(hooks: Any, first: Any) -> None:
    """Call `first`, which leaves the deeper level, before a cell or function is compiled.

    Each step asks whether graph mode is on.
    """

    def given(_: Any, compiled: Callable[[], Any]) -> Any:
        first.leave("mindspore.jit was called")
        return compiled()

    hook_compilers(given, put=hooks.put)
    # private: what `Cell.compile` and `mindspore.export` call, also in PyNative mode
    executor = type(sys.modules["mindspore.nn.cell"]._cell_graph_executor)

    def compiling(*_: Any, **__: Any) -> None:
        first.leave(COMPILED)

    hooks.around(executor, "compile", "before a cell is compiled", before=compiling)
