"""The search as a report folder holds it: the runs that it needs next, and its result so far."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from reprocheck.model import Check
from reprocheck.model.reason import Reason, ReasonKey
from reprocheck.model.statements.search import NextToTry, SearchRemark
from reprocheck.search import chance, order
from reprocheck.search.arms import Book
from reprocheck.search.chance import FITTING, wanted
from reprocheck.search.conclusion import result
from reprocheck.search.request import PAIR, Answer, Candidates, Found, Question, Unanswered
from reprocheck.search.sets import find
from reprocheck.search.trial_summary import Result, account, refusals

AS_IS = 4
"""Runs as they are that are wanted where those of the check do not show how they differ."""
AS_IS_MORE, AS_IS_INTERMITTENT = (4, 6), (6, 8)
"""Runs as they are that are wanted where luck can be excluded in fewer runs by them, and where some
of them agree.
"""
FEW = 4
"""Runs that must agree under a set of controls, above which more runs as they are take fewer."""
MOST_RUNS = 8
"""Runs an arm where the difference is intermittent, unless the check was made with more."""


def question(check: Check, folder: Path) -> Question | None:
    """Return the runs that the search in `folder` needs next; None if the search has ended.

    The check has its ladder and the causes that the ladder shows; its record holds the arms made so
    far.
    """
    try:
        conducted(check, folder, Book(check, folder))
    except Unanswered as missing:
        return missing.question
    return None


def decided(check: Check, folder: Path, asked: Question) -> bool:
    """Return whether the recorded runs under the controls of a question answer it."""
    under = Book(check, folder).of(asked.controls, spared=asked.spared)
    return under is not None and under.value == asked.value and under.settles(asked)


def searched(check: Check, folder: Path) -> Result | None:
    """Return the result so far of the search in `folder`.

    None if no search was made, though one is needed.
    """
    book = Book(check, folder)
    if not check.record.arms and not book.nothing_to_try:
        return None
    try:
        found = conducted(check, folder, book)
    except Unanswered as missing:
        asked = missing.question
        under = book.of(asked.controls)
        if asked.spared and under is not None:
            # The set is confirmed: which of its places are needed is not known.
            whole = Found(smallest=asked.controls, runs=len(under.runs))
            return result(check, folder, book, whole)
        search = replace(
            account(book),
            statements=(SearchRemark(kind="broken off"),),
            certainty=(NextToTry(names=asked.controls, why=asked.why),),
            broken_off=True,
        )
        return Result(search=search, causes=(*check.causes, *refusals(book)))
    return result(check, folder, book, found)


def conducted(
    check: Check, folder: Path, book: Book, candidates: Candidates | None = None
) -> Found:
    """Return the result of the search with the answers of `book`. Raises Unanswered.

    No search is needed if the input that the runs were started with explains the difference.
    """
    if book.nothing_to_try:
        return Found()
    if book.sample.intermittent or not book.sample.odd:
        _as_is(book, AS_IS, "how often")
    seen, runs = book.sample, PAIR
    whole = seen.odd > 0
    most = max(len(check.runs), MOST_RUNS)
    if seen.intermittent:
        least = chance.needed(seen, FITTING)
        if least > AS_IS:
            for target in AS_IS_INTERMITTENT:
                _as_is(book, max(len(check.runs), target), "intermittent")
        runs, whole = min(least, most), least <= most
    among = candidates or order.candidates(check, folder)
    if book.sample.intermittent:
        # A patch must not be praised for runs that agree now and then as they are.
        among = replace(among, fixes=())
    needed = partial(_needed, check, book)
    most *= chance.CHOICE_AND_PROOF
    return find(
        *(among, book.ask, needed), runs=runs, most=most, whole=whole, differing=book.differing
    )


def _needed(check: Check, book: Book, names: tuple[str, ...], answer: Answer) -> int:
    """Return how many runs must agree under a set of controls. Raises Unanswered."""
    seen, under = book.sample_beside(names), book.of(names)
    for target in AS_IS_MORE:
        if seen.intermittent or wanted(check, seen, names, under, exact=True) <= FEW:
            break
        _as_is(book, target, "no chance")
    return wanted(check, seen, names, under, exact=answer.exact)


def _as_is(book: Book, target: int, why: ReasonKey) -> None:
    """Raise Unanswered if fewer than `target` runs were made without controls."""
    made, missing = book.made(()), target - book.sample.runs
    if missing > 0 and made < target:
        raise Unanswered(Question(controls=(), runs=made + max(missing, PAIR), why=Reason(key=why)))
