"""Runs that failed or timed out: which, where and how, and what could be compared before."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from operator import attrgetter, itemgetter

from reprocheck.model import Comparison, Divergence, Ended, Run, Trace, VerdictName
from reprocheck.model.statements.verdict import RunEnding, RunsFailed
from reprocheck.verdict.ended_ranks import lost

_ERROR = re.compile(r"^(?:\[rank\d+\]:\s*)?((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)\b.*)")
_VERDICTS: Mapping[Ended, VerdictName] = {"failed": "script_failed", "timed_out": "timed_out"}


def ended_badly(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that failed or timed out.

    A run that reprocheck stopped, or that ended with exit status 0, is not among them.
    """
    return [run for run in runs if run.record.ended_badly]


def verdict_of(run: Run) -> VerdictName:
    """Return the verdict on a check in which this run failed or timed out."""
    return _VERDICTS[run.record.ended]


def failure(
    bad: Sequence[Run],
    runs: Sequence[Run],
    rows: Sequence[Comparison],
    bits: bool | None,
    later: Divergence | None,
) -> RunsFailed:
    """Return how the runs ended, and what the checks say of the iterations before.

    The forward and the backward check.

    bad    the runs that failed or timed out
    runs   all runs of the check
    rows   the results of the forward and backward check
    bits   whether all losses that could be compared are equal in every bit
    later  the first loss outside the tolerance
    """
    return RunsFailed(
        runs=tuple(run.number for run in bad),
        endings=tuple(ending(run, _came_to(run)) for run in bad),
        of=len(runs),
        lost=lost(bad[0]),
        checks_made=bool(rows) and all(row.passed is not None for row in rows),
        equal=bits,
        leaves_in=later.iteration if later else None,
    )


def _came_to(run: Run) -> tuple[int, bool]:
    """Return the last iteration of which a rank recorded anything, and whether it was under way."""
    came = [(len(trace.losses), trace.unfinished) for trace in run.traces]
    return max(came, key=itemgetter(0), default=(0, False))


def ending(run: Run, came_to: tuple[int, bool] = (0, False)) -> RunEnding:
    """Return how a run ended; `came_to`: its last iteration, and whether that was under way."""
    record = run.record
    iteration, unfinished = came_to
    ended = partial(RunEnding, iteration=iteration, unfinished=bool(iteration) and unfinished)
    if record.ended == "timed_out":
        return ended(how="timed out", seconds=round(record.seconds, 0))
    if record.ended == "interrupted":
        return ended(how="interrupted")
    if record.exit_status is None:
        return ended(how="unknown")
    if record.exit_status < 0:
        return ended(how="signal", status=-record.exit_status)
    if error := _error(run):
        return ended(how="error", says=error)
    # argparse and click exit with 2, and the reason is their last line
    refusal = ""
    if record.exit_status == 2 and "error: " in run.last_words.lower():
        refusal = run.last_words[:200]
    return ended(how="status", status=record.exit_status, says=refusal)


def _error(run: Run) -> str:
    """Return the exception that ended the run; "" if none is known.

    An exception that is only in the log may have been caught, so the log is read last.
    """
    errors = map(attrgetter("error"), run.processes)
    named: str = next(filter(None, errors), "")
    if named:
        return named
    ended = {process.ended for process in run.processes}
    if ended == {True}:
        return ""
    from_the_end = map(str.strip, reversed(run.stderr_tail.splitlines()))
    error = next(filter(None, map(_ERROR.match, from_the_end)), None)
    if error is None:
        return ""
    return error[1][:200]


def cut_short(iteration: int, trace: Trace, reference: Trace, run: Run, first: Run) -> bool:
    """Return whether a series lacks an iteration because its run was cut short.

    It was ended early, or its recording breaks off.

    Such a gap says nothing about the losses. The last iteration of an ended run may lack losses,
    too.
    """
    return _lacks(trace, run, iteration) or _lacks(reference, first, iteration)


def _lacks(trace: Trace, run: Run, iteration: int) -> bool:
    is_part = bool(trace.broken) or not run.record.ended_as_planned
    return is_part and iteration > trace.closed
