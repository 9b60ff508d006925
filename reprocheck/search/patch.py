"""The patch of the first cause: whether runs try it, and what they prove."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reprocheck.causes.started import is_what_differs
from reprocheck.files.limits import content
from reprocheck.model import Check
from reprocheck.search import chance, words
from reprocheck.search.account import Result, account
from reprocheck.search.arms import Book
from reprocheck.search.chance import Sample
from reprocheck.search.enough import FITTING
from reprocheck.search.noise import suspect

PATCH = "fix.patch"
"""In the report folder, under `arms`: the patch of the user's source that was found."""
MOST_RUNS = 8
"""Runs with a patch at most: where it takes more, it is not tried."""


def patch_offered(check: Check, folder: Path) -> bool:
    """Return whether the patch is shown: the runs with it agree, or no run could try it."""
    tried = Book(check, folder).of((), patched=True)
    return tried is not None and (tried.untried or tried.agrees is True)


def runs_with_patch(check: Check, folder: Path) -> int:
    """Return how many runs must agree with the patch of the first cause to confirm it, where the
    search has ended and no control confirms one.

    0 where the patch is not tried: the cause has no line, or it takes too many runs.
    """
    search = check.search
    if search is None or not search.without_result:
        return 0
    if suspect(check) is None or is_what_differs(check, folder):
        return 0
    runs = _needed(Book(check, folder).sample)
    if runs > MOST_RUNS:
        return 0
    return runs


def _needed(seen: Sample) -> int:
    """Return how many runs must agree with a patch. More than any search makes where runs as they
    are agree now and then: a patch must not be praised for that.
    """
    if seen.intermittent:
        return chance.MOST + 1
    return chance.needed(seen, FITTING)


def decided(check: Check, folder: Path) -> bool:
    """Return whether the runs with a patch that are recorded by now differ, fail, or were not given
    it: more of them can say nothing else.
    """
    tried = Book(check, folder).of((), patched=True)
    return tried is not None and (tried.untried or tried.decided)


def proved_by_patch(check: Check, book: Book) -> Result | None:
    """Return the first cause as confirmed, where no control confirms one and enough runs with its
    patch agree in every bit.
    """
    named, tried, seen = suspect(check), book.patched, book.sample
    if named is None or tried is None or not tried.agrees_exactly:
        return None
    if len(tried.runs) < _needed(seen):
        return None
    evidence = words.evidence_of_patch(seen, named, tried)
    cause = named.cause
    search = replace(
        account(book),
        sentence=words.patch_removes(named, tried),
        confidence=words.confidence_in_patch(seen, tried),
        fix=cause.fix,
        patch=kept_patch(book.folder),
    )
    confirmed = replace(cause, confidence="confirmed", evidence=(evidence, *cause.evidence))
    return Result(search=search, causes=(confirmed, *check.causes[1:]), confirmed=True)


def in_vain(book: Book) -> bool:
    """Return whether runs with a patch differ as well."""
    return book.patched is not None and book.patched.agrees is False


def kept_patch(folder: Path) -> str:
    """The patch with its own line ends: one of lines that end as on Windows has those; "" where
    there is none.
    """
    try:
        return content(folder / "arms" / PATCH).decode()
    except (OSError, UnicodeDecodeError):
        return ""
