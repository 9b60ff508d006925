"""Runs that did not come to their own end: which, where and how, and what could be compared until
then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

from reprocheck.language import joined, tr
from reprocheck.model import Comparison, Divergence, Ended, Run, Trace, VerdictName
from reprocheck.verdict import words
from reprocheck.verdict.lost import lost

_VERDICTS: Mapping[Ended, VerdictName] = {"failed": "script_failed", "timed_out": "timed_out"}


def ended_badly(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that failed or took too long.

    One that was stopped by us, or reached its end with status 0, is none.
    """
    return [run for run in runs if run.record.ended_badly]


def verdict_of(run: Run) -> VerdictName:
    """Return what such a run makes of the check."""
    return _VERDICTS[run.record.ended]


def reason(
    bad: Sequence[Run],
    runs: Sequence[Run],
    rows: Sequence[Comparison],
    bits: bool | None,
    later: Divergence | None,
) -> str:
    """Return how the runs ended, and what both checks say of the iterations before.

    bits   whether all losses that could be compared are equal in every bit
    later  the first loss outside the tolerance
    """
    each = (tr("run {number} {ending}", number=run.number, ending=_ending(run)) for run in bad)
    said = _all_alike(bad, runs) or joined(tr(", "), each)
    detail = words.behind(lost(bad[0]))
    both_made = bool(rows) and all(row.passed is not None for row in rows)
    if not both_made:
        return tr("{said}, before both checks could be made{detail}", said=said, detail=detail)
    return tr(
        "{said}; until then both checks pass{how_well}{detail}",
        said=said,
        how_well=_how_well(bits, later),
        detail=detail,
    )


def _all_alike(bad: Sequence[Run], runs: Sequence[Run]) -> str:
    """Return `both runs ended …`, where all runs ended in the same way; else empty."""
    endings = set(map(_ending, bad))
    if len(bad) < max(2, len(runs)) or len(endings) > 1:
        return ""
    ending = words.ending(bad[0], where(bad[0]), several=True)
    if len(runs) == 2:
        return tr("both runs {ending}", ending=ending)
    return tr("all {number} runs {ending}", number=len(runs), ending=ending)


def _how_well(bits: bool | None, later: Divergence | None) -> str:
    if bits:
        return tr(", bit for bit")
    if later is not None:
        return tr(
            " and the losses leave the tolerance in iteration {iteration}",
            iteration=later.iteration,
        )
    return tr(" within the tolerance")


def _ending(run: Run) -> str:
    return words.ending(run, where(run))


def where(run: Run) -> str:
    """Return `in iteration 5` where it was under way, `after iteration 4` where that had ended;
    empty where none was recorded.
    """
    came = [(len(trace.losses), trace.unfinished) for trace in run.traces]
    furthest, unfinished = max(came, key=itemgetter(0), default=(0, False))
    return words.reached(furthest, unfinished=unfinished)


def cut_short(iteration: int, trace: Trace, reference: Trace, run: Run, first: Run) -> bool:
    """Return whether a series lacks an iteration because its run was ended before, or its recording
    breaks off: that says nothing about its losses.

    The last iteration of a run that was ended may lack some of its losses.
    """
    return _lacks(trace, run, iteration) or _lacks(reference, first, iteration)


def _lacks(trace: Trace, run: Run, iteration: int) -> bool:
    is_part = bool(trace.broken) or not run.record.ended_as_planned
    return is_part and iteration > trace.closed
