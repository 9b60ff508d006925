"""The criterion of a check: `judge(runs, tolerance)` says whether the runs agree.

Pure functions; the package imports the model, and numpy inside functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Literal

from reprocheck.model import (
    EXIT_CODE,
    FAIL_ON,
    MIRRORS_RULE,
    SERIES_RULE,
    Bitwise,
    CheckKind,
    Comparison,
    Divergence,
    Run,
    SeriesComparison,
    Tolerance,
    Verdict,
    VerdictName,
    is_rule,
    rules_of,
)
from reprocheck.model.mirrors import Mirrors
from reprocheck.model.statement import Statement
from reprocheck.model.statements.verdict import Agreement, LossesDiffer, NotCompared, NotMade
from reprocheck.verdict.caveats import caveats
from reprocheck.verdict.checks import KINDS, CannotCompare, compare, pair_up
from reprocheck.verdict.divergence import equal_in_bits, first_divergence
from reprocheck.verdict.failure import ended_badly, failure, verdict_of
from reprocheck.verdict.large_numbers import ulp_distance
from reprocheck.verdict.mirrors import mirrors_of
from reprocheck.verdict.outcomes import outcomes
from reprocheck.verdict.pairing import apart, paired, partners, silent
from reprocheck.verdict.reported_series import compare_series

__all__ = [
    "FAIL_ON",
    "ended_before_checks",
    "equal_in_bits",
    "judge",
    "paired",
    "partners",
    "ulp_distance",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Decision:
    verdict: VerdictName
    because: Statement
    failed_check: CheckKind | None = None


def judge(runs: Sequence[Run], tolerance: Tolerance, fail_on: str = "checks") -> Verdict:
    """Compare every run with run 1, and return the verdict.

    fail_on  further rules of `FAIL_ON` that make the exit code 1, separated by commas

    Raises ValueError if a rule is not known.
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
    mirrors = mirrors_of(runs[0]) if runs else Mirrors()
    rule = ""
    if decision.verdict == "reproducible":
        rule = _broken(rules, bitwise, divergence, series, mirrors)
    exit_code = EXIT_CODE[decision.verdict]
    if rule:
        exit_code = 1
    return Verdict(
        verdict=decision.verdict,
        failed_check=decision.failed_check,
        because=decision.because,
        exit_code=exit_code,
        broken_rule=rule,
        comparisons=rows,
        bitwise=bitwise,
        first_divergence=divergence,
        outcomes=outcomes(runs),
        cautions=(*caveats(runs, rows, bitwise, decision.verdict, dtype), *mirrors.found),
        series=series,
        mirrors=mirrors,
    )


def _decide(
    runs: Sequence[Run],
    rows: Sequence[Comparison],
    bitwise: Bitwise,
    divergence: Divergence | None,
    series: tuple[SeriesComparison, ...],
) -> _Decision:
    """Return the verdict by the first case that holds.

    A check failed, a run failed, something is missing, else the runs agree.
    """
    ranks = _most_ranks(runs)
    if row := _worst(rows, "forward"):
        return _differ(row, ranks)
    if row := _worst(rows, "backward"):
        return _differ(row, ranks, all(row.passed for row in rows if row.kind == "forward"))
    if bad := ended_badly(runs):
        failed = failure(bad, runs, rows, bitwise.equal, divergence)
        return _Decision(verdict=verdict_of(bad[0]), because=failed)
    reasons: tuple[Statement | None, ...] = (
        _ended_before(runs, "interrupted"),
        _ended_before(runs, "broken"),
        next(map(_no_loss, (run for run in runs if not run.recorded_losses)), None),
        None if len(runs) > 1 else NotCompared(why="one run"),
        _not_made(rows),
        silent(runs),
        apart(runs),
    )
    open_question = next(filter(None, reasons), None)
    if open_question is not None:
        return _Decision(verdict="inconclusive", because=open_question)
    agreement = Agreement(
        runs=len(runs),
        iterations=min(len(trace.losses) for run in runs for trace in run.traces),
        ranks=_most_ranks(runs),
        backward=max(trace.backward.iteration for trace in runs[0].traces if trace.backward),
        largest=max(rows, key=attrgetter("weight")),
        bitwise=bitwise,
        divergence=divergence,
        series=series,
    )
    return _Decision(verdict="reproducible", because=agreement)


def _differ(row: Comparison, ranks: int, forward_agrees: bool = False) -> _Decision:
    differ = LossesDiffer(row=row, ranks=ranks, forward_agrees=forward_agrees)
    return _Decision(verdict="not_reproducible", failed_check=row.kind, because=differ)


def _worst(rows: Sequence[Comparison], kind: CheckKind) -> Comparison | None:
    """Return the failed row of the forward or backward check that exceeds the tolerance most.

    A loss that is finite in one run only exceeds the tolerance more than any other.
    """
    failed = [row for row in rows if row.kind == kind and row.passed is False]
    return max(failed, key=attrgetter("excess"), default=None)


def ended_before_checks(run: Run) -> bool:
    """Return whether a run failed or timed out before its checks could be made.

    The forward and the backward check.
    """
    return run.record.ended_badly and _too_early(run, run)


def _too_early(run: Run, reference: Run) -> bool:
    """Return whether a check lacks a loss, or needs an iteration that is not finished.

    The forward or the backward check.
    """
    own, references = run.by_rank, reference.by_rank
    if not references or references.keys() - own.keys():
        return True
    for rank, ruling in references.items():
        trace = own[rank]
        lacks = trace.forward is None or ruling.backward is None
        # the iterations that the checks need are missing or unfinished
        if ruling.backward is not None and trace.closed < ruling.backward.iteration:
            lacks = True
        if lacks:
            return True
        try:
            for kind in KINDS:
                pair_up(trace, ruling, kind, run.number)
        except CannotCompare:
            # Losses that cannot be paired, though all are there, are what is said of the runs: it
            # does not matter any more which iterations the ranks behind this one lack.
            return False
    return False


def _ended_before(runs: Sequence[Run], why: Literal["interrupted", "broken"]) -> NotCompared | None:
    """Return the first run that was interrupted before the checks could be made.

    A run whose recording breaks off counts as interrupted.
    """
    for run in runs:
        ended = run.record.ended == "interrupted" if why == "interrupted" else bool(run.broken)
        if ended and _too_early(run, runs[0]):
            return NotCompared(why=why, run=run.number, says=run.broken)
    return None


def _not_made(rows: Sequence[Comparison]) -> NotMade | None:
    """Return why a check could not be made.

    The first forward check of any run and rank, else the first backward check.
    """
    not_made = [(KINDS.index(row.kind), row.kind, row.why) for row in rows if row.passed is None]
    if not not_made:
        return None
    _, kind, why = min(not_made, key=itemgetter(0))
    assert why is not None, "a row that could not be made has its reason"
    return NotMade(kind=kind, why=why)


def _no_loss(run: Run) -> NotCompared:
    if not run.processes:
        return NotCompared(why="no process", run=run.number)
    if run.refused_loss:
        return NotCompared(why="no number", run=run.number, says=run.refused_loss)
    if not run.frameworks:
        return NotCompared(why="no framework", run=run.number)
    return NotCompared(why="no loss", run=run.number, frameworks=tuple(sorted(run.frameworks)))


def _most_ranks(runs: Sequence[Run]) -> int:
    """Return the number of ranks of the run that recorded most of them."""
    return max((len(run.traces) for run in runs), default=0)


def _broken(
    rules: Sequence[str],
    bitwise: Bitwise,
    divergence: Divergence | None,
    series: Sequence[SeriesComparison],
    mirrors: Mirrors,
) -> str:
    """Return the first rule of `--fail-on` that makes the exit code 1; "" if no rule does.

    A rule that names a series nobody reported is broken.
    """
    first_of = {row.name: row.first_outside for row in reversed(series)}
    for rule in rules:
        name = rule.removeprefix(SERIES_RULE)
        if name != rule:
            broken = name not in first_of or first_of[name] is not None
        elif rule == "bitwise":
            broken = bitwise.first_iteration is not None
        elif rule == MIRRORS_RULE:
            broken = bool(mirrors.faults)
        else:
            broken = rule == "any-iteration" and divergence is not None
        if broken:
            return rule
    return ""
