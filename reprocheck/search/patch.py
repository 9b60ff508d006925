"""The patch that is shown: of the confirmed causes."""

from __future__ import annotations

from pathlib import Path

from reprocheck.files.limits import content
from reprocheck.model import Check
from reprocheck.search.arms import Book
from reprocheck.search.judged import Judged

PATCH = "fix.patch"
"""In the report folder, under `arms`: the patch of the user's source that was found."""


def tried(check: Check, folder: Path) -> Judged | None:
    """Return the runs with the patch of all confirmed causes; None where there are none."""
    book = Book(check, folder)
    if check.search is not None and not check.smallest and check.search.fixes:
        return book.of(check.search.fixes)
    return book.of((), patched=True)


def patch_offered(check: Check, folder: Path) -> bool:
    """Return whether the patch is shown: the runs with it agree, or no run could try it."""
    under = tried(check, folder)
    return under is not None and (under.untried or under.agrees is True)


def decided(check: Check, folder: Path) -> bool:
    """Return whether the runs with a patch that are recorded by now differ, fail, or were not given
    it: more of them can say nothing else.
    """
    under = tried(check, folder)
    return under is not None and (under.untried or under.decided)


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
