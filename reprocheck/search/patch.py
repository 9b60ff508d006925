"""The patch that is shown: of the confirmed causes."""

from __future__ import annotations

from pathlib import Path

from reprocheck.files.limits import content
from reprocheck.search.arms import Book

PATCH = "fix.patch"
"""In the report folder, under `arms`: the patch of the user's source that was found."""


def in_vain(book: Book) -> bool:
    """Return whether runs with a patch differ as well."""
    made = book.of((), patched=True)
    return made is not None and not made.untried and made.agrees is False


def kept_patch(folder: Path) -> str:
    """The patch with its own line ends: one of lines that end as on Windows has those; "" where
    there is none.
    """
    try:
        return content(folder / "arms" / PATCH).decode()
    except (OSError, UnicodeDecodeError):
        return ""
