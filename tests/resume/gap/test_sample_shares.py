"""Which samples all ranks have used together, where their number is another one."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.resume.gap.batches import taken
from reprocheck.resume.gap.evidence import SharesGap
from reprocheck.resume.gap.other_ranks import Shares, points, shares, shares_gap
from reprocheck.resume.gap.sentences import detail
from reprocheck.trace.deep import Seen
from tests.resume.gap.test_batches import epoch_fact, step

BATCH, BATCHES = 4, 6
"""Samples that all ranks use in an iteration, and iterations of an epoch."""
AT = 2
"""The update behind which the checkpoint lies."""
DUE = list(range(AT * BATCH, BATCHES * BATCH))
RANKS = 2, 4


def run_of(samples: Sequence[int], ranks: int, k: int, batch: int = BATCH) -> Shares:
    """A run whose ranks share each batch of these samples."""
    return shares([taken(rank_of(samples, number, ranks, batch)) for number in range(ranks)], k)


def rank_of(samples: Sequence[int], number: int, ranks: int, batch: int) -> list[Seen]:
    """What one of the ranks records: it uses every so-many-th sample."""
    own = samples[number::ranks]
    facts = [epoch_fact(own, 1)]
    size = batch // ranks
    for iteration, start in enumerate(range(0, len(own), size), 1):
        facts += step(own[start : start + size], iteration)
    return facts


CONTINUED = run_of(range(BATCHES * BATCH), 2, AT)


def gap_of(resumed: Shares) -> SharesGap | None:
    return shares_gap(points(CONTINUED, resumed), CONTINUED.before, RANKS)


def test_samples_behind_an_update_are_those_that_all_ranks_had_not_used() -> None:
    assert sorted(CONTINUED.before) == list(range(AT * BATCH))
    assert [sorted(samples) for samples in CONTINUED.behind] == [
        DUE[start : start + BATCH] for start in range(0, len(DUE), BATCH)
    ]
    assert CONTINUED.of_first == BATCH


def test_the_samples_that_were_due_may_lie_on_other_ranks() -> None:
    resumed = run_of(DUE, 4, 0)
    assert len(points(CONTINUED, resumed)) == BATCHES - AT
    assert gap_of(resumed) is None


def test_batches_of_another_size_are_compared_where_both_have_used_as_many() -> None:
    resumed = run_of(DUE, 4, 0, batch=2 * BATCH)
    assert [point.iteration for point in points(CONTINUED, resumed)] == [1, 2]
    assert gap_of(resumed) is None


def test_samples_that_come_again_and_those_that_never_come_are_counted() -> None:
    again = [*range(BATCH), *DUE[: -2 * BATCH]]
    gap = gap_of(run_of(again, 4, 0))
    assert gap == SharesGap(iteration=1, ranks=RANKS, of=len(again), twice=BATCH, never=BATCH)
    said = detail(gap)
    assert said.startswith("with 4 ranks instead of 2,")
    assert said.endswith("of 12 samples, seen twice: 4, never seen: 4")


def test_nothing_is_compared_without_batches() -> None:
    nothing = shares([[], []], 0)
    assert (nothing.of_first, points(CONTINUED, nothing)) == (0, ())
