"""Say a statement: the functions that do are registered by its class."""

from __future__ import annotations

from functools import singledispatch

from reprocheck.language import spoken
from reprocheck.model.statement import Statement


@singledispatch
def say(statement: Statement | str) -> str:
    """Return the sentence of a statement.

    In the user's language if it belongs to the verdict, the lead, a cause, a fix or the next step,
    else in English.
    """
    raise TypeError(f"nothing says {type(statement).__name__}")


@say.register
def _(statement: str) -> str:
    """Return a text from a recording unchanged."""
    return statement


def in_english(statement: Statement | str) -> str:
    """Return the sentence of a statement in English, whatever the user's language is."""
    with spoken("en"):
        return say(statement)
