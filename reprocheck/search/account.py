"""What a search did: the sets of controls that it tried, and what controls changed in the runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from reprocheck import rules
from reprocheck.language import tr
from reprocheck.model import Cause, Search, Tried, Verdict
from reprocheck.model.reason import Reason
from reprocheck.model.statements.fixes import CatalogueFix
from reprocheck.search import words
from reprocheck.search.arms import Book
from reprocheck.search.asked import controls_in, fixes_in
from reprocheck.search.judged import Judged

_Item = TypeVar("_Item")


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """The search with the causes as it leaves them."""

    search: Search
    causes: tuple[Cause, ...]


def account(book: Book) -> Search:
    """Return a search without a result: overrides of all arms, and what was tried."""
    did = [run.controls for judged in book.judged for run in judged.runs]
    return Search(
        tried=(
            _as_is(book),
            *map(_row, book.judged, map(book.reason, book.judged)),
        ),
        overrides=_once(chain.from_iterable(one.overrides for one in did)),
        unavailable=_once(chain.from_iterable(one.unavailable for one in did)),
    )


def _once(items: Iterable[_Item]) -> tuple[_Item, ...]:
    """Return items in their order, without repetition: values of the user's need not be
    hashable.
    """
    return tuple({repr(item): item for item in items}.values())


def _as_is(book: Book) -> Tried:
    verdict = book.check.verdict
    return Tried(
        controls=(),
        runs=len(book.check.runs),
        agrees=_by_the_criterion(verdict),
        bitwise=verdict.bitwise.equal,
        note=tr(words.AS_IN_THE_CHECK),
        diverges_from=verdict.diverges_from,
    )


def _row(judged: Judged, why: Reason | str) -> Tried:
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
        note=words.note(judged, why),
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


def _by_the_criterion(verdict: Verdict) -> bool | None:
    """Return whether runs agree by it; None where it could not decide."""
    if verdict.verdict not in ("reproducible", "not_reproducible"):
        return None
    return verdict.passed


def refusals(book: Book) -> Iterator[Cause]:
    """Errors of deterministic mode under a control, each once: findings by themselves."""
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
            statements=(*error.statements(run.number), words.seen_under(judged.names)),
            source=error.source,
            remedy=CatalogueFix(code=known.code, keys=(error.framework,)),
        )
