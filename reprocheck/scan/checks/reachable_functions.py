"""Find which functions of a program may be called, by the names that running code mentions.

The abstract execution misses calls that are made in ways it does not follow (tables of functions,
command lines, registries). So a function may be called as soon as running code mentions its name,
or if a library may call it. A function whose name no running code mentions is never called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from reprocheck.scan import syntax
from reprocheck.scan.index import children
from reprocheck.scan.memo import kept
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.syntax import is_guard
from reprocheck.scan.vocabulary import words

_PLAIN_DECORATORS = words("execution", "plain_decorators")
_ANY = "*"
"""What is mentioned where a function is called that can call any other one, by a name that is known
at run time alone.
"""
_NAMES = (ast.Name, ast.Attribute, ast.Constant, ast.Lambda, ast.Dict, ast.List, ast.Tuple)


@dataclass(eq=False, slots=True)
class Part:
    """Code that runs together, as the body of a function or the top level of a module.

    The code below a `__main__` guard, and a variable that holds uncalled functions, are parts too.

    names     names of which one must be mentioned before this part can run; empty if it always may
    around    the part that contains the definition of this part; None for the top level
    guard     whether the part is the code below `if __name__ == "__main__":`
    mentions  the names that this part uses; an import is no use, because it calls nothing
    """

    names: frozenset[str]
    around: Part | None
    guard: bool = False
    mentions: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a module, and for the id of each call's node the part that contains the call."""

    every: tuple[Part, ...]
    of_call: dict[int, Part]


def may_run(order: Order, modules: Iterable[Module], module: Module, call: ast.Call) -> bool:
    """Return whether a call in a program may run, by the names that the program mentions."""
    return id(_parts(module).of_call[id(call)]) in _running(order.root, tuple(modules))


def mentions(module: Module) -> Iterable[str]:
    """Return the names that the code of a module mentions, executed or not, outside of imports."""
    return chain.from_iterable(part.mentions for part in _parts(module).every)


@kept
def _running(root: Module, modules: tuple[Module, ...]) -> frozenset[int]:
    """Return the ids of the parts that may run in the program of `root`.

    The code below a `__main__` guard only runs in `root` itself.
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
        started: list[Part] = []
        for part in waiting:
            is_defined = part.around is None or id(part.around) in running
            is_mentioned = not part.names or mentioned & {_ANY, *part.names}
            if is_defined and is_mentioned:
                started.append(part)
        if not started:
            return frozenset(running)
        running.update(map(id, started))
        mentioned.update(chain.from_iterable(part.mentions for part in started))
        waiting = [part for part in waiting if id(part) not in running]


@kept
def _parts(module: Module) -> Parts:
    top, never = Part(names=frozenset(), around=None), Part(names=frozenset(), around=None)
    parts = [top]
    of_call: dict[int, Part] = {}
    imported = (alias for node in module.index.of(ast.ImportFrom) for alias in node.names)
    aliases = {alias.asname: alias.name for alias in imported if alias.asname}
    waiting: list[tuple[ast.AST, Part, ast.ClassDef | None]] = [
        (node, top, None) for node in module.tree.body
    ]
    while waiting:
        node, part, holder = waiting.pop()
        match node:
            # These name things and call none: an import, `seed_everything` in a line of its own and
            # without a call, `__all__ = [...]`, which says what may be imported.
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Name() | ast.Attribute()):
                continue
            case ast.Assign(targets=targets) if "__all__" in syntax.variables(targets):
                continue
        part.mentions.update(aliases.get(name, name) for name in _mentioned(node))
        if isinstance(node, ast.Call):
            of_call[id(node)] = part
        inner = _own_part(node, part, holder)
        if inner is not part:
            parts.append(inner)
        # the class whose methods are defined directly below the node
        methods_of = holder
        if isinstance(node, ast.ClassDef):
            methods_of = node
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            methods_of = None
        dead = _dead(node)
        for child in children(node):
            runs_with = part
            if isinstance(child, ast.stmt) or isinstance(node, ast.Assign):
                runs_with = inner
            if id(child) in dead:
                runs_with = never
            waiting.append((child, runs_with, methods_of))
    return Parts(tuple(parts), of_call)


def _own_part(node: ast.AST, around: Part, holder: ast.ClassDef | None) -> Part:
    """Return the new part that a function or `__main__` guard opens; else the part `around`."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            wanted = {name}
            if not _PLAIN_DECORATORS.issuperset(map(syntax.decorator, node.decorator_list)):
                wanted = set()
            elif holder is not None and (holder.bases or name.startswith("__")):
                wanted = {name, holder.name}
            return Part(names=frozenset(wanted), around=around)
        case ast.If() if is_guard(node):
            return Part(names=frozenset(), around=around, guard=True)
        case ast.Assign(targets=targets, value=value) if _holds_functions(value):
            names = syntax.variables(targets)
            if len(names) == len(targets):
                return Part(names=frozenset(names), around=around)
    return around


def _holds_functions(value: ast.expr | None) -> bool:
    """Return whether an expression names functions and calls none.

    A dict or list of functions, a lambda, a partial.
    """
    match value:
        case ast.Call():
            return syntax.word(value) == "partial"
        case ast.Dict(keys=keys, values=values):
            return all(map(_holds_functions, (*keys, *values)))
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return all(map(_holds_functions, elements))
    return isinstance(value, _NAMES)


def _dead(node: ast.AST) -> frozenset[int]:
    """Return the ids of children of a node that never run, as the body of `if False:`."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            branches = {True: _ids(node.orelse), False: _ids(node.body), None: _NOTHING}
            return branches[_known(test)]
        case ast.While(test=test, body=body):
            branches = {True: _NOTHING, False: _ids(body), None: _NOTHING}
            return branches[_known(test)]
        case ast.BoolOp(op=operator, values=values):
            decides = isinstance(operator, ast.Or)
            return _ids(_after(values, map(_known, values), decides))
    statements = getattr(node, "body", None)
    if not isinstance(statements, list):
        return _NOTHING
    leaves = [isinstance(statement, ast.Return | ast.Raise) for statement in statements]
    return _ids(_after(statements, leaves, True))


_NOTHING: frozenset[int] = frozenset()


def _after(nodes: Sequence[ast.AST], marks: Iterable[bool | None], last: bool) -> Sequence[ast.AST]:
    """Return the nodes after the first node whose mark is `last`; none if no node has this mark."""
    return nodes[[*marks, last].index(last) + 1 :]


def _ids(nodes: ast.AST | Sequence[ast.AST]) -> frozenset[int]:
    if isinstance(nodes, ast.AST):
        return frozenset({id(nodes)})
    return frozenset(map(id, nodes))


_NEGATED = {True: False, False: True, None: None}


def _known(test: ast.expr) -> bool | None:
    """Return the truth of a constant condition, None of any other.

    `TYPE_CHECKING` is False in a program that runs.
    """
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _NEGATED[_known(operand)]
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return False
    return None


def _mentioned(node: ast.AST) -> tuple[str, ...]:
    """Return the name that a node mentions.

    A variable, an attribute, or a text that is a name (for `getattr` and tables).
    """
    match node:
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
            return (name,)
        case ast.Constant(value=str(text)) if text.isidentifier():
            return (text,)
        # `fire.Fire()` calls what the command line names; `model.eval()` calls nothing.
        case ast.Call(
            func=ast.Name(id="globals" | "eval" | "exec" | "Fire") | ast.Attribute(attr="Fire")
        ):
            return (_ANY,)
    return ()
