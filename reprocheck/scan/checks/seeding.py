"""Find where a missing seed should be set: beside an early seed of the program, else at its top.

Evidence for a patch, by name:

    seed_path     the file to which the patch adds the seed
    seed_beside   the line of the program's call that seeds another generator, whose number the
                  new seed takes
    seed_above    the line of the file above which the seed must come, if there is no such call
    seed_text     the text of the line `seed_above`
    seed_number   the number to take, if the program seeds with this number further down
    seed_keyword  the keyword of the drawing call itself that takes the seed, if it has one
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from reprocheck.language import mark, tr
from reprocheck.scan.checks import streams, tables
from reprocheck.scan.index import holds
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Value, is_none, literal

_NONE_HERE = mark("Give `{word}` a seed: it is `None` here.")
STATE = "random_state"
"""The keyword of scikit-learn and its like."""
_CALLING = (ast.Call, ast.Await, ast.Lambda, ast.NamedExpr, ast.Yield, ast.Starred)


def place(order: Order, draw: Call) -> Mapping[str, str]:
    """Return the evidence where a seed for a draw goes; empty if it cannot be written, as in a
    notebook.
    """
    for seed in streams.seedings(order):
        call = seed.call
        is_written = not is_none(_given(call)) and _is_plain(call)
        is_editable = not call.module.source.cells and not call.module.outside
        if not is_written or not is_editable:
            continue
        is_once = call.happens_once and len(order.at(call.module, call.node)) == 1
        is_sure = set(draw.conditions).issuperset(call.conditions)
        if is_once and is_sure and order.is_before(call, draw):
            return {"seed_beside": str(call.line), **_of_line(call.module, call.line)}
    if order.root.source.cells:
        return {}
    if draw.through:
        _, first_call = draw.through[0]
        line = getattr(first_call, "lineno", 1)
    elif draw.module is order.root:
        line = draw.line
    else:
        imports = (step for step in order.imports() if step.module is order.root)
        lines = [step.line for step in imports if order.is_before(step, draw)]
        line = [1, *lines][-1]
    return {"seed_above": str(line), **_of_line(order.root, line)}


def argument(drawing: streams.Drawing) -> Mapping[str, str]:
    """Return the keyword under which a drawing call takes its seed, and advice if the call already
    has this keyword.
    """
    word = "generator"
    if STATE in drawing.draws.unless:
        word = STATE
    if word in drawing.call.keywords:
        return {"seed_keyword": word, "by_hand": tr(_NONE_HERE, word=word)}
    return {"seed_keyword": word}


def number(seeds: Call) -> Mapping[str, str]:
    """Return the number with which the program seeds later, as evidence; empty if it is no plain
    integer.
    """
    seed = literal(_given(seeds))
    if type(seed) is int:
        return {"seed_number": str(seed)}
    return {}


def _given(seeds: Call) -> Value | None:
    """Return the seed that a seeding call gets; None if it gets or takes none."""
    keyword = _keyword(seeds)
    if not keyword:
        return None
    return seeds.argument(0, keyword)


def _keyword(seeds: Call) -> str:
    """Return the keyword of a seeding call for its seed, as `seed`."""
    return getattr(tables.seeds().get(seeds.name), "keyword", "")


def _of_line(module: Module, line: int) -> Mapping[str, str]:
    return {"seed_path": module.shown, "seed_text": module.source.line(line)}


def _is_plain(seeds: Call) -> bool:
    """Return whether the seed of a seeding call can be written a second time, because it contains
    no call.
    """
    match seeds.node:
        case ast.Call(args=arguments, keywords=keywords):
            named = {one.arg: one.value for one in keywords}
            first = next(iter(arguments), None)
            given = named.get(_keyword(seeds), first)
            return given is not None and not holds(given, *_CALLING)
    return False
