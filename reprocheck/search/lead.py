"""The one difference that every report of a check tells first."""

from __future__ import annotations

from reprocheck.language import tr
from reprocheck.model import Check, Ladder, Lead, Rung
from reprocheck.model.evidence import LeftBehind
from reprocheck.model.letters import small
from reprocheck.rules import entry


def lead_of(check: Check) -> Lead | None:
    """Choose the rung, the cause, the line and the sentence that are told first; None without a
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
        sentence=_sentence(check.ladder, rung),
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
    return ladder.first_of_training or first


def _sentence(ladder: Ladder, rung: Rung | None) -> str:
    if rung is None or rung.rung == ladder.first or not rung.detail:
        return ladder.sentence
    if not rung.iteration:
        return rung.detail
    return tr(
        "In iteration {iteration:,} {detail}",
        iteration=rung.iteration,
        detail=small(rung.detail),
    )
