"""A night is made by one process: what it shows of itself on this machine, and in the history.

The claim in the history holds for all machines, and outlives a process that was killed by some
minutes. A lock on this machine says at once whether a process here is alive.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reprocheck.suite.execution.claims import Wanted, claimed, is_held
from reprocheck.suite.history import History
from reprocheck.suite.model import Night

if TYPE_CHECKING:
    from reprocheck.suite.history.claims import Claim


@contextmanager
def own_token() -> Iterator[str]:
    """A word by which other processes on this machine see that this one is alive.

    Raises ReportError where the folder for temporary files cannot be written.
    """
    from reprocheck.suite.history.claims import new_token

    token = new_token()
    here = claimed([Wanted(token)])
    assert here is not None, "nobody else has a word that was made by chance"
    try:
        yield token
    finally:
        here.give_back()


def begin(history: History, night: Night, token: str, *, twice: bool) -> Claim:
    """A new night, in the history. Raises UnderWayError where another one checks the same now."""
    from reprocheck.suite.history import claims

    return claims.begin(history, night, token, is_held, twice=twice)


def take(history: History, night: Night, token: str) -> Claim:
    """A night that goes on. Raises UnderWayError where a process makes it."""
    from reprocheck.suite.history import claims

    return claims.take(history, night, token, is_held)
