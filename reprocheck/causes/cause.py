"""Why the runs differ: entries of the catalogue that fit what the ladder shows, best first, each
with its evidence and a fix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from reprocheck.causes.evidence import Recorded, confidence
from reprocheck.causes.fixes import fix_of
from reprocheck.causes.frameworks import of_place
from reprocheck.causes.refusals import refusal
from reprocheck.causes.suspects import Look, Suspect, suspects
from reprocheck.causes.suspects.path import by_clock
from reprocheck.causes.usercode import UserCode
from reprocheck.model import Cause, Check, Ladder, Rung
from reprocheck.model.evidence import GivenOtherwise
from reprocheck.rules import entry

MOST = 5
"""Causes named at most."""


def causes_of(check: Check, folder: str | Path) -> tuple[Cause, ...]:
    """The causes of a check whose ladder is there, best first; none where the ladder is equal on
    all rungs.

    Without a ladder: what the error of a failed script says, and files that run 1 left for run 2.
    """
    code = UserCode(check, Path(folder))
    frameworks = of_place(check, code)
    found: dict[str, Cause] = {}
    for cause in (
        _cause(check, suspect, frameworks, code) for suspect in _suspects(check, frameworks, code)
    ):
        found[cause.code] = _joined(found[cause.code], cause) if cause.code in found else cause
    code.keep()
    return tuple(found.values())[:MOST]


def _suspects(check: Check, frameworks: tuple[str, ...], code: UserCode) -> Iterator[Suspect]:
    if refused := refusal(check):
        run, error = refused
        shown = (Recorded(kind="error", of=error.operator or error.name),)
        yield Suspect(
            name=error.name, shown=shown, evidence=error.evidence(run.number), source=error.source
        )
    if check.ladder is None:
        if check.state_left and check.verdict.verdict == "not_reproducible":
            yield Suspect(
                name="state-left",
                evidence=(f"A later run read {check.state_left[0]}, which run 1 wrote.",),
            )
        return
    rung = check.ladder.first_rung
    if rung is None:
        if not check.ladder.came_back:
            yield Suspect(
                name="intermittent-difference",
                evidence=("The runs that were recorded again agreed.",),
            )
            yield from by_clock(code)
        return
    for one in _looked_at(check.ladder, rung):
        one = replace(one, source=code.with_text(one.source))
        said = (one.detail,) if one.detail else ()
        for suspect in suspects(
            Look(check=check, ladder=check.ladder, rung=one, code=code, frameworks=frameworks)
        ):
            yield replace(
                suspect, evidence=(*said, *suspect.evidence), source=suspect.source or one.source
            )


def _looked_at(ladder: Ladder, first: Rung) -> list[Rung]:
    """The first rung; behind what two sides were given, the first of the training; and one that
    follows from neither.
    """
    given = isinstance(first.evidence, GivenOtherwise)
    below = ladder.first_of_training if given else None
    independent = ladder.rung(ladder.independent) if ladder.independent is not None else None
    return [rung for rung in (first, below, independent) if rung is not None]


def _cause(check: Check, suspect: Suspect, frameworks: Sequence[str], code: UserCode) -> Cause:
    known = entry(suspect.name)
    return Cause(
        code=known.code,
        title=known.title_for(frameworks),
        confidence=confidence(suspect.name, suspect.shown),
        evidence=suspect.evidence,
        calls=suspect.calls,
        source=code.with_text(suspect.source),
        fix=suspect.fix or fix_of(check, known, frameworks),
    )


def _joined(first: Cause, again: Cause) -> Cause:
    """One cause that was found twice: the first, with the evidence of both."""
    evidence = tuple(dict.fromkeys((*first.evidence, *again.evidence)))
    return replace(first, evidence=evidence, calls=(*first.calls, *again.calls))
