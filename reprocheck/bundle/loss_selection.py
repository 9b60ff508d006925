"""Which iterations stand in the losses of an attachment where there are too many for all.

The first half of what there is room for; those around the first differences and the last; and from
the rest, evenly spaced, the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from reprocheck.model import Check

LEAST = 10
"""Iterations that are kept in any case, so that a check of very many ranks shows its first ones."""
AROUND = 5
"""Iterations before and after one that the verdict names."""


def kept(check: Check, most: int) -> Sequence[int] | None:
    """Return the iterations (from 1) that are kept so that at most about `most` values are; None
    for all.
    """
    longest = max((run.longest for run in check.runs), default=0)
    values = sum(run.recorded_losses for run in check.runs)
    values += sum(len(series) for trace in check.traces for series in trace.series)
    room = max(LEAST, most * longest // max(1, values))
    if values <= most or room >= longest:
        return None
    first = range(1, room // 2 + 1)
    named = [*_around(check, longest)]
    others = max(1, room - len(first) - len(named))
    step = max(1, ceil((longest - len(first)) / others))
    spaced = range(len(first) + step, longest + 1, step)
    return sorted({*first, *named, *spaced, longest})


def _around(check: Check, longest: int) -> Iterator[int]:
    """Yield the iterations that the verdict names, with those beside them."""
    verdict = check.verdict
    places = [row.first_outside for row in verdict.differing_series[:LEAST]]
    named = [row.iteration for row in verdict.comparisons[:LEAST]]
    named += [place.iteration for place in filter(None, places)]
    named += filter(None, (verdict.diverges_from, verdict.bitwise.first_iteration))
    for iteration in named:
        yield from range(max(1, iteration - AROUND), min(longest, iteration + AROUND) + 1)
