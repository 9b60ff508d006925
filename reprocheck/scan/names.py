"""What a name stands for, in a scope, by imports and assignments alone (no order: `order` knows
what was executed).

names.of(node)    "torch.nn.functional.dropout" for `F.dropout`;
"numpy.random.default_rng().shuffle" for `rng.shuffle`
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from reprocheck.scan.aliases import BUILTINS, canonical, may_bring, starred
from reprocheck.scan.index import children as walked

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LONGEST = 300
"""Characters of a dotted name.

A name that grows with each line (`x = x.repeat()` under ever new names) is given up there.
"""

Bound = tuple["Scope", str]
"""A name in the scope that binds it."""


@dataclass(eq=False, slots=True)
class Scope:
    """The names that a module, class, function, lambda or comprehension binds: each with the
    expressions or dotted names that it may be.
    """

    node: ast.AST
    parent: Scope | None
    bound: dict[str, list[ast.expr | str | None]] = field(default_factory=dict)
    outer: set[str] = field(default_factory=set)

    def bind(self, name: str, meaning: ast.expr | str | None) -> None:
        """Adds a meaning; None is something unknown."""
        self.bound.setdefault(name, []).append(meaning)


class Names:
    """The names of one module.

    `expand` gives what a star import of the user's own module brings, `package` is for relative
    imports.
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
        self._expand = expand
        self._stars: list[str] = []
        self._known: dict[Bound, str | None] = {}
        self._scopes: dict[int, Scope] = {}
        self.scope = Scope(tree, None)
        self._collect(tree, self.scope)

    def of(self, node: ast.AST) -> str | None:
        """The dotted name of an expression, None where it has none.

        A function or class of the module itself is `module.name`.
        """
        leaf, rest = _chain(node)
        if leaf is None:
            return None
        return _extended(self._of_name(leaf.id, self.scope_of(leaf)), rest)

    def of_global(self, name: str) -> str | None:
        """What a name stands for at the top level of the module; nothing for builtins."""
        found = self._of_name(name, self.scope)
        return None if found is None or found.startswith("builtins.") else found

    def scope_of(self, node: ast.AST) -> Scope:
        """The scope in which a node stands."""
        return self._scopes.get(id(node), self.scope)

    # --------------------------------------------------------------------------------------- lookup

    def _of_name(self, name: str, scope: Scope) -> str | None:
        holder = _holder(name, scope)
        if holder is not None:
            return self._of_bound((holder, name))
        for star in reversed(self._stars):
            if own := self._expand and self._expand(star, name):
                return own
            if starred(star, name):
                return canonical(f"{star}.{name}")
        if name in BUILTINS:
            return f"builtins.{name}"
        found = [star for star in self._stars if may_bring(star, name)]
        return canonical(f"{found[-1]}.{name}") if found else None

    def _of_bound(self, bound: Bound) -> str | None:
        """What a name stands for that a scope binds, each found once: a name may have many
        meanings, and each of them names others.

        What leads back to itself (`ds = ds.repeat()`) is not known.
        """
        path = [bound]
        under_way = {bound}
        while path:
            at = path[-1]
            missing = next(
                (
                    one
                    for one in self._needed(at)
                    if one not in self._known and one not in under_way
                ),
                None,
            )
            if missing is not None:
                path.append(missing)
                under_way.add(missing)
                continue
            self._known[at] = self._agreed(at)
            under_way.remove(path.pop())
        return self._known[bound]

    def _needed(self, bound: Bound) -> Iterator[Bound]:
        """The bound names by which the meanings of a name are spelled."""
        scope, name = bound
        for meaning in scope.bound[name]:
            leaf = _chain(meaning)[0] if isinstance(meaning, ast.expr) else None
            holder = _holder(leaf.id, self.scope_of(leaf)) if leaf is not None else None
            if leaf is not None and holder is not None:
                yield holder, leaf.id

    def _agreed(self, bound: Bound) -> str | None:
        """What all meanings of a name agree on.

        One that is not known spoils it, except `None` before the real one (`try: import`).
        """
        scope, name = bound
        names: set[str | None] = set()
        for meaning in scope.bound[name]:
            if isinstance(meaning, ast.Constant) and meaning.value is None:
                continue
            names.add(self._meant(meaning))
        return names.pop() if len(names) == 1 else None

    def _meant(self, meaning: ast.expr | str | None) -> str | None:
        """What one meaning of a name stands for, where the names in it are known."""
        if meaning is None or isinstance(meaning, str):
            return canonical(meaning) if meaning else None
        leaf, rest = _chain(meaning)
        if leaf is None:
            return None
        holder = _holder(leaf.id, self.scope_of(leaf))
        if holder is None:
            return _extended(self._of_name(leaf.id, self.scope_of(leaf)), rest)
        return _extended(self._known.get((holder, leaf.id)), rest)

    # ----------------------------------------------------------------------------------- collection

    def _collect(self, tree: ast.Module, scope: Scope) -> None:
        waiting: list[tuple[ast.AST, Scope]] = [(child, scope) for child in reversed(tree.body)]
        while waiting:
            node, at = waiting.pop()
            inner = self._enter(node, at)
            if isinstance(node, ast.Name):
                self._scopes[id(node)] = at
                continue
            children = [
                (child, inner if inner is not at and _is_inside(node, child) else at)
                for child in walked(node)
            ]
            waiting += reversed(children)

    def _enter(self, node: ast.AST, at: Scope) -> Scope:
        """Binds what a node binds, and gives the scope of what stands in it."""
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, meaning in imported(node, self._module, package=self._package):
                if name == "*":
                    self._stars.append(meaning)
                else:
                    at.bind(name, meaning)
        elif isinstance(node, _FUNCTIONS):
            if not isinstance(node, ast.Lambda):
                at.bind(node.name, self._qualified(at, node.name))
            inner = Scope(node, at)
            for argument in _parameters(node.args):
                inner.bind(argument.arg, None)
            return inner
        elif isinstance(node, ast.ClassDef):
            at.bind(node.name, self._qualified(at, node.name))
            return Scope(node, at)
        elif isinstance(node, _COMPREHENSIONS):
            return Scope(node, at)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            at.outer.update(node.names)
        else:
            self._bind_assigned(node, at)
        return at

    def _bind_assigned(self, node: ast.AST, at: Scope) -> None:
        for target, value in assigned(node):
            holder = at
            while (
                isinstance(node, ast.NamedExpr)
                and isinstance(holder.node, _COMPREHENSIONS)
                and holder.parent
            ):
                holder = holder.parent
            if isinstance(target, ast.Name):
                if target.id in holder.outer:
                    holder = self.scope
                holder.bind(target.id, value)

    def _qualified(self, at: Scope, name: str) -> str:
        parts = [name]
        scope: Scope | None = at
        while scope is not None and scope.parent is not None:
            parts.append(getattr(scope.node, "name", "<lambda>"))
            scope = scope.parent
        return ".".join([*([self._module] if self._module else []), *reversed(parts)])


def _holder(name: str, scope: Scope) -> Scope | None:
    """The scope that binds a name, seen from another one: classes are not visible from the
    functions in them.
    """
    at: Scope | None = scope
    while at is not None:
        visible = at is scope or not isinstance(at.node, ast.ClassDef)
        if visible and name in at.bound and name not in at.outer:
            return at
        at = at.parent
    return None


def _chain(node: ast.AST) -> tuple[ast.Name | None, list[str]]:
    """The name that an expression begins with, and what follows it: attributes, and `()` for calls.
    No name for other expressions.
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
    """The name of what hangs below something."""
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
    """The names that an import binds, each with what it stands for; `*` with the package of a star
    import.
    """
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                yield alias.asname, alias.name
            else:
                yield alias.name.partition(".")[0], alias.name.partition(".")[0]
        return
    origin = absolute(node, module, package=package)
    for alias in node.names:
        if alias.name == "*":
            yield "*", origin
        else:
            yield alias.asname or alias.name, f"{origin}.{alias.name}" if origin else alias.name


def absolute(node: ast.ImportFrom, module: str, *, package: bool = False) -> str:
    """The module from which an import takes its names, with dots of a relative one resolved."""
    if not node.level:
        return node.module or ""
    parts = module.split(".") if module else []
    drop = node.level - (1 if package else 0)
    parts = parts[: max(0, len(parts) - drop)]
    return ".".join([*parts, *([node.module] if node.module else [])])


def assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What a node assigns, name by name; the value is None where it is only known to be
    assigned.
    """
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _pairs(target, node.value)
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            yield from _pairs(node.target, node.value)
    elif isinstance(node, ast.NamedExpr):
        yield node.target, node.value
    elif isinstance(node, ast.AugAssign | ast.For | ast.AsyncFor | ast.comprehension):
        yield from _pairs(node.target, None)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from _pairs(node.optional_vars, node.context_expr)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield ast.Name(id=node.name, ctx=ast.Store()), None


def _pairs(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if isinstance(target, ast.Tuple | ast.List):
        spelled = (
            value.elts
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
            else None
        )
        for index, part in enumerate(target.elts):
            yield from _pairs(
                part.value if isinstance(part, ast.Starred) else part,
                spelled[index] if spelled else None,
            )
    else:
        yield target, value


def last_word(node: ast.AST) -> str:
    """The last part of a name as it is written: `sort` of `rows.sort`, "" of what is no name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def last_part(name: str) -> str:
    """`sort` of `rows.sort`, in a dotted name."""
    return name.rpartition(".")[2]


def _parameters(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (one for one in (arguments.vararg, arguments.kwarg) if one is not None)


def _is_inside(node: ast.AST, child: ast.AST) -> bool:
    """Whether a child belongs to the scope that its parent opens: bodies do, decorators, defaults
    and bases do not.
    """
    if isinstance(node, ast.Lambda):
        return child is node.body
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return isinstance(child, ast.stmt)
    return True
