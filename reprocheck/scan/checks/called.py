"""Which functions of a program may be called at all, by the names that the code mentions which
runs.

The abstract execution misses calls that are made in ways it does not follow (tables of functions,
command lines, registries). So a function counts as one that may be called as soon as code that runs
mentions its name, or a library may call it. One whose name no such code mentions is never called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from reprocheck.scan.entry import is_guard
from reprocheck.scan.index import children
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module

_PLAIN_DECORATORS = frozenset(
    {
        "staticmethod",
        "classmethod",
        "property",
        "cached_property",
        "lru_cache",
        "cache",
        "wraps",
        "no_grad",
    }
)
"""Decorators that hand a function to nobody. Any other one may register it somewhere."""
_BY_ANY_NAME = frozenset({"globals", "eval", "exec", "Fire"})
"""Functions that can call any other one, by a name that is known at run time alone."""
_ANY = "*"
"""What is mentioned where one of those is called."""
_NAMES = (ast.Name, ast.Attribute, ast.Constant, ast.Lambda, ast.Dict, ast.List, ast.Tuple)


@dataclass(eq=False, slots=True)
class Part:
    """Code that runs together: the top level of a module, what stands under its guard, the body of
    a function, or what a variable holds of functions that are not called where it is made.

    names     one of these must be mentioned before it can run; empty where nothing needs to be
    around    the part in which its definition stands
    mentions  the names in it, without those of imports: to import a function is not to call it
    """

    names: frozenset[str]
    around: Part | None
    guard: bool = False
    mentions: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a module, and the one in which each call stands, by the id of its node."""

    every: tuple[Part, ...]
    of_call: dict[int, Part]


def may_run(order: Order, modules: Iterable[Module], module: Module, call: ast.Call) -> bool:
    """Whether a call in one of a program's modules may be made, by what the program mentions."""
    return id(_parts(module).of_call[id(call)]) in _running(order.root, tuple(modules))


@lru_cache(maxsize=16)
def _running(root: Module, modules: tuple[Module, ...]) -> frozenset[int]:
    """The parts that may run in a program, by their ids.

    A guard of `__main__` runs in its own program alone.
    """
    waiting = [
        part
        for module in modules
        for part in _parts(module).every
        if module is root or not part.guard
    ]
    running: set[int] = set()
    mentioned: set[str] = set()
    while True:
        found = [part for part in waiting if _runs(part, running, mentioned)]
        if not found:
            return frozenset(running)
        for part in found:
            running.add(id(part))
            mentioned |= part.mentions
        waiting = [part for part in waiting if id(part) not in running]


def _runs(part: Part, running: set[int], mentioned: set[str]) -> bool:
    defined = part.around is None or id(part.around) in running
    return defined and (not part.names or _ANY in mentioned or not part.names.isdisjoint(mentioned))


@lru_cache(maxsize=256)
def _parts(module: Module) -> Parts:
    top, never = Part(names=frozenset(), around=None), Part(names=frozenset(), around=None)
    parts = [top]
    of_call: dict[int, Part] = {}
    aliases = _aliases(module)
    waiting: list[tuple[ast.AST, Part, ast.ClassDef | None]] = [
        (node, top, None) for node in module.tree.body
    ]
    while waiting:
        node, part, holder = waiting.pop()
        if (
            isinstance(node, ast.Import | ast.ImportFrom)
            or _is_list_of_names(node)
            or _only_names_something(node)
        ):
            continue
        for name in _mentioned(node):
            part.mentions.add(aliases.get(name, name))
        if isinstance(node, ast.Call):
            of_call[id(node)] = part
        inner = _own_part(node, part, holder)
        if inner is not None:
            parts.append(inner)
        inside = _holder_inside(node, holder)
        dead = _dead(node)
        for child in children(node):
            belongs = (
                inner
                if inner is not None
                and (isinstance(child, ast.stmt) or isinstance(node, ast.Assign))
                else part
            )
            waiting.append((child, never if id(child) in dead else belongs, inside))
    return Parts(tuple(parts), of_call)


def _aliases(module: Module) -> dict[str, str]:
    """The names that imports give another name in the module."""
    imported = (alias for node in module.index.of(ast.ImportFrom) for alias in node.names)
    return {alias.asname: alias.name for alias in imported if alias.asname}


def _holder_inside(node: ast.AST, holder: ast.ClassDef | None) -> ast.ClassDef | None:
    """The class whose methods are defined directly below a node."""
    if isinstance(node, ast.ClassDef):
        return node
    return None if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else holder


def _own_part(node: ast.AST, around: Part, holder: ast.ClassDef | None) -> Part | None:
    """The part that a function or guard opens; None for other nodes."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return Part(names=_called_by(node, holder), around=around)
    if is_guard(node):
        return Part(names=frozenset(), around=around, guard=True)
    if isinstance(node, ast.Assign) and _holds_functions(node.value):
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        return (
            Part(names=frozenset(names), around=around) if len(names) == len(node.targets) else None
        )
    return None


def _holds_functions(value: ast.expr) -> bool:
    """Whether an expression names functions and calls none: a table of them, a lambda, a
    partial.
    """
    if isinstance(value, ast.Call):
        return _last_word(value) == "partial"
    if isinstance(value, ast.Dict):
        return all(
            one is not None and _holds_functions(one) for one in (*value.keys, *value.values)
        )
    if isinstance(value, ast.List | ast.Tuple):
        return all(map(_holds_functions, value.elts))
    return isinstance(value, _NAMES)


def _only_names_something(node: ast.AST) -> bool:
    """`seed_everything`, in a line of its own and without a call."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Name | ast.Attribute)


def _dead(node: ast.AST) -> frozenset[int]:
    """The parts right inside a node that never run, as its own text shows, by their ids."""
    if isinstance(node, ast.If | ast.IfExp):
        branches = {True: node.orelse, False: node.body}
        known = _known(node.test)
        return frozenset() if known is None else _ids(branches[known])
    if isinstance(node, ast.While):
        return _ids(node.body) if _known(node.test) is False else frozenset()
    if isinstance(node, ast.BoolOp):
        ends = isinstance(node.op, ast.Or)
        last = next(
            (number for number, one in enumerate(node.values) if _known(one) is ends),
            len(node.values),
        )
        return _ids(node.values[last + 1 :])
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return frozenset()
    last = next(
        (number for number, one in enumerate(body) if isinstance(one, ast.Return | ast.Raise)),
        len(body),
    )
    return _ids(body[last + 1 :])


def _ids(nodes: ast.AST | Sequence[ast.AST]) -> frozenset[int]:
    return frozenset(map(id, [nodes] if isinstance(nodes, ast.AST) else nodes))


def _known(test: ast.expr) -> bool | None:
    """Whether a condition holds, where it is written down as a constant; `TYPE_CHECKING` never does
    in a program that runs.
    """
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        known = _known(test.operand)
        return None if known is None else not known
    return (
        False
        if isinstance(test, ast.Name | ast.Attribute) and _last_word(test) == "TYPE_CHECKING"
        else None
    )


def _called_by(
    function: ast.FunctionDef | ast.AsyncFunctionDef, holder: ast.ClassDef | None
) -> frozenset[str]:
    """The names of which one must be mentioned before a function can run."""
    decorators = {_last_word(one) for one in function.decorator_list}
    if decorators - _PLAIN_DECORATORS:
        return frozenset()
    if holder is None:
        return frozenset({function.name})
    called_by_others = bool(holder.bases) or function.name.startswith("__")
    return (
        frozenset({function.name, holder.name}) if called_by_others else frozenset({function.name})
    )


def _last_word(decorator: ast.expr) -> str:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_list_of_names(node: ast.AST) -> bool:
    """`__all__ = [...]`, which says what may be imported."""
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
    )


def _mentioned(node: ast.AST) -> Iterator[str]:
    """The name that a node mentions: a variable, an attribute, or a text that is a name (for
    `getattr` and tables).
    """
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Call) and _calls_by_any_name(node):
        yield _ANY
    elif (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()
    ):
        yield node.value


def _calls_by_any_name(call: ast.Call) -> bool:
    """`globals()`, `eval(text)`, `fire.Fire()`; not `model.eval()`."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr == "Fire"
    return isinstance(call.func, ast.Name) and call.func.id in _BY_ANY_NAME
