"""Where in the user's code a control acted, and the fix that fits what is called there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reprocheck.causes.usercode import UserCode
from reprocheck.files.imports import bound_to
from reprocheck.fixes.seeds import NO_ADVICE, Advice, keep_order, seeded_call
from reprocheck.model import SourceLine, Touch
from reprocheck.rules import likely
from reprocheck.search.arm_runs import IMPORTED, Judged

PRIVATE = "private-rng"
_SET_AT_IMPORT = ("seed", "deterministic", "single-thread", "no-compile")
"""Controls that act as a framework is imported, and not where the script draws or computes: of
these, the lines that draw afterwards are known.
"""
_KEEPS_ORDER = "maintain_order"
"""The argument of Polars by which rows keep their order."""
_IMPORTS = ("import ", "from ")
"""How lines begin that import."""
_KERNEL = "aten::"
"""Kernels that every operator may call: that they were touched says nothing of the line, but for
one that asks for memory that is not filled.
"""
_UNFILLED = re.compile(r"empty\w*\(|\bresize_\w*\(|\bskip_init\(|\bUninitialized|Tensor\(")


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A line at which a control acted, what it acted on, and the advice that fits.

    line    the line of the user's code
    what    the call or value that the control acted on
    advice  how to fix the line
    draws   whether the control acted on something that draws random numbers
    seed    the line that makes a seed of what was read there; None if there is no such line
    """

    line: SourceLine
    what: str
    advice: Advice = NO_ADVICE
    draws: bool = False
    seed: SourceLine | None = None


def acted_at(code: UserCode, under: Judged) -> dict[str, tuple[Place, ...]]:
    """Return control -> places at which it acted in the runs that agree, the first place first.

    Controls without a known line are left out.
    """
    touches = under.runs[0].controls.touches
    found = {name: tuple(_places(touches, name, code)) for name in under.names}
    return {name: places for name, places in found.items() if places}


def _places(touches: Iterable[Touch], name: str, code: UserCode) -> Iterator[Place]:
    """Yield the lines at which a control acted, without imports.

    A draw of a library at its import seldom differs.
    """
    of_control = (touch for touch in touches if touch.control == name)
    for touch in of_control:
        is_kernel = touch.what.startswith(_KERNEL)
        drawing = {one.source for one in touch.lines if one.draws}
        for source, takes in seed_takers(touch).items():
            line = code.with_text(source)
            if name in _SET_AT_IMPORT and source not in drawing:
                continue
            if line is None or line.text.lstrip().startswith(_IMPORTS):
                continue
            if is_kernel and _UNFILLED.search(line.text) is None:
                continue
            yield Place(
                line=line,
                what=touch.what,
                advice=_advice(name, code, line, takes, touch.what),
                draws=source in drawing,
                seed=code.seed_made_of(line) if name in likely.table().reads else None,
            )


def seed_takers(touch: Touch) -> dict[SourceLine, str]:
    """Return line -> how a call of the line takes a seed.

    Of several calls on one line the first that takes a seed counts.
    """
    takers: dict[SourceLine, str] = {}
    for touched in touch.lines:
        if touched.takes != IMPORTED:
            takers[touched.source] = takers.get(touched.source) or touched.takes
    return takers


def _advice(name: str, code: UserCode, line: SourceLine, takes: str, what: str) -> Advice:
    """Return how to seed what draws random numbers on a line at which a control acted."""
    if what.startswith(_KEEPS_ORDER):
        return keep_order(_KEEPS_ORDER)
    if name != PRIVATE:
        return NO_ADVICE
    tree = code.tree(line.file)
    return seeded_call(line, tree, takes, bound_to(tree))
