"""Both sides with the numbers of the resumed run: a pure function of what was recorded.

Everything behind it compares like with like.
"""

from __future__ import annotations

from array import array
from dataclasses import replace

from reprocheck.model import Checked, CheckKind, LossSeries, Run, Trace

KINDS: tuple[CheckKind, CheckKind] = ("forward", "backward")


def shifted(run: Run, k: int, count: int) -> Run:
    """Return at most `count` iterations of a run from k + 1 on, numbered from 1.

    With k = 0 the run is only cut.
    """
    return replace(run, traces=tuple(_shifted(trace, k, count) for trace in run.traces))


def between(series: LossSeries, k: int, count: int) -> LossSeries:
    """Return the losses of iterations k + 1 … k + count, as far as there are."""
    last = min(k + count, len(series))
    start, end = series.until(min(k, last)), series.until(last)
    exact = {place - start: text for place, text in series.exact.items() if start <= place < end}
    return LossSeries(
        values=series.values[start:end],
        dtype_of=series.dtype_of[start:end],
        dtypes=series.dtypes,
        ends=(array("q", (end - start for end in series.ends[min(k, last) : last]))),
        exact=exact,
    )


def _shifted(trace: Trace, k: int, count: int) -> Trace:
    losses = between(trace.losses, k, count)
    stopped = trace.stopped_at
    if stopped is not None:
        stopped = min(max(0, stopped - k), count)
    checked: list[Checked | None] = [None, None]
    for number, kind in enumerate(KINDS[: len(losses)]):
        start, end = losses.span(number + 1)
        checked[number] = Checked(kind=kind, iteration=number + 1, start=start, end=end)
    last = k + len(losses)
    return replace(
        trace,
        losses=losses,
        series=(),
        forward=checked[0],
        backward=checked[1],
        skipped=tuple(one - k for one in trace.skipped if k < one <= last),
        unordered=tuple(one - k for one in trace.unordered if k < one <= last),
        stopped_at=stopped,
        unfinished=trace.unfinished and len(trace.losses) <= k + count,
    )
