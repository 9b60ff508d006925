"""Search the parts of the state that must be put back for a resume to be exact.

This is the search of `explain`, whose controls are the rungs of the ladder across the gap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from reprocheck.resume import model
from reprocheck.resume.confirm import words
from reprocheck.resume.gap.ladder import ORIGINS, RUNGS
from reprocheck.resume.verdict import NOTHING_TO_COMPARE
from reprocheck.search import request, sets

LOOKED_INTO = ("does_not_resume_exactly", "resumes_within_tolerance")
"""Verdicts behind which something was lost that can be put back."""
KEPT = "values"
"""What a process says that it could not keep, where it is none of the rungs."""
Rungs = tuple[model.StateRungName, ...]


def attempt_of(arm: model.Arm, outcome: model.Outcome) -> model.Attempt:
    """Return the result of a run in which a part of the state was put back.

    With the names of the values that differed in that part.
    """
    assert outcome.continued is not None and outcome.resumed is not None
    kept, put_back = outcome.continued.controls, outcome.resumed.controls
    names = {
        rung: tuple(touch.what for touch in put_back.touches if touch.control == rung)
        for rung in arm.rungs
    }
    # why something could not be put back: what the continued run could not keep is said first
    unavailable = [why for rung, why in put_back.unavailable if rung in arm.rungs]
    if unavailable:
        unavailable = [*(why for what, why in kept.unavailable if what == KEPT), *unavailable]
    # whether it goes on exactly: losses, weights, states of optimizers and schedules
    agrees: bool | None = outcome.verdict == "resumes_exactly"
    if not agrees and (outcome.verdict in NOTHING_TO_COMPARE or not outcome.compared):
        agrees = None
    return model.Attempt(
        rungs=arm.rungs,
        run=arm.run,
        agrees=agrees,
        acted=tuple(rung for rung in arm.rungs if names[rung]),
        names=names,
        unavailable=tuple(unavailable),
        differs=outcome.losses.bitwise.first_iteration if outcome.losses else None,
    )


def next_rungs(outcome: model.Outcome) -> Rungs:
    """Return the rungs to put back in the next run; none if the search is at its end."""
    attempts = outcome.confirmation.attempts if outcome.confirmation else ()
    try:
        _found(outcome, attempts)
    except request.Unanswered as missing:
        return cast("Rungs", missing.question.controls)
    return ()


def confirmation(
    outcome: model.Outcome, attempts: Sequence[model.Attempt]
) -> model.Confirmation | None:
    """Return what the runs made by now have shown; None if there is nothing to confirm."""
    if outcome.verdict not in LOOKED_INTO:
        return None
    try:
        answer = _found(outcome, attempts)
    except request.Unanswered:
        return model.Confirmation(sentence=words.BROKEN_OFF, attempts=tuple(attempts))
    rungs = cast("Rungs", answer.smallest)
    mechanisms = by_rung(outcome.explained)
    return model.Confirmation(
        sentence=_sentence(outcome, attempts, rungs),
        rungs=rungs,
        attempts=tuple(attempts),
        mechanisms=tuple(mechanisms[rung] for rung in rungs if rung in mechanisms),
    )


def _found(outcome: model.Outcome, attempts: Sequence[model.Attempt]) -> request.Found:
    """Return the result of the search from the runs made. Raises Unanswered if a run is missing."""
    rungs = differing(outcome.explained)
    if outcome.verdict not in LOOKED_INTO or not outcome.compared or not rungs:
        return request.Found()
    by_rungs = _by_rungs(attempts)

    def ask(question: request.Question) -> request.Answer:
        attempt = by_rungs.get(frozenset(question.controls))
        if attempt is None:
            raise request.Unanswered(question)
        return request.Answer(agrees=attempt.agrees, runs=1, acted=frozenset(attempt.acted))

    # those that have a mechanism are tried alone first
    named = tuple(rung for rung in rungs if rung in by_rung(outcome.explained))
    among = request.Candidates(likely=named or rungs[:1], harmless=rungs)
    # chance makes no two trainings agree in every bit that differ, so one run says it
    return sets.find(among, ask, lambda *_: 1, runs=1, most=1)


def differing(explained: model.Explained) -> Rungs:
    """Return the rungs whose state may have been lost and can be put back, from the top down.

    Such a rung differs, or follows one that does. Generators are compared only up to the first
    batch that differs, and may differ after it.
    """
    differ = {rung.name for rung in explained.rungs if rung.status == "differs"}
    differ |= by_rung(explained).keys()
    if "batch" in differ:
        differ.add("RNG state")
    differ.discard("step counter")  # a variable of the script, which nothing can set
    return tuple(name for name in RUNGS if name in ORIGINS & differ)


def by_rung(explained: model.Explained) -> Mapping[model.StateRungName, model.Mechanism]:
    """Return the mechanisms by the rung that undoes each.

    A generator that made another batch is put back itself.
    """
    undoing: dict[model.StateRungName, model.Mechanism] = {}
    for rung, mechanism in explained.mechanisms.items():
        of_generators = ("RC109", "RC110", "RC111", "RC112")
        undone: model.StateRungName = "RNG state" if mechanism.code in of_generators else rung
        undoing.setdefault(undone, mechanism)
    return undoing


def _by_rungs(attempts: Sequence[model.Attempt]) -> Mapping[frozenset[str], model.Attempt]:
    return {frozenset(attempt.rungs): attempt for attempt in attempts}


def _sentence(outcome: model.Outcome, attempts: Sequence[model.Attempt], rungs: Rungs) -> str:
    if rungs:
        by_rungs = _by_rungs(attempts)
        alone = [by_rungs[frozenset([rung])] for rung in rungs if frozenset([rung]) in by_rungs]
        return words.confirmed(outcome, by_rungs[frozenset(rungs)], alone)
    if not outcome.compared:
        return words.NO_ITERATION
    first = outcome.explained.first
    if not attempts and first is not None and first.name == "step counter":
        return words.COUNTER
    if not attempts and any(rung.status == "equal" for rung in outcome.explained.rungs):
        return words.NOTHING
    if not attempts:
        return words.UNRECORDED
    return words.not_confirmed(max(attempts, key=lambda one: len(one.rungs)))
