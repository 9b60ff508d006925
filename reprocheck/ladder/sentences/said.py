"""A difference in words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A difference in words: `detail` for its row of the ladder, `sentence` for the whole, `head`
    the sentence without what it says of the culprit.
    """

    detail: str
    sentence: str
    head: str = ""
    culprit: str | None = None
