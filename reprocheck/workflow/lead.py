"""The one difference that every report of a check tells first."""

from __future__ import annotations

from reprocheck.model import Cause, Check, Ladder, Lead, Rung
from reprocheck.model.evidence import LeftBehind
from reprocheck.model.statement import Statement
from reprocheck.model.statements.ladder import InIteration
from reprocheck.rules import entry


def lead_of(check: Check) -> Lead | None:
    """Choose the rung, the cause, the line and the statement that are told first; None without a
    ladder.
    """
    if check.ladder is None:
        return None
    cause = next(iter(check.causes), None)
    rung = _leading(check, check.ladder)
    own_line = None if cause is None else cause.source
    of_rung = None if rung is None else rung.source
    return Lead(
        rung=None if rung is None else rung.rung,
        cause="" if cause is None else cause.code,
        source=own_line or of_rung,
        statement=_statement(check, check.ladder, rung),
    )


def _leading(check: Check, ladder: Ladder) -> Rung | None:
    """Return the rung that is told first.

    What run 1 left is not it where runs that find the same agree under a control for another cause.
    """
    first = ladder.first_rung
    if first is None or not isinstance(first.evidence, LeftBehind):
        return first
    best = next(iter(check.causes), None)
    if best is None or best.confidence != "confirmed" or best.code == entry("state-left").code:
        return first
    return check.training_rung or first


def _blames_another(check: Check, rung: Rung) -> bool:
    """Return whether the sentence of a rung names what nobody seeds before the weights that were
    made at its line, and a control confirmed a cause at another line.
    """
    best, *others = check.causes or (None,)
    if rung.rung != "initial weights" or best is None:
        return False
    if best.confidence != "confirmed" or _is_at(best, rung):
        return False
    return any(one.confidence == "observed" and _is_at(one, rung) for one in others)


def _is_at(cause: Cause, rung: Rung) -> bool:
    """Return whether a cause has the line of a rung."""
    return rung.source is not None and cause.at == rung.source.at


def _statement(check: Check, ladder: Ladder, rung: Rung | None) -> Statement | None:
    if rung is None or rung.statement is None:
        return ladder.statement
    if rung.rung == ladder.first:
        return rung.statement if _blames_another(check, rung) else ladder.statement
    if not rung.iteration:
        return rung.statement
    return InIteration(iteration=rung.iteration, difference=rung.statement)
