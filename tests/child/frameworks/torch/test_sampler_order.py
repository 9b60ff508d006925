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


def test_a_range_is_the_order_of_what_is_not_shuffled() -> None:
    iterator = iter(range(7))
    assert order.epoch(iterator, object(), list(islice(iterator, 3))) == (list(range(7)), True)
