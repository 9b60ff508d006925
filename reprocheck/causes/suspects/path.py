"""Choose suspects for runs that take different paths through the code.

A line may show what decides the path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reprocheck.causes.evidence import Recorded
from reprocheck.causes.suspects.inspection import Look, Suspect, called, line_does, of_hint
from reprocheck.causes.usercode import Hint, UserCode
from reprocheck.model import SourceLine
from reprocheck.model.statements.causes import Doing

BY_CLOCK, BY_SYSTEM = "clock path", "system path"
"""Kinds of hints: the clock, or what the system gives, decides which branch the program takes."""
_DECIDES: Mapping[str, Doing] = {
    BY_CLOCK: "the clock at a branch",
    BY_SYSTEM: "the system at a branch",
}
_A_LOOP = """\
# continue for a number of steps, not for a time: that number differs in each run
for step in range(number_of_steps):  # instead of: {text}"""
_A_LIMIT = """\
# decide by the number of the step, not by the clock
if step >= number_of_steps:  # instead of: {text}"""
_A_DRAW = """\
import random

choices = random.Random(0)  # once, at the start: a generator with a seed
if choices.random() < 0.5:  # instead of: {text}"""


def other_path(look: Look) -> Iterator[Suspect]:
    """Yield the suspect for different paths, with a line on which clock or system decides."""
    shown = look.recorded("path differs")
    decides = look.hint(BY_CLOCK, BY_SYSTEM)
    if decides is not None:
        yield _decided(decides, shown)
        return
    system = look.hint("entropy", "clock")
    said = of_hint(system, "the system or the clock")
    yield Suspect(name="different-path", shown=shown, statements=said, calls=called(system))


def by_clock(code: UserCode, near: SourceLine | None = None) -> Iterator[Suspect]:
    """Yield the suspect that the clock decides the path.

    It has no facts, because the record does not show what decided.
    """
    clock = code.of(BY_CLOCK, near=near)
    if clock is not None:
        yield _decided(clock, ())


def _decided(by: Hint, shown: tuple[Recorded, ...]) -> Suspect:
    return Suspect(
        name="different-path",
        shown=shown,
        statements=(line_does(by, _DECIDES[by.kind]),),
        source=by.source,
        fix=_fix(by),
        calls=called(by),
    )


def _fix(decides: Hint) -> str:
    """Return what to write instead of the line that decides the path."""
    text = decides.source.text.strip()
    if decides.kind == BY_SYSTEM:
        return _A_DRAW.format(text=text)
    if text.startswith("while "):
        return _A_LOOP.format(text=text)
    return _A_LIMIT.format(text=text)
