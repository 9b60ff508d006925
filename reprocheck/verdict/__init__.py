"""The criterion: `judge(runs, tolerance)` says whether the runs agree.

Pure; imports the model, and numpy inside functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reprocheck.model import (
    EXIT_CODE,
    Bitwise,
    CheckKind,
    Comparison,
    Divergence,
    Run,
    Tolerance,
    Trace,
    Verdict,
    VerdictName,
)
from reprocheck.model.letters import capital
from reprocheck.verdict import words
from reprocheck.verdict.apart import apart, silent
from reprocheck.verdict.caveats import caveats
from reprocheck.verdict.checks import CALL_LOG_LOSS, KINDS, CannotCompare, compare, pair_up, traces
from reprocheck.verdict.failure import cut_short, ended_badly, verdict_of
from reprocheck.verdict.failure import reason as failure_reason
from reprocheck.verdict.outcomes import outcomes
from reprocheck.verdict.pairing import paired, partners
from reprocheck.verdict.series import Unequal, first_outside, first_unequal
from reprocheck.verdict.ulp import ulp_distance

__all__ = ["FAIL_ON", "ended_before_checks", "judge", "paired", "partners", "ulp_distance"]

FAIL_ON = ("checks", "any-iteration", "bitwise")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Decision:
    verdict: VerdictName
    reason: str
    failed_check: CheckKind | None = None


def judge(runs: Sequence[Run], tolerance: Tolerance, fail_on: str = "checks") -> Verdict:
    """Compare every run with the first. Raises ValueError where `fail_on` is not in `FAIL_ON`."""
    if fail_on not in FAIL_ON:
        raise ValueError(f"fail_on is {fail_on!r}, not one of {', '.join(FAIL_ON)}")
    rows = compare(runs, tolerance)
    bitwise, dtype = _bitwise(runs)
    divergence = _divergence(runs, tolerance)
    decision = _decide(runs, rows, bitwise, divergence)
    rule = _stricter(decision, fail_on, bitwise, divergence)
    return Verdict(
        verdict=decision.verdict,
        failed_check=decision.failed_check,
        reason=_sentence(f"{decision.reason}{rule}"),
        exit_code=1 if rule else EXIT_CODE[decision.verdict],
        comparisons=rows,
        bitwise=bitwise,
        first_divergence=divergence,
        outcomes=outcomes(runs),
        caveats=caveats(runs, rows, bitwise, divergence, decision.verdict, dtype),
    )


def _decide(
    runs: Sequence[Run], rows: Sequence[Comparison], bitwise: Bitwise, divergence: Divergence | None
) -> _Decision:
    """The order of the documentation: a difference that was seen, then a failure, then
    inconclusive, then agreement.
    """
    ranks = max((len(run.traces) for run in runs), default=0)
    if row := _worst(rows, "forward"):
        reason = (
            "before the first update of the weights the losses differ:"
            f" {words.difference(row, ranks)}"
        )
        return _Decision(verdict="not_reproducible", failed_check="forward", reason=reason)
    if row := _worst(rows, "backward"):
        agrees = all(row.passed for row in rows if row.kind == "forward")
        before = "the forward check agrees and after" if agrees else "after"
        reason = (
            f"{before} an update of the weights the losses differ: {words.difference(row, ranks)}"
        )
        return _Decision(verdict="not_reproducible", failed_check="backward", reason=reason)
    if bad := ended_badly(runs):
        reason = failure_reason(bad, runs, rows, bitwise.equal, divergence)
        return _Decision(verdict=verdict_of(bad[0]), reason=reason)
    if reason := _inconclusive(runs, rows):
        return _Decision(verdict="inconclusive", reason=reason)
    return _Decision(verdict="reproducible", reason=_agreement(runs, rows, bitwise, divergence))


def _worst(rows: Sequence[Comparison], kind: CheckKind) -> Comparison | None:
    """The failed row of a check with the largest difference against what is allowed; finite in one
    run only comes first.
    """

    def excess(row: Comparison) -> float:
        return (
            float("inf")
            if row.max_difference is None
            else row.max_difference - (row.allowed or 0.0)
        )

    return max(
        (row for row in rows if row.kind == kind and row.passed is False), key=excess, default=None
    )


def ended_before_checks(run: Run) -> bool:
    """Whether a run failed or timed out before its own checks could be made: nothing can be
    compared with it.
    """
    return run.record.ended in ("failed", "timed_out") and _too_early(run, run)


def _too_early(run: Run, reference: Run) -> bool:
    """Whether a check is missing in the run, or rests on an iteration that the run did not
    finish.
    """
    own, references = traces(run), traces(reference)
    if not references or references.keys() - own.keys():
        return True
    for rank, ruling in references.items():
        try:
            pairs = [pair_up(own[rank], ruling, kind, run.number) for kind in KINDS]
        except CannotCompare:
            return _lacks(own[rank], ruling)
        if own[rank].unfinished and any(
            pair.checked.iteration >= len(own[rank].losses) for pair in pairs
        ):
            return True
    return False


def _lacks(trace: Trace, ruling: Trace) -> bool:
    """Whether the iterations that the checks need are missing or unfinished in a trace; not, where
    they are there and do not fit.
    """
    needed = 2 if ruling.backward is None else ruling.backward.iteration
    missing = trace.forward is None or ruling.backward is None
    return missing or len(trace.losses) < needed + (1 if trace.unfinished else 0)


def _inconclusive(runs: Sequence[Run], rows: Sequence[Comparison]) -> str:
    """Why a check could not be made, empty where all were."""
    for run in runs:
        if run.record.ended == "interrupted" and _too_early(run, runs[0]):
            return f"run {run.number} was interrupted before both checks could be made"
    for run in runs:
        if not any(len(trace.losses.values) for trace in run.traces):
            return _no_loss(run)
    if len(runs) < 2:
        return (
            "only one run was recorded, and a check needs two; `reprocheck compare` takes it and"
            " another recording"
        )
    for kind in KINDS:
        for row in rows:
            if row.kind == kind and row.passed is None:
                return f"the {kind} check could not be made: {row.detail}"
    return silent(runs) or apart(runs)


def _no_loss(run: Run) -> str:
    if not run.processes:
        return (
            f"no process of run {run.number} reported, so the recorder was not loaded; start the"
            " interpreter without -I, -E and -S, and extend PYTHONPATH rather than replace it"
        )
    if not run.frameworks:
        return (
            f"no loss was seen in run {run.number}, which imported no supported framework;"
            f" {CALL_LOG_LOSS}"
        )
    names = " and ".join(sorted(run.frameworks))
    return (
        f"no loss was seen in run {run.number}, which imported {names}; train the model, or"
        f" {CALL_LOG_LOSS}"
    )


def _agreement(
    runs: Sequence[Run], rows: Sequence[Comparison], bitwise: Bitwise, divergence: Divergence | None
) -> str:
    ranks = max(len(run.traces) for run in runs)
    iterations = words.count(
        min(len(trace.losses) for run in runs for trace in run.traces), "iteration"
    )
    seen = f"{len(runs)} runs of {iterations}" + (f" on {ranks} ranks" if ranks > 1 else "")
    if divergence is not None:
        if divergence.value is None:
            return f"both checks pass in {seen}, and then the runs diverge: {divergence.detail}"
        return (
            f"both checks pass in {seen}, and from iteration {divergence.iteration} on the runs"
            f" diverge: {words.later(divergence)}"
        )
    if bitwise.equal:
        return f"no difference was seen in {seen}: all losses are equal in every bit"
    backward = max(trace.backward.iteration for trace in runs[0].traces if trace.backward)
    largest = max(rows, key=lambda row: row.weight)
    numbers = largest.max_difference or 0.0, largest.iteration, largest.allowed or 0.0
    size = "the largest difference is {:.3g} in iteration {} where {:.3g} is allowed".format(
        *numbers
    )
    later = (
        f", and from iteration {bitwise.first_iteration} on the losses are not equal in every bit"
    )
    return (
        f"the losses of iterations 1 and {backward} agree within the tolerance in {seen};"
        f" {size}{later}"
    )


def _bitwise(runs: Sequence[Run]) -> tuple[Bitwise, str | None]:
    """Of all recorded iterations; with the dtype that the ULP are of."""
    if len(runs) < 2 or not any(len(trace.losses.values) for run in runs for trace in run.traces):
        return Bitwise(equal=None), None
    found: list[Unequal] = []
    references = traces(runs[0])
    for run in runs[1:]:
        own = traces(run)
        if own.keys() != references.keys():
            return Bitwise(equal=False, first_iteration=1), None
        for rank, reference in references.items():
            unequal = first_unequal(own[rank].losses, reference.losses)
            if unequal is None:
                continue
            if unequal.ends and cut_short(unequal.iteration, own[rank], reference, run, runs[0]):
                continue
            found.append(unequal)
    if not found:
        return Bitwise(equal=True), None
    first = min(unequal.iteration for unequal in found)
    there = [unequal for unequal in found if unequal.iteration == first]
    ends = all(unequal.ends for unequal in there)
    if len({unequal.dtype for unequal in there}) > 1 or any(
        unequal.ulp is None for unequal in there
    ):
        return Bitwise(equal=False, first_iteration=first, one_is_longer=ends), None
    return (
        Bitwise(equal=False, first_iteration=first, ulp=max(unequal.ulp or 0 for unequal in there)),
        there[0].dtype,
    )


def _divergence(runs: Sequence[Run], tolerance: Tolerance) -> Divergence | None:
    """The earliest of all runs and ranks."""
    references = traces(runs[0]) if runs else {}
    found = []
    for run in runs[1:]:
        own = traces(run)
        for rank in sorted(references.keys() | own.keys()):
            if rank not in own or rank not in references:
                where = run.number if rank in own else 1
                detail = f"rank {rank} was recorded in run {where} only"
                found.append(
                    Divergence(
                        iteration=1,
                        run=run.number,
                        rank=rank,
                        reference=None,
                        value=None,
                        detail=detail,
                    )
                )
            elif first := first_outside(own[rank].losses, references[rank].losses, tolerance):
                if first.value is None and cut_short(
                    first.iteration, own[rank], references[rank], run, runs[0]
                ):
                    continue
                detail = (
                    ""
                    if first.value is not None
                    else _lengths(own[rank], references[rank], first.iteration, run.number)
                )
                found.append(
                    Divergence(
                        iteration=first.iteration,
                        run=run.number,
                        rank=rank,
                        reference=first.reference,
                        value=first.value,
                        detail=detail,
                    )
                )
    return min(
        found,
        key=lambda divergence: (divergence.iteration, divergence.run, divergence.rank),
        default=None,
    )


def _lengths(trace: Trace, reference: Trace, iteration: int, run: int) -> str:
    lengths = len(trace.losses), len(reference.losses)
    if iteration > min(lengths):
        which = f" of run {run}" if run > 2 else ""
        return (
            f"one run is longer: {lengths[1]} against {words.count(lengths[0], 'iteration')}{which}"
        )
    counts = [
        end - start
        for start, end in (trace.losses.span(iteration), reference.losses.span(iteration))
    ]
    return (
        f"iteration {iteration} holds {words.count(counts[0], 'loss')} in run {run} and {counts[1]}"
        " in run 1"
    )


def _stricter(
    decision: _Decision, fail_on: str, bitwise: Bitwise, divergence: Divergence | None
) -> str:
    """What to add to the reason where `--fail-on` makes the exit code 1, else nothing."""
    if decision.verdict != "reproducible":
        return ""
    if fail_on == "any-iteration" and divergence is not None:
        return (
            "; exit code 1 by --fail-on any-iteration: the runs differ in iteration"
            f" {divergence.iteration}"
        )
    if fail_on == "bitwise" and bitwise.equal is not True:
        return (
            "; exit code 1 by --fail-on bitwise: the runs differ in iteration"
            f" {bitwise.first_iteration}"
        )
    return ""


def _sentence(text: str) -> str:
    return f"{capital(text)}."
