"""The order of an epoch, read off an iterator of a sampler that has handed out its first batch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from reprocheck.child.reprocheck_child.frameworks.torch import order


def walk(indices: list[int]) -> Iterator[int]:
    """As `RandomSampler` hands out an order: below a counter of its chunks, which is at 0
    meanwhile.
    """
    for _ in range(1):
        yield from indices


@pytest.mark.parametrize("indices", [[5, 3, 4, 1, 0, 2], [0, 3, 4, 1, 5, 2], [5, 0, 4, 1, 3, 2]])
@pytest.mark.parametrize("batch", [1, 2, 5])
def test_a_counter_is_no_order_also_where_the_batch_ends_with_0(
    indices: list[int], batch: int
) -> None:
    iterator = walk(indices)
    assert order.epoch(iterator, object(), list(islice(iterator, batch))) == (indices, True)


@pytest.mark.parametrize("indices", [range(7), range(2, 9), range(0, 14, 2), range(6, -1, -1)])
@pytest.mark.parametrize("batch", [1, 3, 7])
def test_a_range_is_the_order_of_what_is_not_shuffled(indices: range, batch: int) -> None:
    iterator = iter(indices)
    first = list(islice(iterator, batch))
    assert order.epoch(iterator, object(), first) == (list(indices), True)


def test_a_range_that_the_batch_did_not_come_from_is_no_order() -> None:
    iterator = iter(range(7))
    next(iterator)
    assert order.epoch(iterator, object(), [5, 3]) == (None, False)
