"""A search for what makes a series differ: which it is, and when runs agree in it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from reprocheck.model import Tolerance, Verdict
from reprocheck.search.request import Target
from reprocheck.verdict import judge
from tests.verdict.test_reported_series import reported
from tests.verdict.verdict_runs import NAN, run, trace

LOSSES = [[1.0], [0.5], [0.25]]
RULE = "series:val"
TARGET = Target(name="val", by="wandb", number=2, iteration=2)


def judged(
    values: Sequence[float], losses: Sequence[Sequence[float]] = LOSSES, fail_on: str = RULE
) -> Verdict:
    """Of a run with [1, 2, 3], and one with these values and losses."""
    runs = [
        run(1, trace(LOSSES, series=(reported("val", [1.0, 2.0, 3.0]),))),
        run(2, trace(losses, series=(reported("val", values),))),
    ]
    return judge(runs, Tolerance(rtol=1e-3, atol=1e-3), fail_on)


@pytest.mark.parametrize(
    ("verdict", "agree"),
    [
        (judged([1.0, 2.0, 3.0]), True),
        (judged([1.0, 2.0, 4.0]), False),
        (judged([1.0, 2.0001, 3.0]), False),
        (judged([1.0, 2.0, 3.0], [[1.0], [0.5001], [0.25]]), False),
        (judged([1.0, 2.0, 3.0], [[9.0], [0.5], [0.25]]), False),
        (judged([1.0, 2.0, 3.0], [[1.0]]), None),
    ],
    ids=["equal", "differs", "within the tolerance", "other bits", "other losses", "too short"],
)
def test_runs_agree_in_every_bit_of_the_series_and_of_the_losses(
    verdict: Verdict, agree: bool | None
) -> None:
    assert TARGET.agree(verdict, 3) is agree


def test_a_series_fails_by_the_rule_that_names_it_alone_and_while_losses_agree() -> None:
    other = judged([1.0, 5.0, 3.0])
    failing = other.failing_series(RULE)
    assert failing is not None and failing.name == "val"
    assert other.failing_series("series:accuracy") is None
    assert judged([1.0, 5.0, 3.0], fail_on="checks").failing_series(RULE) is None
    assert judged([1.0, 5.0, 3.0], [[1.0], [0.5001], [0.25]]).failing_series(RULE) is None


def test_runs_are_told_apart_by_the_values_up_to_the_first_difference() -> None:
    runs = [
        run(number, trace(LOSSES, series=(reported("val", values),)))
        for number, values in enumerate(
            ([1.0, 2.0, 3.0], [1.0, 2.0, 9.0], [1.0, 7.0, 3.0], [1.0, NAN, 3.0], [1.0]), start=1
        )
    ]
    outcomes = list(map(TARGET.outcome, runs))
    assert outcomes[0] == outcomes[1]
    assert len(set(outcomes)) == 4
    assert [TARGET.is_finite(one) for one in runs] == [True, True, True, False, True]
