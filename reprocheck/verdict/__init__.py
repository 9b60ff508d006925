"""The criterion: `judge(runs, tolerance)` says whether the runs agree.

Pure; imports the model, and numpy inside functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from operator import attrgetter

from reprocheck.language import count, joined, tr
from reprocheck.model import (
    EXIT_CODE,
    FAIL_ON,
    SERIES_RULE,
    Bitwise,
    CheckKind,
    Comparison,
    Divergence,
    Run,
    SeriesComparison,
    Tolerance,
    Trace,
    Verdict,
    VerdictName,
    is_rule,
    rules_of,
)
from reprocheck.model.letters import capital
from reprocheck.verdict import words
from reprocheck.verdict.apart import apart, silent
from reprocheck.verdict.caveats import caveats
from reprocheck.verdict.checks import CALL_LOG_LOSS, KINDS, CannotCompare, compare, pair_up
from reprocheck.verdict.divergence import equal_in_bits, first_divergence
from reprocheck.verdict.failure import ended_badly, reason as failure_reason, verdict_of
from reprocheck.verdict.outcomes import outcomes
from reprocheck.verdict.pairing import paired, partners
from reprocheck.verdict.reported import compare_series
from reprocheck.verdict.ulp import ulp_distance

__all__ = ["FAIL_ON", "ended_before_checks", "judge", "paired", "partners", "ulp_distance"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Decision:
    verdict: VerdictName
    reason: str
    failed_check: CheckKind | None = None


def judge(runs: Sequence[Run], tolerance: Tolerance, fail_on: str = "checks") -> Verdict:
    """Compare every run with the first.

    fail_on  the rules that make it stricter, of `FAIL_ON`, with a comma between them
    Raises ValueError where a rule is none of these.
    """
    rules = rules_of(fail_on)
    for rule in rules:
        if not is_rule(rule):
            raise ValueError(f"fail_on has {rule!r}, which is none of {', '.join(FAIL_ON)}")
    rows = compare(runs, tolerance)
    bitwise, dtype = equal_in_bits(runs)
    divergence = first_divergence(runs, tolerance)
    series = compare_series(runs, tolerance, losses_equal=bitwise.equal is True)
    decision = _decide(runs, rows, bitwise, divergence, series)
    rule = said = ""
    if decision.verdict == "reproducible":
        rule, said = _broken(rules, bitwise, divergence, series)
    exit_code = EXIT_CODE[decision.verdict]
    if rule:
        exit_code = 1
    return Verdict(
        verdict=decision.verdict,
        failed_check=decision.failed_check,
        reason=tr("{sentence}.", sentence=capital(decision.reason + said)),
        exit_code=exit_code,
        broken_rule=rule,
        comparisons=rows,
        bitwise=bitwise,
        first_divergence=divergence,
        outcomes=outcomes(runs),
        caveats=caveats(runs, rows, bitwise, divergence, decision.verdict, dtype),
        series=series,
    )


def _decide(
    runs: Sequence[Run],
    rows: Sequence[Comparison],
    bitwise: Bitwise,
    divergence: Divergence | None,
    series: Sequence[SeriesComparison],
) -> _Decision:
    """Return the order of the documentation: a difference that was seen, then a failure, then
    inconclusive, then agreement.
    """
    ranks = _most_ranks(runs)
    if row := _worst(rows, "forward"):
        return _differ(tr("before the first update of the weights"), row, ranks)
    if row := _worst(rows, "backward"):
        when = tr("after an update of the weights")
        if all(row.passed for row in rows if row.kind == "forward"):
            when = tr("the forward check agrees and {when}", when=when)
        return _differ(when, row, ranks)
    if bad := ended_badly(runs):
        reason = failure_reason(bad, runs, rows, bitwise.equal, divergence)
        return _Decision(verdict=verdict_of(bad[0]), reason=reason)
    if reason := _inconclusive(runs, rows):
        return _Decision(verdict="inconclusive", reason=reason)
    agreement = _agreement(runs, rows, bitwise, divergence, series)
    return _Decision(verdict="reproducible", reason=agreement + words.of_series(series))


def _differ(when: str, row: Comparison, ranks: int) -> _Decision:
    reason = tr(
        "{when} the losses differ: {difference}", when=when, difference=words.difference(row, ranks)
    )
    return _Decision(verdict="not_reproducible", failed_check=row.kind, reason=reason)


def _worst(rows: Sequence[Comparison], kind: CheckKind) -> Comparison | None:
    """Return the failed row of a check with the largest difference against what is allowed; finite
    in one run only comes first.
    """
    failed = [row for row in rows if row.kind == kind and row.passed is False]
    return max(failed, key=attrgetter("excess"), default=None)


def ended_before_checks(run: Run) -> bool:
    """Return whether a run failed or timed out before its own checks could be made: nothing can be
    compared with it.
    """
    return run.record.ended_badly and _too_early(run, run)


def _too_early(run: Run, reference: Run) -> bool:
    """Return whether a check is missing in the run, or rests on an iteration that the run did not
    finish.
    """
    own, references = run.by_rank, reference.by_rank
    if not references or references.keys() - own.keys():
        return True
    for rank, ruling in references.items():
        lacks = _lacks(own[rank], ruling)
        # Losses that cannot be paired, though all are there, are what is said of the runs: it does
        # not matter any more which iterations the ranks behind this one lack.
        if lacks or not _can_be_paired(own[rank], ruling, run.number):
            return lacks
    return False


def _can_be_paired(trace: Trace, ruling: Trace, run: int) -> bool:
    try:
        for kind in KINDS:
            pair_up(trace, ruling, kind, run)
    except CannotCompare:
        return False
    return True


def _lacks(trace: Trace, ruling: Trace) -> bool:
    """Return whether the iterations that the checks need are missing or unfinished in a trace; not,
    where they are there and their losses cannot be paired.
    """
    if trace.forward is None or ruling.backward is None:
        return True
    return trace.closed < ruling.backward.iteration


def _inconclusive(runs: Sequence[Run], rows: Sequence[Comparison]) -> str:
    """Return why a check could not be made, empty where all were."""
    reasons = (
        _interrupted(runs),
        _broken_off(runs),
        _without_loss(runs),
        _alone(runs),
        _not_made(rows),
        silent(runs),
        apart(runs),
    )
    return next(filter(None, reasons), "")


def _interrupted(runs: Sequence[Run]) -> str:
    for run in runs:
        if run.record.ended == "interrupted" and _too_early(run, runs[0]):
            return tr(
                "run {number} was interrupted before both checks could be made", number=run.number
            )
    return ""


def _broken_off(runs: Sequence[Run]) -> str:
    for run in runs:
        if run.broken and _too_early(run, runs[0]):
            return tr(
                "the recording of run {number} breaks off before both checks could be made: {why}",
                number=run.number,
                why=run.broken,
            )
    return ""


def _without_loss(runs: Sequence[Run]) -> str:
    for run in runs:
        if not run.recorded_losses:
            return _no_loss(run)
    return ""


def _alone(runs: Sequence[Run]) -> str:
    if len(runs) > 1:
        return ""
    return tr(
        "only one run was recorded, and a check needs two; `reprocheck compare` takes it and"
        " another recording"
    )


def _not_made(rows: Sequence[Comparison]) -> str:
    """Return the first check that could not be made: of all runs and ranks the forward check
    first.
    """
    not_made = [row for row in rows if row.passed is None]
    if not not_made:
        return ""
    first = min(not_made, key=lambda row: KINDS.index(row.kind))
    return tr(
        "the {kind} check could not be made: {detail}", kind=tr(first.kind), detail=first.detail
    )


def _no_loss(run: Run) -> str:
    if not run.processes:
        return tr(
            "no process of run {number} reported, so the recorder was not loaded; start the"
            " interpreter without -I, -E and -S, and extend PYTHONPATH rather than replace it",
            number=run.number,
        )
    if run.refused_loss:
        return tr(
            "run {number} called reprocheck.log_loss with what is no number ({error}); give it the"
            " loss of the iteration alone: a number or a tensor",
            number=run.number,
            error=run.refused_loss,
        )
    if not run.frameworks:
        return tr(
            "no loss was seen in run {number}, which imported no supported framework;"
            " {call_log_loss}",
            number=run.number,
            call_log_loss=tr(CALL_LOG_LOSS),
        )
    names = joined(tr(" and "), sorted(run.frameworks))
    return tr(
        "no loss was seen in run {number}, which imported {names}; train the model, or"
        " {call_log_loss}",
        number=run.number,
        names=names,
        call_log_loss=tr(CALL_LOG_LOSS),
    )


def _agreement(
    runs: Sequence[Run],
    rows: Sequence[Comparison],
    bitwise: Bitwise,
    divergence: Divergence | None,
    series: Sequence[SeriesComparison],
) -> str:
    seen = _seen(runs)
    if divergence is not None:
        return tr(
            "both checks pass in {seen}, and {later}", seen=seen, later=words.later(divergence)
        )
    if bitwise.equal and words.unequal(series):
        return tr("all losses are equal in every bit in {seen}", seen=seen)
    if bitwise.equal:
        return tr("no difference was seen in {seen}: all losses are equal in every bit", seen=seen)
    backward = max(trace.backward.iteration for trace in runs[0].traces if trace.backward)
    return tr(
        "the losses of iterations 1 and {backward} agree within the tolerance in {seen};"
        " {largest}, and from iteration {first_iteration} on the losses are not"
        " equal in every bit",
        backward=backward,
        seen=seen,
        largest=_largest(rows),
        first_iteration=bitwise.first_iteration,
    )


def _seen(runs: Sequence[Run]) -> str:
    """`2 runs of 10 iterations on 4 ranks`."""
    shortest = min(len(trace.losses) for run in runs for trace in run.traces)
    seen = tr(
        "{runs} runs of {iterations}",
        runs=len(runs),
        iterations=count(shortest, "iteration"),
    )
    ranks = _most_ranks(runs)
    if ranks > 1:
        seen += tr(" on {ranks} ranks", ranks=ranks)
    return seen


def _most_ranks(runs: Sequence[Run]) -> int:
    """Return the number of ranks of the run that recorded most of them."""
    return max((len(run.traces) for run in runs), default=0)


def _largest(rows: Sequence[Comparison]) -> str:
    largest = max(rows, key=lambda row: row.weight)
    difference = largest.max_difference or 0.0
    if largest.limit == inf:
        return tr(
            "the largest difference is {difference:.3g} in iteration {iteration}, and any"
            " difference is allowed",
            difference=difference,
            iteration=largest.iteration,
        )
    return tr(
        "the largest difference is {difference:.3g} in iteration {iteration} where"
        " {allowed:.3g} is allowed",
        difference=difference,
        iteration=largest.iteration,
        allowed=largest.limit,
    )


def _broken(
    rules: Sequence[str],
    bitwise: Bitwise,
    divergence: Divergence | None,
    series: Sequence[SeriesComparison],
) -> tuple[str, str]:
    """Return the first rule of `--fail-on` that makes the exit code 1, and what to add to the
    reason; two empty texts where none does.
    """
    differs_from = {"bitwise": bitwise.first_iteration}
    if divergence is not None:
        differs_from["any-iteration"] = divergence.iteration
    for rule in rules:
        iteration = differs_from.get(rule)
        said = tr("the runs differ in iteration {iteration}", iteration=iteration)
        if rule.startswith(SERIES_RULE):
            said = _of_series(rule.removeprefix(SERIES_RULE), series)
        elif iteration is None:
            said = ""
        if said:
            return rule, tr("; exit code 1 by --fail-on {rule}: {said}", rule=rule, said=said)
    return "", ""


def _of_series(name: str, series: Sequence[SeriesComparison]) -> str:
    """Return why a series does not agree; "" where it does. What nobody reported agrees with
    nothing.
    """
    named = [one for one in series if one.name == name]
    if not named:
        reported = ", ".join(one.name for one in series) or tr("none")
        return tr("no run reported {name} (reported: {reported})", name=name, reported=reported)
    place = named[0].first_outside
    if place is None:
        return ""
    return tr(
        "{name} differs from {where} ({sizes})", name=name, where=place.where, sizes=place.sizes
    )
