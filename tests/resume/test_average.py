"""The losses of several ranks as one series."""

from __future__ import annotations

from math import isnan

from reprocheck.resume.average import have_other_ranks, over_ranks, world_of
from tests.verdict.verdict_runs import run, trace

TWO_RANKS = run(1, trace([[1.0], [2.0], [3.0]], rank=0), trace([[3.0], [4.0]], rank=1))


def test_each_loss_is_the_mean_of_all_ranks_as_far_as_all_went() -> None:
    (mean,) = over_ranks(TWO_RANKS).traces
    assert list(mean.losses.values) == [2.0, 3.0]
    assert (mean.rank, mean.losses.dtypes) == (0, ("float64",))


def test_several_losses_of_an_iteration_count_alike() -> None:
    (mean,) = over_ranks(run(1, trace([[1.0, 2.0]]), trace([[6.0]], rank=1))).traces
    assert list(mean.losses.values) == [3.0]


def test_an_iteration_without_a_loss_has_no_mean() -> None:
    (mean,) = over_ranks(run(1, trace([[], [1.0]]), trace([[], [2.0]], rank=1))).traces
    assert isnan(mean.losses.losses(1)[0])
    assert list(mean.losses.losses(2)) == [1.5]


def test_a_run_that_recorded_nothing_stays_as_it_is() -> None:
    nothing = run(1)
    assert over_ranks(nothing) is nothing


def test_ranks_are_counted_where_the_run_did_not_say_how_many_it_has() -> None:
    assert world_of(TWO_RANKS) == 2
    assert world_of(run(1, trace([[1.0]]), world=4)) == 4


def test_a_run_without_a_step_has_no_other_number_of_ranks() -> None:
    one, two = trace([[1.0]]), trace([[1.0]], rank=1)
    trained, silent = run(1, one, world=1), run(2)
    assert not have_other_ranks(trained, silent)
    assert have_other_ranks(trained, run(2, one, two, world=2))
