"""Why the runs differ: entries of the catalogue that fit what the ladder shows, best first, each with its evidence and a fix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from reprocheck.explain.refusals import refusal
from reprocheck.explain.suspects import Look, Suspect, suspects
from reprocheck.explain.usercode import UserCode
from reprocheck.model import Cause, Check
from reprocheck.rules import entry

MOST = 5
"""Causes named at most."""
VAGUE = ("RC604", "RC605")
"""Causes that say what happens and not why: another one that fits is preferred."""


def causes(check: Check, folder: str | Path) -> tuple[Cause, ...]:
    """The causes of a check whose ladder is there, best first; none where the ladder is equal on all rungs.

    Without a ladder: what the error of a failed script says, and files that run 1 left for run 2.
    """
    code = UserCode(check, Path(folder))
    frameworks = _frameworks(check, code)
    found: dict[str, Cause] = {}
    for cause in (_cause(suspect, frameworks, code) for suspect in _suspects(check, frameworks, code)):
        found[cause.code] = _joined(found[cause.code], cause) if cause.code in found else cause
    code.keep()
    return tuple(found.values())[:MOST]


def _suspects(check: Check, frameworks: tuple[str, ...], code: UserCode) -> Iterator[Suspect]:
    if refused := refusal(check, code.sources.shown):
        run, error = refused
        yield Suspect(name=error.name, evidence=error.evidence(run.number), source=error.source)
    if check.ladder is None:
        if check.state_left and check.verdict.verdict == "not_reproducible":
            yield Suspect(
                name="state-left", confidence="suspected", evidence=(f"A later run read {check.state_left[0]}, which run 1 wrote.",)
            )
        return
    rung = check.ladder.first_rung
    if rung is None:
        if not check.ladder.came_back:
            yield Suspect(name="intermittent-difference", confidence="suspected", evidence=("The runs that were recorded again agreed.",))
        return
    rung = replace(rung, source=code.with_text(rung.source))
    for suspect in suspects(Look(check=check, ladder=check.ladder, rung=rung, code=code, frameworks=frameworks)):
        yield replace(suspect, evidence=(*([rung.detail] if rung.detail else []), *suspect.evidence), source=suspect.source or rung.source)


def _cause(suspect: Suspect, frameworks: Iterable[str], code: UserCode) -> Cause:
    known = entry(suspect.name)
    return Cause(
        code=known.code,
        title=known.title,
        confidence=suspect.confidence,
        evidence=suspect.evidence,
        source=code.with_text(suspect.source),
        fix=suspect.fix or known.fix_for(frameworks),
    )


def _joined(first: Cause, again: Cause) -> Cause:
    """One cause that was found twice: the first, with the evidence of both."""
    return replace(first, evidence=tuple(dict.fromkeys((*first.evidence, *again.evidence))))


def _frameworks(check: Check, code: UserCode) -> tuple[str, ...]:
    """Frameworks of run 1, those first that the user's files import: frameworks import each other. Then those that record losses."""
    names = [name for run in check.runs[:1] for trace in run.traces for name in trace.frameworks]
    names += [name for run in check.runs[:1] for name in run.frameworks]
    return tuple(sorted(dict.fromkeys(names), key=lambda name: name not in code.imports))
