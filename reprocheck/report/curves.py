"""Compute what the charts show, at no more than about 2,000 iterations.

The losses of all runs, the tolerance band, and the differences.

Every point is a recorded iteration at its place. Long trainings are thinned: the first iterations
and those that the verdict names are kept, and of each of some hundred stretches the lowest and the
highest loss, the largest difference, and the first loss that is not finite.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from reprocheck.model import Check, LossSeries, Tolerance, Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]

LIMIT = 2000
HEAD = 200
MOST_RANKS = 8
_LARGEST = 1e300
"""Of what is drawn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """One value for each iteration shown, NaN if there is none.

    Of losses: the sum of the losses of an iteration.
    """

    run: int
    rank: int
    values: Array


@dataclass(frozen=True, kw_only=True, slots=True)
class Band:
    """What is allowed around run 1's loss."""

    rank: int
    low: Array
    high: Array


@dataclass(frozen=True, kw_only=True, slots=True)
class Curves:
    """Curves of all runs over `iterations`; `total` is the length of the longest run."""

    iterations: Whole
    total: int
    losses: tuple[Curve, ...]
    bands: tuple[Band, ...]
    differences: tuple[Curve, ...]
    allowed: tuple[Curve, ...]
    not_finite: tuple[tuple[int, int, int], ...]
    """(iteration, run, rank) of losses that are NaN or infinite, among the iterations shown."""
    first_divergence: int | None
    ranks: tuple[int, ...]
    ranks_total: int

    @property
    def thinned(self) -> bool:
        """Return whether iterations are left out."""
        return len(self.iterations) < self.total


def curves(check: Check) -> Curves:
    """Return the curves of a check."""
    import numpy as np

    shown, ranks_total = _ranks(check)
    traces = [
        (run.number, trace) for run in check.runs for trace in run.traces if trace.rank in shown
    ]
    reference = {
        trace.rank: trace for run in check.runs[:1] for trace in run.traces if trace.rank in shown
    }
    total = max((len(trace.losses) for _, trace in traces), default=0)
    first_divergence = None
    if check.verdict.first_divergence:
        first_divergence = check.verdict.first_divergence.iteration
    picks = np.empty(0, np.int64)
    if total:
        picks = _picks(check, traces, reference, total)
    losses = tuple(
        Curve(run=run, rank=trace.rank, values=_at(trace.losses, picks)) for run, trace in traces
    )
    differences, allowed = _differences(check, traces, reference, picks)
    return Curves(
        iterations=picks,
        total=total,
        losses=tuple(Curve(run=c.run, rank=c.rank, values=_finite(c.values)) for c in losses),
        bands=_bands(check, losses, reference, picks),
        differences=differences,
        allowed=allowed,
        not_finite=tuple(_not_finite(traces, losses, picks)),
        first_divergence=first_divergence,
        ranks=shown,
        ranks_total=ranks_total,
    )


def sums(series: LossSeries, first: int, last: int) -> Array:
    """Return the sum of losses for each iteration first … last (from 1).

    NaN if an iteration was not recorded or has no loss.
    """
    import numpy as np

    values, counts = _window(series, first, last)
    if len(counts) == last - first + 1 and len(values) == len(counts) and (counts == 1).all():
        return values
    answer = np.full(last - first + 1, np.nan)
    some = np.flatnonzero(counts)
    if len(some):
        starts = np.cumsum(counts) - counts
        with np.errstate(all="ignore"):
            answer[some] = np.add.reduceat(values, starts[some])
    return answer


def gaps(
    reference: Trace, other: Trace, tolerance: Tolerance, first: int, last: int
) -> tuple[Array, Array]:
    """Return |a - b| and the allowed difference, for the iterations first … last.

    Of several losses in an iteration, the one with the largest difference relative to the allowed
    one counts.

    NaN if the iteration is missing in a run, or the numbers of losses differ, or no difference is
    finite.
    """
    import numpy as np

    expected, counts = _window(reference.losses, first, last)
    values, others = _window(other.losses, first, last)
    size = min(len(counts), len(others))
    counts, others = counts[:size], others[:size]
    usable = (counts == others) & (counts > 0)
    expected = expected[: int(counts.sum())][np.repeat(usable, counts)]
    values = values[: int(others.sum())][np.repeat(usable, others)]
    where = np.flatnonzero(usable)
    iteration_of = np.repeat(where + first, counts[where])
    unordered = {*reference.unordered, *other.unordered}
    values, expected = _ordered(values, expected, iteration_of, unordered)
    difference, allowed = np.full(last - first + 1, np.nan), np.full(last - first + 1, np.nan)
    with np.errstate(all="ignore"):
        apart = np.abs(values - expected)
        most = tolerance.atol + tolerance.rtol * np.abs(expected)
        worst = _worst(apart - most, counts[where])
    difference[where], allowed[where] = apart[worst], most[worst]
    return _finite(difference), _finite(allowed)


def _window(series: LossSeries, first: int, last: int) -> tuple[Array, Whole]:
    """Return the recorded losses of the iterations first … last, and how many each has.

    Views, not copies.
    """
    import numpy as np

    ends = np.asarray(series.ends)[first - 1 : last]
    if not len(ends):
        return np.empty(0), np.empty(0, np.int64)
    start = 0
    if first > 1:
        start = series.ends[first - 2]
    counts: Any = np.diff(ends, prepend=start)
    return np.asarray(series.values)[start : int(ends[-1])], counts


def _ordered(a: Array, b: Array, iteration_of: Whole, unordered: set[int]) -> tuple[Array, Array]:
    """Sort the losses of several threads in one iteration: they have no order of their own."""
    import numpy as np

    if not unordered:
        return a, b
    free = np.isin(iteration_of, list(unordered))
    return tuple(np.where(free, x[np.lexsort((x, iteration_of))], x) for x in (a, b))  # type: ignore[return-value]


def _worst(excess: Array, counts: Whole) -> Whole:
    """Return the index of the first largest excess in each segment, none of which is empty."""
    import numpy as np

    if len(excess) == len(counts):
        return np.arange(len(excess))
    excess = np.where(np.isnan(excess), -np.inf, excess)
    starts = np.cumsum(counts) - counts
    hits = np.flatnonzero(excess == np.repeat(np.maximum.reduceat(excess, starts), counts))
    segment = np.repeat(np.arange(len(counts)), counts)[hits]
    return hits[np.unique(segment, return_index=True)[1]]


def _finite(values: Array) -> Array:
    """Replace values that are too large to draw: Matplotlib multiplies the size of an axis."""
    import numpy as np

    return np.where(np.abs(values) < _LARGEST, values, np.nan)


def _ranks(check: Check) -> tuple[tuple[int, ...], int]:
    """Return the ranks to draw, preferring those that differ most, and how many ranks there are."""
    ranks = sorted({trace.rank for run in check.runs for trace in run.traces})
    excess = dict.fromkeys(ranks, float("-inf"))
    for row in check.verdict.comparisons:
        if row.max_difference is not None and row.allowed is not None and row.rank in excess:
            excess[row.rank] = max(excess[row.rank], row.max_difference - row.allowed)
    named = set(ranks[:1])
    if check.verdict.first_divergence:
        named.add(check.verdict.first_divergence.rank)
    first = sorted(ranks, key=lambda rank: (rank not in named, -excess[rank], rank))
    return tuple(sorted(first[:MOST_RANKS])), len(ranks)


def _named(check: Check, total: int) -> Iterator[int]:
    """Yield iterations that the verdict names, with their neighbours."""
    named = [row.iteration for row in check.verdict.comparisons] + [total]
    if check.verdict.first_divergence:
        named.append(check.verdict.first_divergence.iteration)
    if check.verdict.bitwise.first_iteration:
        named.append(check.verdict.bitwise.first_iteration)
    for iteration in set(named):
        yield from (i for i in (iteration - 1, iteration, iteration + 1) if 1 <= i <= total)


def _picks(
    check: Check, traces: list[tuple[int, Trace]], reference: dict[int, Trace], total: int
) -> Whole:
    """Return the iterations to show, ascending."""
    import numpy as np

    limit = max(300, min(LIMIT, 24_000 // len(traces)))
    if total <= limit:
        return np.arange(1, total + 1)
    head = min(HEAD, limit // 4)
    chosen = set(range(1, head + 1)).union(_named(check, total))
    edges = np.linspace(head + 1, total + 1, (limit - head) // 4 + 1).astype(int)
    for first, last in zip(edges[:-1].tolist(), (edges[1:] - 1).tolist(), strict=True):
        chosen.update(
            first + offset
            for offset in _extremes(check.record.tolerance, traces, reference, first, last)
        )
    return np.array(sorted(chosen))


def _extremes(
    tolerance: Tolerance,
    traces: list[tuple[int, Trace]],
    reference: dict[int, Trace],
    first: int,
    last: int,
) -> Iterable[int]:
    """Return the offsets in first … last of the most telling losses.

    The lowest, the highest, the largest difference, and the first that is not finite.
    """
    import numpy as np

    shape = last - first + 1
    low, high, apart, lost = (
        np.full(shape, np.inf),
        np.full(shape, -np.inf),
        np.full(shape, -1.0),
        np.zeros(shape, bool),
    )
    for _, trace in traces:
        loss = sums(trace.losses, first, last)
        good = np.isfinite(loss)
        recorded = max(0, min(last, len(trace.losses)) - first + 1)
        lost[:recorded] |= ~good[:recorded]
        low = np.minimum(low, np.where(good, loss, np.inf))
        high = np.maximum(high, np.where(good, loss, -np.inf))
        base = reference.get(trace.rank)
        if base is not None and base is not trace:
            apart = np.fmax(apart, gaps(base, trace, tolerance, first, last)[0])
    found = {int(low.argmin()), int(high.argmax()), int(apart.argmax())}
    if lost.any():
        found.add(int(lost.argmax()))
    return found


def _at(series: LossSeries, picks: Whole) -> Array:
    """Return the sums of losses at the iterations `picks`."""
    import numpy as np

    if _none_left_out(picks):
        return sums(series, 1, len(picks))
    # An iteration behind the end of the series has no loss: its sum is NaN.
    return np.array([sums(series, i, i)[0] for i in picks.tolist()], dtype=float)


def _none_left_out(picks: Whole) -> bool:
    """Return whether the iterations shown are 1, 2, 3 and so on."""
    return len(picks) > 0 and int(picks[-1]) == len(picks)


def _differences(
    check: Check, traces: list[tuple[int, Trace]], reference: dict[int, Trace], picks: Whole
) -> tuple[tuple[Curve, ...], tuple[Curve, ...]]:
    """Return the difference of every later run from run 1, and the allowed difference.

    One curve per rank, of the run that exceeds it most.
    """
    import numpy as np

    differences, allowed, excess = [], {}, {}
    for run, trace in traces:
        base = reference.get(trace.rank)
        if base is None or base is trace:
            continue
        apart, most = _gaps_at(base, trace, check.record.tolerance, picks)
        differences.append(Curve(run=run, rank=trace.rank, values=apart))
        with np.errstate(all="ignore"):
            beyond = np.where(np.isnan(apart - most), -np.inf, apart - most)
        if trace.rank not in allowed:
            allowed[trace.rank], excess[trace.rank] = most, beyond
            continue
        take = np.isnan(allowed[trace.rank]) | (beyond > excess[trace.rank])
        allowed[trace.rank] = np.where(take, most, allowed[trace.rank])
        excess[trace.rank] = np.maximum(beyond, excess[trace.rank])
    return tuple(differences), tuple(
        Curve(run=1, rank=rank, values=values) for rank, values in sorted(allowed.items())
    )


def _gaps_at(base: Trace, trace: Trace, tolerance: Tolerance, picks: Whole) -> tuple[Array, Array]:
    import numpy as np

    if _none_left_out(picks):
        return gaps(base, trace, tolerance, 1, len(picks))
    pairs = [gaps(base, trace, tolerance, i, i) for i in picks.tolist()]
    apart, most = np.array(pairs, dtype=float).reshape(len(pairs), 2).T
    return apart, most


def _bands(
    check: Check, losses: tuple[Curve, ...], reference: dict[int, Trace], picks: Whole
) -> tuple[Band, ...]:
    """Return the tolerance around run 1: the sum of what is allowed for an iteration's losses."""
    import numpy as np

    tolerance, wanted, bands = check.record.tolerance, picks.tolist(), []
    for curve in losses:
        if not check.runs or curve.run != check.runs[0].number:
            continue
        series = reference[curve.rank].losses
        with np.errstate(all="ignore"):
            sizes = [_allowance(series, iteration) for iteration in wanted]
            counts, size = np.array(sizes, dtype=float).reshape(len(sizes), 2).T
            half = tolerance.atol * counts + tolerance.rtol * size
            low, high = _finite(curve.values - half), _finite(curve.values + half)
            bands.append(Band(rank=curve.rank, low=low, high=high))
    return tuple(bands)


def _allowance(series: LossSeries, iteration: int) -> tuple[float, float]:
    """Return how many losses an iteration has, and the sum of their sizes; NaN behind the end."""
    import numpy as np

    if iteration > len(series):
        return 1.0, np.nan
    losses = np.abs(np.asarray(series.losses(iteration)))
    return float(len(losses)), float(losses.sum())


def _not_finite(
    traces: list[tuple[int, Trace]], losses: tuple[Curve, ...], picks: Whole
) -> Iterator[tuple[int, int, int]]:
    import numpy as np

    for (run, trace), curve in zip(traces, losses, strict=True):
        for index in np.flatnonzero(~np.isfinite(curve.values)).tolist():
            iteration = int(picks[index])
            if iteration <= len(trace.losses) and len(trace.losses.losses(iteration)):
                yield iteration, run, trace.rank
