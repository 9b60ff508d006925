"""How a call that draws gets a seed, as far as a run has shown how it takes one. What the scan
knows of the line comes before that.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from reprocheck.model import SourceLine
from reprocheck.model.statement import Statement
from reprocheck.model.statements.fixes import KeepOrder, SeedCall

_REPEATING = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.For, ast.While),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """How a generator made on a line gets a seed; empty if the cause's own fix says it.

    fix   code to paste
    hint  what to look for, if nothing shows how a library takes a seed
    """

    fix: str = ""
    hint: Statement | None = None


NO_ADVICE = Advice()


def keep_order(argument: str) -> Advice:
    """Return what to do if a call returns its rows in another order each time."""
    return Advice(hint=KeepOrder(argument=argument))


def seeded_call(line: SourceLine, tree: ast.AST, takes: str, modules: Collection[str]) -> Advice:
    """Return how the call of a line gets a seed.

    tree     the syntax tree of the file
    takes    how a call of the line was seen to take a seed: `reset(seed)` by an argument,
             `sample.seed` by a method of the same object; "" if none was seen
    modules  names that imports bind in the file
    """
    calls = _calls_of(line.text)
    if not calls:
        return NO_ADVICE
    called, _, word = takes.rstrip(")").partition("(")
    # `default_rng` of `np.random.default_rng`
    by_name = {ast.unparse(call.func).rpartition(".")[2]: call for call in reversed(calls)}
    seen = by_name.get(called.partition(".")[0])
    each_time = Advice(hint=SeedCall(kind="each time"))
    if seen is not None and word:
        if _runs_often(tree, line.line):
            return each_time
        others = [keyword for keyword in seen.keywords if keyword.arg != word]
        seed = ast.keyword(arg=word, value=ast.Constant(0))
        seeded = ast.Call(func=seen.func, args=seen.args, keywords=[*others, seed])
        return Advice(fix=ast.unparse(seeded))
    if seen is not None and isinstance(seen.func, ast.Attribute):
        owner = ast.unparse(seen.func.value)
        return Advice(fix=f"{owner}.seed(0)  # before {ast.unparse(seen.func)}()")
    # the method of an object, which got its generator where it was made
    attributes = [call.func for call in calls if isinstance(call.func, ast.Attribute)]
    roots = {one: ast.unparse(one).partition(".")[0] for one in attributes}
    methods = [one for one in attributes if roots[one].isidentifier() and roots[one] not in modules]
    if methods:
        method = methods[-1]
        owner, call = ast.unparse(method.value), ast.unparse(method)
        return Advice(hint=SeedCall(kind="where its owner is made", call=call, owner=owner))
    if _runs_often(tree, line.line):
        return each_time
    return Advice(hint=SeedCall(kind="by an argument", call=ast.unparse(calls[0].func)))


def _calls_of(text: str) -> list[ast.Call]:
    """Return the calls of a line that holds a whole statement, or the head of one: the outermost
    first.
    """
    statement = text.strip()
    for whole in (statement, f"{statement} pass"):
        with suppress(SyntaxError):
            nodes = ast.walk(ast.parse(whole))
            return [node for node in nodes if isinstance(node, ast.Call)]
    return []


def _runs_often(tree: ast.AST, line: int) -> bool:
    """Return whether a line stands in a loop, or in a function of which nothing shows that it is
    called once.
    """
    nodes = list(ast.walk(tree))
    repeating = [node for node in nodes if isinstance(node, _REPEATING)]
    for node in repeating:
        is_around = node.lineno < line <= (node.end_lineno or 0)
        if is_around and not _is_called_once(node, nodes, repeating):
            return True
    return False


def _is_called_once(
    function: ast.stmt | ast.expr,
    nodes: Sequence[ast.AST],
    repeating: Sequence[ast.stmt | ast.expr],
) -> bool:
    """Return whether a function is called at one place only, outside of functions and loops."""
    name = getattr(function, "name", "")
    uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    calls = [node.func for node in nodes if isinstance(node, ast.Call) and node.func in uses]
    if len(uses) != 1 or calls != uses:
        return False
    line = uses[0].lineno
    return not any(node.lineno <= line <= (node.end_lineno or 0) for node in repeating)
