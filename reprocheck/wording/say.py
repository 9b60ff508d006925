"""Say a statement: the functions that do are registered by its class."""

from __future__ import annotations

from functools import singledispatch

from reprocheck.language import spoken
from reprocheck.model.statement import Statement


@singledispatch
def say(statement: Statement | str) -> str:
    """Return what was found out as a sentence: in the language that is spoken where it is of the
    verdict, the lead, a cause, a fix or the next step, else in English.
    """
    raise TypeError(f"nothing says {type(statement).__name__}")


@say.register
def _(statement: str) -> str:
    """Return a text that a recording holds as it stands."""
    return statement


def in_english(statement: Statement | str) -> str:
    """Return what was found out as a sentence, in English whatever is spoken."""
    with spoken("en"):
        return say(statement)
