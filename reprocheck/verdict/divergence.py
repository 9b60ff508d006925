"""Find the first iteration in which runs differ in any bit, or by more than is allowed.

Of all recorded iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Literal

from reprocheck.model import Bitwise, Divergence, Run, Tolerance, Trace
from reprocheck.model.statements.verdict import RankInOneRunOnly, WithoutPartner
from reprocheck.verdict.checks import losses_in
from reprocheck.verdict.failure import cut_short
from reprocheck.verdict.series import Unequal, first_outside, first_unequal


def equal_in_bits(runs: Sequence[Run]) -> tuple[Bitwise, str | None]:
    """Return whether all recorded losses are equal in every bit, and the dtype of ULP."""
    recorded = any(map(attrgetter("recorded_losses"), runs))
    if len(runs) < 2 or not recorded:
        return Bitwise(equal=None), None
    ranks = {frozenset(run.by_rank) for run in runs}
    if len(ranks) > 1:
        return Bitwise(equal=False, first_iteration=1), None
    differences = list(_unequal(runs))
    if not differences:
        return Bitwise(equal=True), None
    first = min(map(attrgetter("iteration"), differences))
    there = [unequal for unequal in differences if unequal.iteration == first]
    ends = all(map(attrgetter("ends"), there))
    bitwise = Bitwise(equal=False, first_iteration=first, one_is_longer=ends)
    distances = [unequal.ulp for unequal in there if unequal.ulp is not None]
    dtypes = {unequal.dtype for unequal in there}
    if len(dtypes) > 1 or len(distances) < len(there):
        return bitwise, None
    return replace(bitwise, ulp=max(distances)), dtypes.pop()


def _unequal(runs: Sequence[Run]) -> Iterator[Unequal]:
    """Yield, for each rank of each later run, the first iteration that differs in any bit.

    From run 1.

    A rank is left out if it lacks iterations only because its run was ended early.
    """
    references = runs[0].by_rank
    for run in runs[1:]:
        for rank, own in run.by_rank.items():
            reference = references[rank]
            unequal = first_unequal(own.losses, reference.losses)
            if unequal is None:
                continue
            by_its_end = unequal.ends and cut_short(unequal.iteration, own, reference, run, runs[0])
            if not by_its_end:
                yield unequal


def first_divergence(runs: Sequence[Run], tolerance: Tolerance) -> Divergence | None:
    """Return the first loss of all that is outside the tolerance or missing in one run."""
    divergences = []
    for run in runs[1:]:
        own, references = run.by_rank, runs[0].by_rank
        for rank in references.keys() | own.keys():
            if rank in own and rank in references:
                divergence = _of_rank(own[rank], references[rank], run, runs[0], tolerance)
            else:
                divergence = _of_one_run(rank, run, runs[0])
            if divergence is not None:
                divergences.append(divergence)
    return min(divergences, key=attrgetter("iteration", "run", "rank"), default=None)


def _of_one_run(rank: int, run: Run, first: Run) -> Divergence | None:
    """Return the divergence of a rank that only one of two runs has.

    None if the run without the rank was ended early or recorded nothing.
    """
    has, lacks = first, run
    if rank in run.by_rank:
        has, lacks = run, first
    if lacks.broken or not (lacks.traces and lacks.record.ended_as_planned):
        return None
    return Divergence(
        iteration=1,
        run=run.number,
        rank=rank,
        reference=None,
        value=None,
        why=RankInOneRunOnly(rank=rank, run=has.number),
    )


def _of_rank(
    own: Trace, reference: Trace, run: Run, first: Run, tolerance: Tolerance
) -> Divergence | None:
    outside = first_outside(own.losses, reference.losses, tolerance)
    if outside is None:
        return None
    why, iteration = None, outside.iteration
    if outside.value is None:
        if cut_short(iteration, own, reference, run, first):
            return None
        # one series is longer, or holds more losses in the iteration
        of: Literal["iterations", "losses"] = "iterations"
        numbers = len(own.losses), len(reference.losses)
        if iteration <= min(numbers):
            of, numbers = "losses", (losses_in(own, iteration), losses_in(reference, iteration))
        why = WithoutPartner(
            of=of, iteration=iteration, run=run.number, own=numbers[0], reference=numbers[1]
        )
    return Divergence(
        iteration=iteration,
        run=run.number,
        rank=own.rank,
        reference=outside.reference,
        value=outside.value,
        why=why,
    )
