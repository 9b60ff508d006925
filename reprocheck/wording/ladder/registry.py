"""A difference in words: the functions that say one are registered by its class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

from reprocheck.language import spoken
from reprocheck.model.statement import Statement
from reprocheck.model.statements.difference import Culprit, FirstDifference
from reprocheck.wording.say import say


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A difference in words: `detail` for its row of the ladder, `sentence` for the whole, `head`
    for the sentence without its part on the culprit.
    """

    detail: str
    sentence: str
    head: str = ""
    culprit: str | None = None


@singledispatch
def said_of(statement: Statement) -> Said:
    """Return what was found out of a rung in words."""
    if isinstance(statement, FirstDifference):
        raise TypeError(f"nothing says {type(statement).__name__}")
    detail = say(statement)
    return Said(detail=detail, sentence=detail)


@say.register
def detail_of(statement: FirstDifference) -> str:
    """Return the English text that the row of the ladder shows for a difference."""
    with spoken("en"):
        return said_of(statement).detail


@say.register
def made_by(culprit: Culprit) -> str:
    """Say which operation makes a difference, in English."""
    with spoken("en"):
        return said_of(culprit.difference).culprit or ""
