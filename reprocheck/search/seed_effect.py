"""Whether another seed changes a training, and what fixed its generators where it does not.

Evidence of the runs that were recorded, and the verdict that follows from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reprocheck.ladder.rungs import ladder_of
from reprocheck.ladder.sources import Sources
from reprocheck.model import EXIT_CODE, Check, DeeperPair, Run, RungName, Verdict, VerdictName
from reprocheck.model.seeds import (
    Overriding,
    SeedChangesNothing,
    SeedEffect,
    SeedingCall,
    SeedNotJudged,
    SeedOrigin,
    SeedRunEnded,
)
from reprocheck.model.statement import Statement
from reprocheck.search.seed_origin import Text, set_at
from reprocheck.settings.must_differ import NONE
from reprocheck.trace import read_run
from reprocheck.verdict import equal_in_bits, paired

_DEFAULT = ("torch", "numpy", "python", "jax", "tensorflow", "keras", "mindspore", "cuda", "npu")
"""The generators that a library uses when it is given none; all others are private."""
MOST_NAMED = 3
_GIVEN = ("environment", "files and arguments")


def can_be_judged(check: Check) -> bool:
    """Return whether runs with one seed are equal in every bit, so that another one can show."""
    return check.verdict.verdict == "reproducible" and check.verdict.bitwise.equal is True


def with_seed_effect(check: Check, folder: Path) -> Check:
    """Return a judged check with what another seed changed, and the verdict that follows.

    The check as it is where nothing must differ, or its runs have no verdict of their own.
    """
    if check.record.setting("must_differ", NONE) == NONE or check.verdict.broken_rule:
        return check
    if check.verdict.verdict not in ("reproducible", "not_reproducible"):
        return check
    if not can_be_judged(check):
        first = check.verdict.bitwise.first_iteration or 0
        return _undecided(check, SeedNotJudged(why="runs differ", iteration=first))
    if not check.record.reseeded:
        return _undecided(check, SeedNotJudged(why="not made" if _has_seed(check) else "no seed"))
    reseeded = check.record.reseeded[-1]
    run = read_run(folder, replace(reseeded.runs[0], number=2))
    ended = reseeded.runs[0].ended
    if ended == "failed" or ended == "timed_out":
        because = SeedRunEnded(
            origin=reseeded.origin, ended=ended, exit_status=reseeded.runs[0].exit_status
        )
        return _decided(check, "script_failed" if ended == "failed" else ended, because)
    effect = _effect(check, run, reseeded.origin, folder)
    check = replace(check, seed_effect=effect)
    if effect.differs is None:
        return _undecided(check, SeedNotJudged(why="not made"))
    if effect.differs:
        return check
    draws = [call for call in _calls(run) if call.draws_until(effect.iterations)]
    if draws:
        return _decided(check, "seed_without_effect", SeedChangesNothing(effect=effect))
    first = min((call.drawn_in for call in _calls(run) if call.drawn_in), default=0)
    return _undecided(
        check,
        SeedNotJudged(why="nothing drawn", iterations=effect.iterations, iteration=first),
    )


def _undecided(check: Check, because: Statement) -> Check:
    return _decided(check, "inconclusive", because)


def _decided(check: Check, name: VerdictName, because: Statement) -> Check:
    verdict: Verdict = replace(
        check.verdict,
        verdict=name,
        failed_check=None,
        because=because,
        exit_code=EXIT_CODE[name],
    )
    return replace(check, verdict=verdict)


def _has_seed(check: Check) -> bool:
    return any(run.controls.seedings for run in check.runs[:1])


def _calls(run: Run) -> list[SeedingCall]:
    return [call for call in run.controls.seedings if call.number]


def _effect(check: Check, run: Run, origin: SeedOrigin, folder: Path) -> SeedEffect:
    runs = paired([check.runs[0], run], check.record.tolerance)
    bitwise, _ = equal_in_bits(runs)
    iterations = min((len(trace.losses) for trace in run.traces), default=0)
    before = {(call.number, call.what): call.value for call in _calls(check.runs[0])}
    unchanged = [call for call in _calls(run) if before.get((call.number, call.what)) == call.value]
    equal = bitwise.equal is True
    sources = Sources(check, folder)
    return SeedEffect(
        origin=origin,
        differs=None if bitwise.equal is None else not equal,
        first=bitwise.first_iteration or 0,
        iterations=iterations,
        reached=len(unchanged) < len(_calls(run)),
        parsed=next((call for call in run.controls.seedings if not call.number), None),
        overriding=_overriding(unchanged, iterations, sources.text) if equal else (),
        rung=_rung(check, runs, folder) if equal else None,
    )


def _overriding(
    unchanged: Sequence[SeedingCall], iterations: int, text: Text
) -> tuple[Overriding, ...]:
    """Return the calls that gave a generator the same seed before something was drawn from it.

    Default generators come before private ones, and each line once.
    """
    drawn = [call for call in unchanged if call.draws_until(iterations)]
    drawn.sort(key=lambda call: (call.may_be_drawn, set(_DEFAULT).isdisjoint(call.generators)))
    lines: dict[object, Overriding] = {}
    for call in drawn:
        overriding = Overriding(call=call, set_at=set_at(call, text))
        lines.setdefault(overriding.source or call.number, overriding)
    return tuple(lines.values())[:MOST_NAMED]


def _rung(check: Check, runs: Sequence[Run], folder: Path) -> RungName | None:
    """Return the first rung behind those of what was given on which the runs differ."""
    deep = min((trace.deep for run in runs for trace in run.traces), default=0)
    if not deep:
        return None
    records = (runs[0].record, runs[1].record)
    pair = DeeperPair(level="module", iterations=deep, runs=records, of_check=True)
    record = replace(check.record, deeper=(pair,))
    ladder = ladder_of(replace(check, runs=tuple(runs), record=record), folder)
    if ladder is None:
        return None
    differing = (rung.rung for rung in ladder.rungs if rung.status == "differs")
    return next((name for name in differing if name not in _GIVEN), None)
