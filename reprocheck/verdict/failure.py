"""Runs that did not come to their own end: which, where and how, and what could be compared until
then.
"""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.model import Comparison, Divergence, Run, Trace, VerdictName
from reprocheck.verdict import words
from reprocheck.verdict.lost import lost

NOT_ITS_OWN_END = ("failed", "timed_out", "interrupted")


def ended_badly(runs: Sequence[Run]) -> list[Run]:
    """The runs that failed or took too long.

    One that was stopped by us, or reached its end with status 0, is none.
    """
    return [run for run in runs if run.record.ended_badly]


def verdict_of(run: Run) -> VerdictName:
    """What such a run makes of the check."""
    return "timed_out" if run.record.ended == "timed_out" else "script_failed"


def reason(
    bad: Sequence[Run],
    runs: Sequence[Run],
    rows: Sequence[Comparison],
    bits: bool | None,
    later: Divergence | None,
) -> str:
    """How the runs ended, and what both checks say of the iterations before.

    bits   whether all losses that could be compared are equal in every bit
    later  the first loss outside the tolerance
    """
    said = _all_alike(bad, runs) or ", ".join(f"run {run.number} {_ending(run)}" for run in bad)
    who = lost(bad[0])
    detail = f"; {who}" if who else ""
    both_made = bool(rows) and all(row.passed is not None for row in rows)
    if not both_made:
        return f"{said}, before both checks could be made{detail}"
    return f"{said}; until then both checks pass{_how_well(bits, later)}{detail}"


def _all_alike(bad: Sequence[Run], runs: Sequence[Run]) -> str:
    """`both runs ended …`, where all runs ended in the same way; else empty."""
    if len(bad) < 2 or len(bad) < len(runs):
        return ""
    if len({_ending(run) for run in bad}) > 1:
        return ""
    who = "both" if len(runs) == 2 else f"all {len(runs)}"
    return f"{who} runs {words.ending(bad[0], where(bad[0]), several=True)}"


def _how_well(bits: bool | None, later: Divergence | None) -> str:
    if bits:
        return ", bit for bit"
    if later is not None:
        return f" and the losses leave the tolerance in iteration {later.iteration}"
    return " within the tolerance"


def _ending(run: Run) -> str:
    return words.ending(run, where(run))


def where(run: Run) -> str:
    """`in iteration 5` where it was under way, `after iteration 4` where that had ended; empty
    where none was recorded.
    """
    furthest = max(run.traces, key=lambda trace: len(trace.losses), default=None)
    if furthest is None or not len(furthest.losses):
        return ""
    preposition = "in" if furthest.unfinished else "after"
    return f"{preposition} iteration {len(furthest.losses)}"


def cut_short(iteration: int, trace: Trace, reference: Trace, run: Run, first: Run) -> bool:
    """Whether a series lacks an iteration because its run was ended before: that says nothing about
    its losses.

    The last iteration of a run that was ended may lack some of its losses.
    """
    return _lacks(trace, run, iteration) or _lacks(reference, first, iteration)


def _lacks(trace: Trace, run: Run, iteration: int) -> bool:
    if run.record.ended not in NOT_ITS_OWN_END:
        return False
    return iteration > trace.closed
