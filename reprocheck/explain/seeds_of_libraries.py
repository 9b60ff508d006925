"""How an object of a library is given a seed: where it is made, by the word of its library."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

_RANDOM_STATE = ("sklearn", "imblearn", "pandas", "umap", "hdbscan", "xgboost", "lightgbm", "skopt")
"""Packages whose functions and classes take their seed as `random_state`."""


def packages(tree: ast.AST) -> Mapping[str, str]:
    """What the imports of a file bind, each with the dotted name that it stands for."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or whole] = whole
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def seeded_where_made(tree: ast.AST, owner: ast.expr) -> str:
    """The call that makes what `owner` names, with a seed, and its line.

    "" where no library of the file's imports is seen to make it.
    """
    bound = packages(tree)
    for target, value, line in _assigned(tree):
        if ast.unparse(target) != ast.unparse(owner) or not isinstance(value, ast.Call):
            continue
        if word := word_of(value, bound):
            return f"{ast.unparse(target)} = {with_seed(value, word)}  # line {line}"
    return ""


def word_of(call: ast.Call, bound: Mapping[str, str]) -> str:
    """The word for a seed in the library that is called; "" where that is not known."""
    package = bound.get(_root(call.func), "").partition(".")[0]
    return "random_state" if package in _RANDOM_STATE else ""


def with_seed(call: ast.Call, word: str) -> str:
    """A call with seed 0, in place of the one that it has."""
    kept = [keyword for keyword in call.keywords if keyword.arg != word]
    seed = ast.keyword(arg=word, value=ast.Constant(0))
    return ast.unparse(ast.Call(func=call.func, args=call.args, keywords=[*kept, seed]))


def _assigned(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from ((target, node.value, node.lineno) for target in node.targets)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield node.target, node.value, node.lineno


def _root(node: ast.expr) -> str:
    """`env` of `env.action_space.sample`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
