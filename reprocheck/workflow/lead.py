"""The one difference that every report of a check tells first."""

from __future__ import annotations

from reprocheck.model import Check, Lead, Rung
from reprocheck.model.evidence import LeftBehind
from reprocheck.model.seeds import SeedEffect, SeedOverridden
from reprocheck.model.statement import Statement
from reprocheck.model.statements.ladder import InIteration
from reprocheck.model.variations import DependsOn, Variations
from reprocheck.rules import entry


def lead_of(check: Check) -> Lead | None:
    """Return the rung, the cause, the line and the statement that reports tell first.

    None if there is no ladder.
    """
    if check.variations is not None and check.variations.guilty:
        return _of_variation(check, check.variations)
    if check.verdict.verdict == "seed_without_effect" and check.seed_effect is not None:
        return _of_seed(check.seed_effect)
    ladder = check.ladder
    if ladder is None:
        return None
    cause = next(iter(check.causes), None)
    code = "" if cause is None else cause.code
    line = None if cause is None else cause.source
    is_confirmed = cause is not None and cause.confidence == "confirmed"
    rung = check.first_rung
    if rung is None:
        return Lead(rung=None, cause=code, source=line, statement=ladder.statement)
    # what run 1 left is not it where runs that find the same agree under another control
    if is_confirmed and isinstance(rung.evidence, LeftBehind) and code != entry("state-left").code:
        rung = check.training_rung or rung
    statement = _of_rung(rung) if rung.rung != ladder.first else None
    if is_confirmed and _blames_unseeded(check, rung):
        statement = statement or rung.statement
    return Lead(
        rung=rung.rung,
        cause=code,
        source=line or rung.source,
        statement=statement or ladder.statement,
    )


def _of_variation(check: Check, variations: Variations) -> Lead:
    """Return the lead of a check whose runs differ by a variation."""
    guilty = variations.guilty[0]
    rung = check.training_rung or check.first_rung
    cause = next(iter(check.causes), None)
    at_its_line = cause is not None and guilty.source is not None and cause.at == guilty.source.at
    return Lead(
        rung=None if rung is None else rung.rung,
        cause=cause.code if cause is not None and at_its_line else "",
        source=guilty.source,
        statement=DependsOn(guilty=guilty),
    )


def _of_seed(effect: SeedEffect) -> Lead:
    """Return the lead of a check whose losses another seed leaves as they are."""
    parsed = effect.parsed.source if effect.parsed is not None else None
    overriding = (one.source for one in effect.overriding)
    source = next(filter(None, overriding), parsed)
    return Lead(rung=effect.rung, cause="", source=source, statement=SeedOverridden(effect=effect))


def _of_rung(rung: Rung) -> Statement | None:
    """Return the statement of a rung, with the iteration if it is in one."""
    if rung.statement is None or not rung.iteration:
        return rung.statement
    return InIteration(iteration=rung.iteration, difference=rung.statement)


def _blames_unseeded(check: Check, rung: Rung) -> bool:
    """Return whether a rung blames an unseeded generator, and the best cause another line.

    The generator made weights at the line of the rung.
    """
    line = rung.source
    if rung.rung != "initial weights" or line is None or check.causes[0].at == line.at:
        return False
    return any(one.confidence == "observed" and one.at == line.at for one in check.causes[1:])
