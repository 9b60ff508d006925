"""Why the runs differ: entries of the catalogue that fit what the ladder shows, best first, each
with its evidence and a fix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from reprocheck.causes.evidence import Recorded, confidence
from reprocheck.causes.frameworks import of_place
from reprocheck.causes.refusals import refusal
from reprocheck.causes.suspects import Look, Suspect, suspects
from reprocheck.causes.suspects.path import by_clock
from reprocheck.causes.usercode import UserCode
from reprocheck.fixes.advice import advised, with_names_of
from reprocheck.model import Cause, Check, Ladder, Rung
from reprocheck.model.evidence import GivenOtherwise
from reprocheck.model.statement import Statement
from reprocheck.model.statements.causes import Circumstance, FilesOfRun1
from reprocheck.rules import entry

MOST = 5
"""Causes named at most."""


def causes_of(check: Check, folder: str | Path) -> tuple[Cause, ...]:
    """Return the causes of a check whose ladder is there, best first; none where the ladder is
    equal on all rungs.

    Without a ladder: what the error of a failed script says, and files that run 1 left for run 2.
    """
    code = UserCode(check, Path(folder))
    frameworks = of_place(check, code)
    found: dict[str, Cause] = {}
    for suspect in _suspects(check, frameworks, code):
        cause = _cause(check, suspect, frameworks, code)
        if cause.code in found:
            cause = _joined(found[cause.code], cause)
        found[cause.code] = cause
    code.keep()
    return tuple(found.values())[:MOST]


def _suspects(check: Check, frameworks: tuple[str, ...], code: UserCode) -> Iterator[Suspect]:
    yield from _of_error(check)
    ladder = check.ladder
    if ladder is None:
        yield from _of_files(check)
        return
    if ladder.first_rung is None:
        yield from _of_equal_rungs(ladder, code)
        return
    for rung in _looked_at(check, ladder, ladder.first_rung):
        rung = replace(rung, source=code.with_text(rung.source))
        look = Look(check=check, ladder=ladder, rung=rung, code=code, frameworks=frameworks)
        for suspect in suspects(look):
            statements = (*rung.statements, *suspect.statements)
            yield replace(suspect, statements=statements, source=suspect.source or rung.source)


def _of_error(check: Check) -> Iterator[Suspect]:
    """Yield the operator that a failed run was refused."""
    refused = refusal(check)
    if refused is None:
        return
    run, error = refused
    yield Suspect(
        name=error.name,
        shown=(Recorded(kind="error", of=error.operator or error.name),),
        statements=error.statements(run.number),
        source=error.source,
    )


def _of_files(check: Check) -> Iterator[Suspect]:
    """Yield the files that run 1 left, where no ladder was made."""
    if check.state_left and check.verdict.verdict == "not_reproducible":
        read = FilesOfRun1(first=check.state_left[0])
        yield Suspect(name="state-left", statements=(read,))


def _of_equal_rungs(ladder: Ladder, code: UserCode) -> Iterator[Suspect]:
    """Yield what the first runs had and those that were recorded again had not."""
    if ladder.came_back:
        return
    agreed = Circumstance(kind="repeated runs agree")
    yield Suspect(name="intermittent-difference", statements=(agreed,))
    yield from by_clock(code)


def _looked_at(check: Check, ladder: Ladder, first: Rung) -> Iterator[Rung]:
    """Yield the first rung; behind what two sides were given, the first of the training; and one
    that follows from neither.
    """
    yield first
    below = check.training_rung
    if isinstance(first.evidence, GivenOtherwise) and below is not None:
        yield below
    if ladder.independent is not None:
        yield ladder.rung(ladder.independent)


def _cause(check: Check, suspect: Suspect, frameworks: Sequence[str], code: UserCode) -> Cause:
    known = entry(suspect.name)
    cause = Cause(
        code=known.code,
        title=known.title_for(frameworks),
        confidence=confidence(suspect.name, suspect.shown),
        statements=suspect.statements,
        calls=suspect.calls,
        source=code.with_text(suspect.source),
    )
    if suspect.fix:
        return replace(cause, remedy=suspect.fix, fix_from="place")
    return with_names_of(code.module_names, advised(check, cause, frameworks))


def _joined(first: Cause, again: Cause) -> Cause:
    """Return one cause that was found twice: the first, with the evidence of both."""
    statements = stated_once(first, again)
    return replace(first, statements=statements, calls=(*first.calls, *again.calls))


def stated_once(first: Cause, again: Cause) -> tuple[Statement | str, ...]:
    """Return what speaks for either of two causes, each once: statements that hold recorded values
    cannot be hashed.
    """
    new = (one for one in again.statements if one not in first.statements)
    return (*first.statements, *new)
