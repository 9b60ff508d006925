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
    """The fix that is shown first; None where none is known."""
    if check.search is not None and check.search.patch:
        return Repair(
            kind="patch", text=controls.patch(check.search), said=controls.checked(check.search)
        )
    return of(check, check.causes[0]) if check.causes else None


def of(check: Check, cause: Cause) -> Repair | None:
    """The fix that stands with a cause.

    A confirmed one has none of its own where a patch was found for it.
    """
    if cause.confidence == "confirmed" and check.search is not None and check.search.patch:
        return None
    text = why.fix(cause)
    if not text:
        return None
    return Repair(kind="code" if why.is_code(text) else "words", text=text)
