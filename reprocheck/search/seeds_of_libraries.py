"""How an object of a library is given a seed: where it is made, by the word of its library."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from reprocheck.causes.imports import bound_to

_RANDOM_STATE = ("sklearn", "imblearn", "pandas", "umap", "hdbscan", "xgboost", "lightgbm", "skopt")
"""Packages whose functions and classes take their seed as `random_state`."""


def seeded_where_made(tree: ast.AST, owner: ast.expr) -> str:
    """The call that makes what `owner` names, with a seed, and its line.

    "" where no library of the file's imports is seen to make it.
    """
    bound = bound_to(tree)
    name = ast.unparse(owner)
    for target, value, line in _assigned(tree):
        if not isinstance(value, ast.Call) or ast.unparse(target) != name:
            continue
        if word := word_of(value, bound):
            return f"{name} = {with_seed(value, word)}  # line {line}"
    return ""


def word_of(call: ast.Call, bound: Mapping[str, str]) -> str:
    """The word for a seed in the library that is called; "" where that is not known."""
    package = bound.get(root_of(call.func), "")
    return "random_state" if package in _RANDOM_STATE else ""


def with_seed(call: ast.Call, word: str) -> str:
    """A call with seed 0, in place of the one that it has."""
    kept = [keyword for keyword in call.keywords if keyword.arg != word]
    seed = ast.keyword(arg=word, value=ast.Constant(0))
    return ast.unparse(ast.Call(func=call.func, args=call.args, keywords=[*kept, seed]))


def _assigned(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None, int]]:
    """What is given a value, the value, and the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from ((target, node.value, node.lineno) for target in node.targets)
        elif isinstance(node, ast.AnnAssign):
            yield node.target, node.value, node.lineno


def root_of(node: ast.expr) -> str:
    """`env` of `env.action_space.sample`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
