"""What a search did: the sets of controls that it tried, and what controls changed in the runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from reprocheck import rules
from reprocheck.model import Cause, Search, Tried, Verdict
from reprocheck.model.controls import controls_in, fixes_in
from reprocheck.model.reason import Reason
from reprocheck.model.statements.fixes import CatalogueFix
from reprocheck.model.statements.search import ArmNote, SeenUnder
from reprocheck.search.arm_runs import Judged
from reprocheck.search.arms import Book

_Item = TypeVar("_Item")


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """The search, and the causes as they are after the search."""

    search: Search
    causes: tuple[Cause, ...]


def account(book: Book) -> Search:
    """Return a search without a result: the overrides of all arms, and the sets that were tried.

    An arm is the runs under one set of controls.
    """
    did = [run.controls for judged in book.judged for run in judged.runs]
    verdict = book.check.verdict
    as_is = Tried(
        controls=(),
        runs=len(book.check.runs),
        agrees=_by_the_criterion(verdict),
        bitwise=verdict.bitwise.equal,
        notes=(ArmNote(hindrance="as in the check"),),
        diverges_from=verdict.diverges_from,
    )
    return Search(
        tried=(as_is, *(_tried(judged, book.reason(judged)) for judged in book.judged)),
        overrides=_once(chain.from_iterable(one.overrides for one in did)),
        unavailable=_once(chain.from_iterable(one.unavailable for one in did)),
    )


def _once(items: Iterable[_Item]) -> tuple[_Item, ...]:
    """Return items in their order without repetition.

    They are compared by `repr` because they may be unhashable.
    """
    return tuple({repr(item): item for item in items}.values())


def _tried(judged: Judged, why: Reason | str) -> Tried:
    row = Tried(
        controls=controls_in(judged.names),
        fixes=fixes_in(judged.names),
        runs=len(judged.runs),
        agrees=None,
        bitwise=None,
        patched=judged.patched,
        acted=tuple(filter(judged.acted.__contains__, judged.names)),
        reference=judged.reference,
        spared=tuple(one.replace("@", " at ") for one in judged.spared),
        reason=why.key if isinstance(why, Reason) else "",
        notes=(_note(judged, why),),
        says=judged.failed.last_words if judged.failed else "",
    )
    if judged.untried:
        return row
    return replace(
        row,
        agrees=_by_the_criterion(judged.verdict),
        bitwise=judged.verdict.bitwise.equal,
        suffices=judged.agrees,
        another_from=judged.later,
        diverges_from=judged.verdict.diverges_from,
    )


def _note(judged: Judged, why: Reason | str) -> ArmNote:
    """Return why the runs of an arm were made, or what prevented an answer, such as a timeout."""
    note = ArmNote(why=why)
    if judged.untried:
        return replace(note, hindrance="not taken")
    refusal, failed = judged.refusal, judged.failed
    if refusal:
        at = refusal.source.at if refusal.source else ""
        what = refusal.operator or refusal.message
        return replace(note, hindrance="refused", what=what, at=at)
    if failed and failed.record.ended == "timed_out":
        return replace(note, hindrance="took too long", run=failed.number)
    if failed:
        return replace(note, hindrance="failed", run=failed.number, what=failed.last_words)
    if judged.within_tolerance_only:
        return replace(note, hindrance="within tolerance")
    if judged.reference:
        return replace(note, hindrance="one run", beside=judged.reference)
    if judged.agrees and judged.names and not judged.acted:
        return replace(note, hindrance="nothing acted")
    return note


def _by_the_criterion(verdict: Verdict) -> bool | None:
    """Return whether runs agree by the criterion of the check; None if the verdict is undecided."""
    if verdict.verdict not in ("reproducible", "not_reproducible"):
        return None
    return verdict.passed


def refusals(book: Book) -> Iterator[Cause]:
    """Yield a cause for each error of deterministic mode under a control, each once."""
    seen: set[str] = set()
    for judged in book.judged:
        error, run = judged.refusal, judged.failed
        if error is None or run is None or error.message in seen:
            continue
        seen.add(error.message)
        known = rules.entry(error.name)
        yield Cause(
            code=known.code,
            title=known.title,
            confidence="observed",
            statements=(*error.statements(run.number), SeenUnder(names=judged.names)),
            source=error.source,
            remedy=CatalogueFix(code=known.code, keys=(error.framework,)),
        )
