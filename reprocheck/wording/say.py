"""Say a statement: the functions that do are registered by its class."""

from __future__ import annotations

from functools import singledispatch

from reprocheck.model.statement import Statement


@singledispatch
def say(statement: Statement | str) -> str:
    """Return what was found out as a sentence, in the language that is spoken."""
    raise TypeError(f"nothing says {type(statement).__name__}")


@say.register
def _(statement: str) -> str:
    """Return a text that a recording holds as it stands."""
    return statement
