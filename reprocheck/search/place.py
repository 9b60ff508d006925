"""Where in the user's code a control acted, and the fix that fits what is called there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from reprocheck.causes.imports import bound_to
from reprocheck.causes.usercode import UserCode
from reprocheck.model import SourceLine, Touch
from reprocheck.search import words
from reprocheck.search.judged import IMPORTED, Judged

PRIVATE = "private-rng"
_READ = ("entropy", "clock")
"""Controls of what a line reads from the system."""
_SET_AT_IMPORT = ("seed", "deterministic", "single-thread", "no-compile")
"""Controls that act as a framework is imported, and not where the script draws or computes: of
these, the lines that draw afterwards are known.
"""
_IMPORTS = ("import ", "from ")
"""How lines begin that import."""
_REPEATING = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.For, ast.While),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_KERNEL = "aten::"
"""Kernels that every operator may call: that they were touched says nothing of the line, but for
one that asks for memory that is not filled.
"""
_KEEPS_ORDER = "maintain_order"
"""The argument of Polars by which rows keep their order."""
_UNFILLED = re.compile(r"empty\w*\(|\bresize_\w*\(|\bskip_init\(|\bUninitialized|Tensor\(")


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """How what is made on a line gets a seed; both "" where the cause's own fix says it.

    fix   code to paste
    hint  what to look for, where nothing shows how a library takes a seed
    """

    fix: str = ""
    hint: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A line of the user's at which a control acted, on what, and the advice that fits it.

    draws: whether what the control acted on there draws random numbers. seed: the line that makes a
    seed of what it read there; None where none does.
    """

    line: SourceLine
    what: str
    advice: Advice = Advice()
    draws: bool = False
    seed: SourceLine | None = None


def acted_at(code: UserCode, under: Judged) -> dict[str, tuple[Place, ...]]:
    """Control -> where it acted in the runs that agree, the first place first.

    Controls of which no line is known are left out.
    """
    touches = under.runs[0].controls.touches
    found = {name: tuple(_places(touches, name, code)) for name in under.names}
    return {name: places for name, places in found.items() if places}


def _places(touches: Iterable[Touch], name: str, code: UserCode) -> Iterator[Place]:
    """Yield the lines that are no imports: that a library draws as it is imported is seldom what
    differs.
    """
    of_control = (touch for touch in touches if touch.control == name)
    for touch in of_control:
        is_kernel = touch.what.startswith(_KERNEL)
        drawing = {one.source for one in touch.lines if one.draws}
        for source, takes in _known(touch).items():
            line = code.with_text(source)
            if name in _SET_AT_IMPORT and source not in drawing:
                continue
            if line is None or line.text.lstrip().startswith(_IMPORTS):
                continue
            if is_kernel and _UNFILLED.search(line.text) is None:
                continue
            tree = _parsed(code.sources.text(line.file))
            yield Place(
                line=line,
                what=touch.what,
                advice=advice(name, line.text, tree, takes, touch.what, line=line.line),
                draws=source in drawing,
                seed=code.seed_made_of(line) if name in _READ else None,
            )


def _known(touch: Touch) -> dict[SourceLine, str]:
    """Line -> how a call of it takes a seed: the first that does, of several on one line."""
    found: dict[SourceLine, str] = {}
    for one in touch.lines:
        if one.takes != IMPORTED:
            found[one.source] = found.get(one.source) or one.takes
    return found


def advice(
    name: str, text: str, tree: ast.AST, takes: str = "", what: str = "", *, line: int = 0
) -> Advice:
    """Return how what draws on a line where a control acted gets a seed, as far as the run has
    shown it: what the scan knows of the line comes before that.

    `tree`: that of the line's file, in which it has this number. `takes`: how a call of the line
    was seen to take a seed. `what`: what the control acted on there.
    """
    if what.startswith(_KEEPS_ORDER):
        return Advice(hint=words.keep_order(_KEEPS_ORDER))
    calls = _calls_of(text)
    if name != PRIVATE or not calls:
        return Advice()
    called, _, word = takes.rstrip(")").partition("(")
    by_name = {_last(call.func): call for call in reversed(calls)}
    seen = by_name.get(called.partition(".")[0])
    if seen is None:
        return Advice(hint=_where_to_look(calls, tree))
    if word and _runs_often(tree, line):
        return Advice(hint=words.seed_each_time())
    if word:
        return Advice(fix=_with_seed(seen, word))
    if isinstance(seen.func, ast.Attribute):
        owner = ast.unparse(seen.func.value)
        return Advice(fix=f"{owner}.seed(0)  # before {ast.unparse(seen.func)}()")
    return Advice(hint=_where_to_look(calls, tree))


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


def _last(function: ast.expr) -> str:
    """Return `default_rng` of `np.random.default_rng`."""
    return ast.unparse(function).rpartition(".")[2]


def _with_seed(call: ast.Call, word: str) -> str:
    """Return a call with seed 0, in place of the one that it has."""
    others = [keyword for keyword in call.keywords if keyword.arg != word]
    seed = ast.keyword(arg=word, value=ast.Constant(0))
    return ast.unparse(ast.Call(func=call.func, args=call.args, keywords=[*others, seed]))


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
    """Return whether a function is named by one call alone, outside of functions and loops."""
    name = getattr(function, "name", "")
    uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    calls = [node.func for node in nodes if isinstance(node, ast.Call) and node.func in uses]
    if len(uses) != 1 or calls != uses:
        return False
    line = uses[0].lineno
    return not any(node.lineno <= line <= (node.end_lineno or 0) for node in repeating)


def _where_to_look(calls: Sequence[ast.Call], tree: ast.AST) -> str:
    """Return what is left to do where nothing shows how a library takes a seed: a function of a
    module makes its generator, an object got its own where it was made.
    """
    modules = {*bound_to(tree), ""}
    called = (call.func for call in calls)
    attributes = [one for one in called if isinstance(one, ast.Attribute)]
    methods = [one for one in attributes if ast.unparse(one).partition(".")[0] not in modules]
    if methods:
        owner = ast.unparse(methods[-1].value)
        return words.seed_where_made(owner, ast.unparse(methods[-1]))
    return words.seed_inside(ast.unparse(calls[0].func))


def _parsed(text: str | None) -> ast.Module:
    """Return the tree of a file; an empty one where its text is not known."""
    try:
        return ast.parse(text or "")
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])
