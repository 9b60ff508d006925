"""Choose the entries of the catalogue that fit what the ladder shows.

They are the causes of a difference, the best first, each with evidence and a fix.
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
from reprocheck.model import Cause, Check
from reprocheck.model.evidence import GivenOtherwise
from reprocheck.model.statement import Statement
from reprocheck.model.statements.causes import Circumstance, FilesOfRun1
from reprocheck.rules import entry

MOST = 5
"""Causes named at most."""


def causes_of(check: Check, folder: str | Path) -> tuple[Cause, ...]:
    """Return the causes of a check with a ladder, the best first; none if no rung differs.

    Without a ladder, the error of a failed script and files that run 1 left for run 2 are the
    causes.
    """
    code = UserCode(check, Path(folder))
    frameworks = of_place(check, code)
    found: dict[str, Cause] = {}
    for suspect in _suspects(check, frameworks, code):
        cause = _cause(check, suspect, frameworks, code)
        first = found.get(cause.code)
        if first is not None:
            calls = (*first.calls, *cause.calls)
            cause = replace(first, statements=stated_once(first, cause), calls=calls)
        found[cause.code] = cause
    code.keep()
    return tuple(found.values())[:MOST]


def _suspects(check: Check, frameworks: tuple[str, ...], code: UserCode) -> Iterator[Suspect]:
    refused = refusal(check)
    if refused is not None:
        run, error = refused
        yield Suspect(
            name=error.name,
            shown=(Recorded(kind="error", of=error.operator or error.name),),
            statements=error.statements(run.number),
            source=error.source,
        )
    ladder, first = check.ladder, check.first_rung
    if ladder is None:
        if check.state_left and check.verdict.verdict == "not_reproducible":
            read = FilesOfRun1(first=check.state_left[0])
            yield Suspect(name="state-left", statements=(read,))
        return
    if first is None:
        if not ladder.came_back:
            # what the first runs had, those that were recorded again had not
            agreed = Circumstance(kind="repeated runs agree")
            yield Suspect(name="intermittent-difference", statements=(agreed,))
            yield from by_clock(code)
        return
    rungs = [first]
    if isinstance(first.evidence, GivenOtherwise) and check.training_rung is not None:
        rungs.append(check.training_rung)
    if ladder.independent is not None:
        rungs.append(ladder.rung(ladder.independent))
    for rung in rungs:
        rung = replace(rung, source=code.with_text(rung.source))
        look = Look(check=check, ladder=ladder, rung=rung, code=code, frameworks=frameworks)
        for suspect in suspects(look):
            statements = (*rung.statements, *suspect.statements)
            yield replace(suspect, statements=statements, source=suspect.source or rung.source)


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


def stated_once(first: Cause, again: Cause) -> tuple[Statement | str, ...]:
    """Return the statements of two causes without repetition.

    Statements are compared one by one, because those with recorded values cannot be hashed.
    """
    new = (one for one in again.statements if one not in first.statements)
    return (*first.statements, *new)
