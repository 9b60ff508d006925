"""How an object of a library is given a seed: where it is made, by the word of its library."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from reprocheck.causes.imports import bound_to
from reprocheck.scan.syntax import targets

_WORDS: Mapping[str, str] = dict.fromkeys(
    ("sklearn", "imblearn", "pandas", "umap", "hdbscan", "xgboost", "lightgbm", "skopt"),
    "random_state",
)
"""Package -> the word by which its functions and classes take their seed."""


def seeded_where_made(tree: ast.AST, owner: ast.expr) -> str:
    """Return the call that makes what `owner` names, with a seed, and its line.

    "" where no library of the file's imports is seen to make it.
    """
    bound = bound_to(tree)
    name = ast.unparse(owner)
    if name == "self.np_random" and "super().reset(" not in ast.unparse(tree):
        return "super().reset(seed=seed)  # at the top of reset(): Gymnasium seeds np_random there"
    for target, call, line in _made(tree):
        word = word_of(call, bound)
        if word and ast.unparse(target) == name:
            return f"{name} = {with_seed(call, word)}  # line {line}"
    return ""


def word_of(call: ast.Call, bound: Mapping[str, str]) -> str:
    """Return the word for a seed in the library that is called; "" where that is not known."""
    package = bound.get(root_of(call.func), "")
    return _WORDS.get(package, "")


def with_seed(call: ast.Call, word: str) -> str:
    """Return a call with seed 0, in place of the one that it has."""
    kept = [keyword for keyword in call.keywords if keyword.arg != word]
    seed = ast.keyword(arg=word, value=ast.Constant(0))
    return ast.unparse(ast.Call(func=call.func, args=call.args, keywords=[*kept, seed]))


def _made(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.Call, int]]:
    """Yield what is given the result of a call, the call, and the line."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(value=ast.Call() as call) | ast.AnnAssign(value=ast.Call() as call):
                for target in targets(node):
                    yield target, call, node.lineno


def root_of(node: ast.expr) -> str:
    """`env` of `env.action_space.sample`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return name_of(node)


def name_of(node: ast.expr) -> str:
    """Return the name that an expression is; "" of another one."""
    if isinstance(node, ast.Name):
        return node.id
    return ""
