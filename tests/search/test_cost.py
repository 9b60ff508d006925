"""No figure of cost from a few noisy starts."""

from __future__ import annotations

import pytest

from reprocheck.search.cost import times_as_long


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([1.0, 1.1], [1.5, 1.6, 1.7], None),
        ([1.0, 1.1, 1.2], [1.5, 1.6], None),
        ([1.0, 1.1, 1.9], [1.5, 1.6, 1.7], None),
        ([1.0, 1.1, 1.2], [2.2, 2.1, 2.3], 2.0),
        ([2.0, 2.2, 2.1], [1.0, 1.05, 1.1], 0.5),
        ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], None),
        ([], [], None),
    ],
)
def test_a_cost_takes_three_runs_on_each_side_that_lie_apart(
    before: list[float], after: list[float], expected: float | None
) -> None:
    assert times_as_long(before, after) == pytest.approx(expected)
