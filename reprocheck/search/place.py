"""Where in the user's code a control acted, and the fix that fits what is called there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from reprocheck.causes.imports import bound_to
from reprocheck.causes.usercode import UserCode
from reprocheck.model import SourceLine, Touch
from reprocheck.search import words
from reprocheck.search.judged import IMPORTED, Judged
from reprocheck.search.seeded_line import calls_of, is_unseeded, last, makes_one, seeded_line
from reprocheck.search.seeds_of_libraries import (
    root_of,
    seeded_where_made,
    with_seed,
    word_of,
)

PRIVATE = "private-rng"
_READ = ("entropy", "clock")
"""Controls of what a line reads from the system."""
_SET_AT_IMPORT = ("seed", "deterministic", "single-thread", "no-compile")
"""Controls that act as a framework is imported, and not where the script draws or computes: of
these, the lines that draw afterwards are known.
"""
_SEED_WORDS = ("seed", "entropy", "x")
"""What the first argument of these is called."""
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
    """Return how the generator gets a seed that is made on a line where a control acted.

    `tree`: that of the line's file, in which it has this number. `takes`: how a call of the line
    was seen to take a seed. `what`: what the control acted on there.
    """
    if what.startswith(_KEEPS_ORDER):
        return Advice(hint=words.keep_order(_KEEPS_ORDER))
    calls = calls_of(text)
    if name != PRIVATE or not calls:
        return Advice()
    is_bare = is_unseeded(calls)
    here = seeded_line(text, what) if is_bare else _seeded_here(calls, tree, takes)
    if here and _runs_often(tree, line):
        return Advice(hint=words.seed_each_time())
    if here or is_bare:
        # where the line makes its generator without a seed, the fix of the cause says the rest
        return Advice(fix=here)
    elsewhere = _seeded_elsewhere(calls, tree, takes)
    if elsewhere:
        return Advice(fix=elsewhere)
    return Advice(hint=_where_to_look(calls, tree))


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


def _seeded_here(calls: Sequence[ast.Call], tree: ast.AST, takes: str) -> str:
    """Return a call of the line with a seed: `env.reset(seed=0)` where `reset(seed)` was seen to be
    called, or the word for a seed of its library is known; else "".
    """
    made = next(filter(None, map(_with_a_seed, calls)), "")
    seen, word = _seen(calls, takes)
    if made:
        return made
    if seen is not None and word:
        return with_seed(seen, word)
    bound = bound_to(tree)
    word = word_of(calls[0], bound)
    if word and not _methods(calls, bound):
        return with_seed(calls[0], word)
    return ""


def _seeded_elsewhere(calls: Sequence[ast.Call], tree: ast.AST, takes: str) -> str:
    """Return a line of its own: `space.seed(0)` where `sample.seed` was seen to be called, or what
    makes the object, with a seed; else "".
    """
    seen, word = _seen(calls, takes)
    if seen is not None and not word and isinstance(seen.func, ast.Attribute):
        owner = ast.unparse(seen.func.value)
        return f"{owner}.seed(0)  # before {ast.unparse(seen.func)}()"
    methods = _methods(calls, bound_to(tree))
    if methods:
        return seeded_where_made(tree, methods[-1].value)
    return ""


def _seen(calls: Sequence[ast.Call], takes: str) -> tuple[ast.Call | None, str]:
    """Return the call of a line that was seen to take a seed, and by which word; none by a method
    of its own.
    """
    called, _, word = takes.rstrip(")").partition("(")
    by_name = {last(call.func): call for call in reversed(calls)}
    return by_name.get(called.partition(".")[0]), word


def _methods(calls: Sequence[ast.Call], bound: Mapping[str, str]) -> list[ast.Attribute]:
    """Return the methods of objects that are called, not the functions of imported modules."""
    no_object = {*bound, ""}
    called = (call.func for call in calls)
    attributes = (one for one in called if isinstance(one, ast.Attribute))
    return [one for one in attributes if root_of(one) not in no_object]


def _where_to_look(calls: Sequence[ast.Call], tree: ast.AST) -> str:
    """Return what is left to do where nothing shows how a library takes a seed."""
    methods = _methods(calls, bound_to(tree))
    if methods:
        owner = ast.unparse(methods[-1].value)
        return words.seed_where_made(owner, ast.unparse(methods[-1]))
    return words.seed_inside(ast.unparse(calls[0].func))


def _with_a_seed(call: ast.Call) -> str:
    """Return the making of a generator with a number for a seed, where a name stands for it now,
    which is None; "" for other calls.
    """
    if not makes_one(call):
        return ""
    by_word = (word.value for word in call.keywords if word.arg in _SEED_WORDS)
    given = next(chain(call.args, by_word), None)
    if not isinstance(given, ast.Name | ast.Attribute):
        return ""
    return (
        f"{ast.unparse(call.func)}(0)  # `{ast.unparse(given)}` is None here: pass it a number, or"
        " make one its default"
    )


def _parsed(text: str | None) -> ast.Module:
    """Return the tree of a file; an empty one where its text is not known."""
    try:
        return ast.parse(text or "")
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])
