"""The losses of several ranks as one series, which runs with other numbers of ranks share."""

from __future__ import annotations

from array import array
from dataclasses import replace

from reprocheck.model import LossSeries, Run


def world_of(run: Run) -> int:
    """Return with how many ranks a run trained."""
    return run.world or len(run.traces)


def have_other_ranks(one: Run, other: Run) -> bool:
    """Return whether two runs trained with different numbers of ranks.

    One that made no step has none.
    """
    worlds = {world_of(one), world_of(other)} - {0}
    return len(worlds) > 1


def over_ranks(run: Run) -> Run:
    """Return a run of one rank with the mean of the losses of all ranks in each iteration.

    The mean is the loss of the whole batch if each rank has an equal part of the batch.
    """
    if not run.traces:
        return run
    first = min(run.traces, key=lambda trace: trace.rank)
    last = min(len(trace.losses) for trace in run.traces)
    means = array("d")
    for iteration in range(1, last + 1):
        values = [value for trace in run.traces for value in trace.losses.losses(iteration)]
        means.append(sum(values) / len(values) if values else float("nan"))
    losses = LossSeries(
        values=means,
        dtype_of=array("B", bytes(last)),
        dtypes=("float64",),
        ends=array("q", range(1, last + 1)),
    )
    one = replace(first, losses=losses, series=(), forward=None, backward=None)
    return replace(run, traces=(one,))
