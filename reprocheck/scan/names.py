"""Find what a name stands for, in a scope, by imports and assignments alone.

Without an order: `order` knows what was executed.

names.of(node)    "torch.nn.functional.dropout" for `F.dropout`;
"numpy.random.default_rng().shuffle" for `rng.shuffle`
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import filterfalse
from typing import Any, ClassVar, TypeVar

from reprocheck.scan.aliases import canonical, free_name, of_library_alone
from reprocheck.scan.index import children as walked

T = TypeVar("T")
_ROWS = (ast.Tuple, ast.List)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LONGEST = 300
"""Characters of a dotted name.

A name that grows with each line (`x = x.repeat()` under ever new names) is given up there.
"""

Bound = tuple["Scope", str]
"""A name in the scope that binds it."""


@dataclass(eq=False, slots=True)
class Scope:
    """A scope (module, class, function, lambda, comprehension) and the names that it binds.

    bound  for each name the expressions or dotted names that it may stand for
    outer  names that `global` or `nonlocal` declares
    """

    node: ast.AST
    parent: Scope | None
    bound: dict[str, list[ast.expr | str | None]] = field(default_factory=dict)
    outer: set[str] = field(default_factory=set)

    def outward(self) -> Iterator[Scope]:
        """Yield this scope and the scopes around it, up to that of the module."""
        at: Scope | None = self
        while at is not None:
            yield at
            at = at.parent

    def bind(self, name: str, meaning: ast.expr | str | None) -> None:
        """Add a meaning of a name: an expression, a dotted name, or None if unknown."""
        self.bound.setdefault(name, []).append(meaning)


class Names:
    """The names of one module.

    expand   returns what a star import of a user's module defines under a name
    package  whether the module is a package, which relative imports depend on
    """

    def __init__(
        self,
        tree: ast.Module,
        module: str = "",
        *,
        package: bool = False,
        expand: Callable[[str, str], str | None] | None = None,
    ) -> None:
        self._module = module
        self._package = package
        self._expand = expand or of_library_alone
        self._stars: list[str] = []
        self._known: dict[Bound, str | None] = {}
        self._scopes: dict[int, Scope] = {}
        self.scope = Scope(tree, None)
        scope = self.scope
        waiting: list[tuple[ast.AST, Scope]] = [(child, scope) for child in reversed(tree.body)]
        while waiting:
            node, at = waiting.pop()
            if isinstance(node, ast.Name):
                self._scopes[id(node)] = at
                continue
            # Binds what a node binds, and gives the scope of what stands in it
            enter = self._ENTERING.get(type(node), Names.bind_assigned)
            inner = enter(self, node, at)
            for child in reversed(walked(node)):
                is_inside = inner is not at and _is_inside(node, child)
                waiting.append((child, inner if is_inside else at))

    def of(self, node: ast.AST) -> str | None:
        """Return the dotted name of an expression; None if it has none.

        A function or class of the module itself is `module.name`.
        """
        leaf, rest = _chain(node)
        if leaf is None:
            return None
        return _extended(self._of_name(leaf.id, self.scope_of(leaf)), rest)

    def of_global(self, name: str) -> str | None:
        """Return the dotted name of a name at the top level of the module; None for builtins."""
        found = self._of_name(name, self.scope)
        if found is None or found.startswith("builtins."):
            return None
        return found

    def scope_of(self, node: ast.AST) -> Scope:
        """Return the scope in which a node stands."""
        return self._scopes.get(id(node), self.scope)

    def _of_name(self, name: str, scope: Scope) -> str | None:
        holder = _holder(name, scope)
        if holder is not None:
            # What a name stands for that a scope binds, each found once: a name may have many
            # meanings, and each of them names others. What leads back to itself (`ds =
            # ds.repeat()`) is not known.
            bound = (holder, name)
            if bound in self._known:
                return self._known[bound]
            path = [bound]
            under_way = {bound}
            while path:
                unknown = filterfalse(self._known.__contains__, self._needed(path[-1]))
                missing = next(filterfalse(under_way.__contains__, unknown), None)
                if missing is not None:
                    path.append(missing)
                    under_way.add(missing)
                    continue
                at = path.pop()
                under_way.remove(at)
                self._known[at] = self._agreed(at)
            return self._known[bound]
        return free_name(name, self._stars, self._expand)

    def _needed(self, bound: Bound) -> Iterator[Bound]:
        """Yield the bound names on which the meanings of a bound name depend."""
        scope, name = bound
        for meaning in scope.bound[name]:
            leaf = None
            if isinstance(meaning, ast.expr):
                leaf = _chain(meaning)[0]
            if leaf is None:
                continue
            holder = _holder(leaf.id, self.scope_of(leaf))
            if holder is not None:
                yield holder, leaf.id

    def _agreed(self, bound: Bound) -> str | None:
        """Return the dotted name that all meanings of a name share.

        None if they differ or one is unknown.

        The constant `None` does not count, because it often stands for a failed `try: import`.
        """
        scope, name = bound
        names: set[str | None] = set()
        for meaning in scope.bound[name]:
            is_none = isinstance(meaning, ast.Constant) and meaning.value is None
            if not is_none:
                names.add(self._meant(meaning))
        if len(names) != 1:
            return None
        return names.pop()

    def _meant(self, meaning: ast.expr | str | None) -> str | None:
        """Return the dotted name of one meaning of a name, once its own names are resolved."""
        if not meaning:
            return None
        if isinstance(meaning, str):
            return canonical(meaning)
        leaf, rest = _chain(meaning)
        if leaf is None:
            return None
        scope = self.scope_of(leaf)
        holder = _holder(leaf.id, scope)
        if holder is None:
            return _extended(self._of_name(leaf.id, scope), rest)
        return _extended(self._known.get((holder, leaf.id)), rest)

    def enter_import(self, node: ast.Import | ast.ImportFrom, at: Scope) -> Scope:
        for name, meaning in imported(node, self._module, package=self._package):
            if name == "*":
                self._stars.append(meaning)
            else:
                at.bind(name, meaning)
        return at

    def enter_definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, at: Scope
    ) -> Scope:
        name = node.name
        scopes = [one for one in at.outward() if one.parent is not None]
        around = [getattr(one.node, "name", "<lambda>") for one in reversed(scopes)]
        qualified = ".".join(filter(None, [self._module, *around, name]))
        at.bind(node.name, qualified)
        if isinstance(node, ast.ClassDef):
            return Scope(node, at)
        return self.enter_function(node, at)

    def enter_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, at: Scope
    ) -> Scope:
        inner = Scope(node, at)
        of_all = node.args
        variadic = filter(None, (of_all.vararg, of_all.kwarg))
        for argument in (*of_all.posonlyargs, *of_all.args, *of_all.kwonlyargs, *variadic):
            inner.bind(argument.arg, None)
        return inner

    def enter_comprehension(self, node: ast.AST, at: Scope) -> Scope:
        return Scope(node, at)

    def enter_outer(self, node: ast.Global | ast.Nonlocal, at: Scope) -> Scope:
        at.outer.update(node.names)
        return at

    def bind_assigned(self, node: ast.AST, at: Scope) -> Scope:
        for target, value in assigned(node):
            if isinstance(target, ast.Name):
                self._bind(target.id, value, at)
        return at

    def bind_named(self, node: ast.NamedExpr, at: Scope) -> Scope:
        """Bind the name of `:=`, for a comprehension in the scope around it."""
        outside = (one for one in at.outward() if not isinstance(one.node, COMPREHENSIONS))
        self._bind(node.target.id, node.value, next(outside, at))
        return at

    def _bind(self, name: str, value: ast.expr | None, at: Scope) -> None:
        if name in at.outer:
            at = self.scope
        at.bind(name, value)

    _ENTERING: ClassVar[dict[type[ast.AST], Callable[[Names, Any, Scope], Scope]]] = {
        **dict.fromkeys((ast.Import, ast.ImportFrom), enter_import),
        **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), enter_definition),
        ast.Lambda: enter_function,
        **dict.fromkeys(COMPREHENSIONS, enter_comprehension),
        **dict.fromkeys((ast.Global, ast.Nonlocal), enter_outer),
        ast.NamedExpr: bind_named,
    }


def _holder(name: str, scope: Scope) -> Scope | None:
    """Return the scope that binds a name, as seen from a scope.

    Functions do not see the names of a class around them.
    """
    for at in scope.outward():
        visible = at is scope or not isinstance(at.node, ast.ClassDef)
        if visible and name in at.bound and name not in at.outer:
            return at
    return None


def _chain(node: ast.AST) -> tuple[ast.Name | None, list[str]]:
    """Return the first name of an expression and the parts after it, attributes and `()` for calls.

    None if it begins with no name.
    """
    rest: list[str] = []
    at = node
    while not isinstance(at, ast.Name):
        if isinstance(at, ast.Attribute):
            rest.append(f".{at.attr}")
            at = at.value
        elif isinstance(at, ast.Call):
            rest.append("()")
            at = at.func
        elif isinstance(at, ast.Await | ast.NamedExpr):
            at = at.value
        else:
            return None, []
    rest.reverse()
    return at, rest


def _extended(name: str | None, rest: list[str]) -> str | None:
    """Return a dotted name extended by attributes and calls, as `torch.Generator()`."""
    if not name:
        return None
    for part in rest:
        name = f"{name}()" if part == "()" else canonical(f"{name}{part}")
        if len(name) > LONGEST:
            return None
    return name


def imported(
    node: ast.Import | ast.ImportFrom, module: str = "", *, package: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the names that an import binds, each with what it stands for.

    `*` with the package of a star import.
    """
    if isinstance(node, ast.Import):
        # `import a.b as c` binds `c`, and `import a.b` binds `a`
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or name, name
        return
    origin = absolute(node.level, node.module or "", module, package=package)
    for alias in node.names:
        if alias.name == "*":
            yield "*", origin
        else:
            yield alias.asname or alias.name, f"{origin}.{alias.name}".removeprefix(".")


def absolute(level: int, origin: str, module: str, *, package: bool = False) -> str:
    """Return the module from which an import takes its names, with dots of a relative one resolved.

    level, origin    the dots of the import, and what stands behind them
    module, package  the name of the module in which it stands, and whether that is a package
    """
    if not level:
        return origin
    parts = list(filter(None, module.split(".")))
    drop = level
    if package:
        drop -= 1
    kept = parts[: max(0, len(parts) - drop)]
    return ".".join(filter(None, [*kept, origin]))


Assigned = Iterator[tuple[ast.expr, ast.expr | None]]


def assigned(node: ast.AST) -> Assigned:
    """Yield each name that a node assigns, with its value; None if the value is unknown."""
    find = _ASSIGNED.get(type(node))
    if find is None:
        return iter(())
    return find(node)


def pairs_of_assignment(node: ast.Assign) -> Assigned:
    for target in node.targets:
        yield from _pairs(target, node.value)


def pairs_of_one_target(node: ast.AnnAssign | ast.NamedExpr) -> Assigned:
    if node.value is not None:
        yield from _pairs(node.target, node.value)


def pairs_without_value(
    node: ast.AugAssign | ast.For | ast.AsyncFor | ast.comprehension,
) -> Assigned:
    return _pairs(node.target, None)


def pairs_of_with(node: ast.withitem) -> Assigned:
    if node.optional_vars is not None:
        yield from _pairs(node.optional_vars, node.context_expr)


def _of_name(node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> Assigned:
    if node.name:
        yield ast.Name(id=node.name, ctx=ast.Store()), None


_ASSIGNED: dict[type[ast.AST], Callable[[Any], Assigned]] = {
    ast.Assign: pairs_of_assignment,
    **dict.fromkeys((ast.AnnAssign, ast.NamedExpr), pairs_of_one_target),
    **dict.fromkeys((ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension), pairs_without_value),
    ast.withitem: pairs_of_with,
    **dict.fromkeys((ast.ExceptHandler, ast.MatchAs, ast.MatchStar), _of_name),
}


def _pairs(target: ast.expr, value: ast.expr | None) -> Assigned:
    """Yield each name of an assignment target with its own part of the value."""
    if isinstance(target, ast.Starred):
        target = target.value
    if not isinstance(target, _ROWS):
        yield target, value
        return
    values: Sequence[ast.expr | None] = [None] * len(target.elts)
    if isinstance(value, _ROWS) and len(value.elts) == len(target.elts):
        values = value.elts
    for part, own in zip(target.elts, values, strict=True):
        yield from _pairs(part, own)


def last_word(node: ast.AST) -> str:
    """Return the last part of the name in an expression: `sort` of `rows.sort`.

    "" if it is no name.
    """
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    return ""


def last_part(name: str) -> str:
    """Return the last part of a dotted name: `sort` of `rows.sort`."""
    return name.rpartition(".")[2]


def with_name(index: Mapping[str, list[T]], name: str) -> list[list[T]]:
    """Return the items of an index under a name, or under all names with a prefix: `torch.nn.*`."""
    if not name.endswith(".*"):
        return [index.get(name, [])]
    return [found for own, found in index.items() if own.startswith(name[:-1])]


def _is_inside(node: ast.AST, child: ast.AST) -> bool:
    """Return whether a child belongs to the scope that its parent opens.

    Decorators, defaults and base classes do not.
    """
    if isinstance(node, ast.Lambda):
        return child is node.body
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return isinstance(child, ast.stmt)
    return True
