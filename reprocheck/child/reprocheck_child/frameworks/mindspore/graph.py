"""What a compiled step holds: the optimizers and gradients that a function or cell reaches, found
by its names, without calling it.

A graph hides its insides; only what goes in and comes out is seen from Python. Whether an execution
is a training step (and not an evaluation, or the loss scaler's arithmetic) is answered by following
the names in the code to the objects that they stand for.
"""

import functools
import types
from typing import Any, Dict, FrozenSet, Iterator, List, Set, Tuple

GRADIENTS = frozenset({"value_and_grad", "grad", "GradOperation"})


Step = Tuple[Any, FrozenSet[str]]
"""An object, and the names in the code that led to it."""


class Contents:
    """optimizers: those reached, in order; gradient: a gradient is taken; scalers: loss scalers
    whose `scale` is called.
    """

    def __init__(self) -> None:
        self.optimizers: List[Any] = []
        self.gradient = False
        self.scalers: List[Any] = []


class Reader:
    """Follows names from functions and cells."""

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
        """What `function` reaches; `owner` is its `self` where it is a method."""
        found = Contents()
        seen: Set[Any] = set()
        todo: List[Step] = []
        todo.extend(self._names_of(function, owner, found))
        while todo and len(seen) < self.LIMIT:
            thing, names = todo.pop()
            key = (id(thing), names)
            if key not in seen:
                seen.add(key)
                todo.extend(self._visit(thing, names, found))
        found.optimizers.reverse()
        return found

    def _visit(self, thing: Any, names: FrozenSet[str], found: Contents) -> Iterator[Step]:
        """Note what `thing` is; yield what it leads to."""
        if thing is None or isinstance(thing, (str, bytes, int, float)):
            return
        if isinstance(thing, self.optimizers):
            if not any(thing is other for other in found.optimizers):
                found.optimizers.append(thing)
        elif isinstance(thing, self.gradients) or (
            isinstance(thing, type) and issubclass(thing, self.gradients)
        ):
            found.gradient = True
        elif isinstance(thing, self.scalers):
            if "scale" in names:
                found.scalers.append(thing)
        elif isinstance(thing, types.MethodType):
            yield from self._names_of(thing.__func__, thing.__self__, found)
        elif isinstance(thing, types.FunctionType):
            yield from self._names_of(thing, None, found)
        elif isinstance(thing, functools.partial):
            yield from (
                (item, names) for item in (thing.func, *thing.args, *thing.keywords.values())
            )
        elif isinstance(thing, (list, tuple)):
            yield from ((item, names) for item in thing[: self.ITEMS])
        elif isinstance(thing, dict):
            yield from ((item, names) for item in list(thing.values())[: self.ITEMS])
        elif isinstance(thing, self.cell):
            yield from self._names_of(getattr(type(thing), "construct", None), thing, found)
            yield from attributes(thing, names)
            if hasattr(thing, "__len__"):  # a list of cells: its items have no names
                yield from ((cell, names) for cell in thing._cells.values())
        elif isinstance(thing, types.ModuleType):
            yield from self._of_module(thing, names, found)
        elif not isinstance(thing, type) and not _is_library(type(thing).__module__):
            yield from attributes(thing, names)

    def _names_of(self, function: Any, owner: Any, found: Contents) -> Iterator[Step]:
        """What the names in a function's code stand for: its closure, the globals it uses,
        attributes of its owner.
        """
        function = getattr(function, "__func__", function)
        inner: Any
        for inner in (function, getattr(function, "__wrapped__", None)):
            code = getattr(inner, "__code__", None)
            if code is None:
                continue
            names = frozenset(code_names(code))
            library = _is_library(inner.__module__ or "")
            if library and owner is None and inner.__name__ in GRADIENTS:
                found.gradient = True
            for cell in inner.__closure__ or ():
                try:
                    yield cell.cell_contents, names
                except ValueError:  # not filled yet
                    pass
            for default in inner.__defaults__ or ():
                yield default, names
            if not library:
                yield from (
                    (inner.__globals__[name], names) for name in names if name in inner.__globals__
                )
            if owner is not None:
                yield from attributes(owner, names)

    def _of_module(self, module: Any, names: FrozenSet[str], found: Contents) -> Iterator[Step]:
        if _is_library(module.__name__):
            found.gradient = found.gradient or any(
                name in GRADIENTS and hasattr(module, name) for name in names
            )
        else:
            yield from ((vars(module)[name], names) for name in names if name in vars(module))


def code_names(code: Any) -> Set[str]:
    """Names of globals and attributes in a code object and in the functions defined inside it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= code_names(constant)
    return names


def attributes(owner: Any, names: FrozenSet[str]) -> Iterator[Step]:
    """Those of `names` that `owner` has: instance attributes, sub-cells and methods, without
    running a property.
    """
    own: Dict[str, Any] = getattr(owner, "__dict__", {})
    cells = own.get("_cells") or {}
    for name in names:
        if name in own:
            yield own[name], names
        elif name in cells:
            yield cells[name], names
        else:
            method = getattr(type(owner), name, None)
            if isinstance(method, types.FunctionType):
                yield types.MethodType(method, owner), names


def closure(function: Any) -> Dict[str, Any]:
    """The closure of a function by name, through the wrapper that `jit` puts around it."""
    function = getattr(function, "__wrapped__", function)
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            pass
    return found


def _is_library(module: str) -> bool:
    return module.split(".", 1)[0] in (
        "mindspore",
        "numpy",
        "builtins",
        "functools",
        "types",
        "typing",
        "collections",
        "os",
        "sys",
    )
