"""The one fix of a check: the patch that was tried where there is one, else what the best cause
advises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model import Cause, Check
from reprocheck.report import controls, why


@dataclass(frozen=True, kw_only=True, slots=True)
class Repair:
    """What to do: a patch, code to paste, or a sentence; `said`: what is known of it."""

    kind: Literal["patch", "code", "words"]
    text: str
    said: str = ""


def best(check: Check) -> Repair | None:
    """Return the fix that is shown first; None where none is known."""
    search = check.search
    if search is not None and search.patch:
        patch, said = controls.patch(search), controls.checked(search)
        return Repair(kind="patch", text=patch, said=said)
    if not check.causes:
        return None
    return of(check, check.causes[0])


def of(check: Check, cause: Cause) -> Repair | None:
    """Return the fix that stands with a cause.

    A confirmed one has none of its own where a patch was found for it.
    """
    if cause.confidence == "confirmed" and check.search is not None and check.search.patch:
        return None
    text = why.fix(cause)
    if not text:
        return None
    if why.is_code(text):
        return Repair(kind="code", text=text)
    return Repair(kind="words", text=text)
