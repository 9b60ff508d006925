"""Measure what a check took.

It took seconds an iteration, memory, and what it reports of a clock; each is one number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from statistics import median

from reprocheck.model import Sample
from reprocheck.suite.model import Recorded
from reprocheck.suite.surface import is_of_a_machine

SECONDS, MEMORY, DEVICE_MEMORY, GROWTH = "seconds", "memory", "device_memory", "growth"
EVERY = (SECONDS, MEMORY, DEVICE_MEMORY, GROWTH)
"""The measures that every training may have; others are series that it reports."""
LEAST_SAMPLES = 8
"""Samples of memory without which growth is not judged."""
LEAST_GROWTH = 0.02
"""Relative to the memory held: less is no leak, but what a training comes to hold by and by."""
LEAST_BYTES = 4 << 20
MOST_FALLS = 0.1
"""The share of samples at which the memory of a leak may be below the one before."""


def measures(recorded: Recorded) -> dict[str, float]:
    """Return the measures of run 1, by name; those that were not recorded are left out.

    Memory is the largest of all ranks, what else is reported is that of the first rank.
    """
    found: dict[str, float | None] = {}
    for _, series in recorded.series[:1]:
        for one in series:
            values = [value for value in one.numbers.values if math.isfinite(value)]
            if values and is_of_a_machine(one.name):
                found.setdefault(one.name, median(values))
    samples = recorded.samples
    found[SECONDS] = _seconds(samples[0], recorded.deep) if samples else None
    every = [sample for of_rank in samples for sample in of_rank]
    found[MEMORY] = max((one.peak for one in every if one.peak), default=None)
    found[DEVICE_MEMORY] = max((one.device for one in every if one.device), default=None)
    found[GROWTH] = max((_growth(of_rank, recorded.deep) for of_rank in samples), default=None)
    return {name: float(value) for name, value in found.items() if value}


def _seconds(samples: Sequence[Sample], deep: int) -> float | None:
    """Return the median time of an iteration, without those that were recorded deeply."""
    timed = [(one.iteration, one.clock) for one in samples if one.clock and one.iteration > deep]
    each = [
        (clock - before) / (iteration - earlier)
        for (earlier, before), (iteration, clock) in pairwise(timed)
        if iteration > earlier
    ]
    return median(each) if each else None


def _growth(samples: Sequence[Sample], deep: int) -> float:
    """Return by how many bytes an iteration the memory rises all the time; 0 if it does not.

    The first quarter of the iterations does not count: there a training takes what it works with.
    """
    last = max((one.iteration for one in samples), default=0)
    points = [
        (one.iteration, one.memory)
        for one in samples
        if one.clock and one.memory and one.iteration > max(deep + 1, last / 4)
    ]
    if len(points) < LEAST_SAMPLES:
        return 0.0
    falls = sum(after < before for (_, before), (_, after) in pairwise(points))
    rises = sum(after > before for (_, before), (_, after) in pairwise(points))
    grown = points[-1][1] - points[0][1]
    is_much = grown > max(LEAST_BYTES, LEAST_GROWTH * points[0][1])
    if not is_much or falls > MOST_FALLS * len(points) or rises < len(points) / 2:
        return 0.0
    return median((b - a) / (j - i) for (i, a), (j, b) in combinations(points, 2) if j > i)


def known_names(checks: Iterable[Mapping[str, float]]) -> tuple[str, ...]:
    """Return the names of the measures of some checks, those first that every training has."""
    names = {name for one in checks for name in one}
    first = [name for name in EVERY if name in names]
    return (*first, *sorted(names.difference(first)))
