"""What the charts show: sums, differences, bands, thinning."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from reprocheck.model import LossSeries, Tolerance
from reprocheck.report import charts
from reprocheck.report.curves import LIMIT, MOST_RANKS, curves, gaps, sums
from tests.report.samples import (
    backward_fails,
    bitwise_equal,
    check,
    inconclusive_nan,
    million,
    nothing,
    run,
    series,
    three_runs,
    trace,
    two_ranks,
)

TOLERANCE = Tolerance()


def uneven(lists: list[list[float]]) -> LossSeries:
    values = [x for each in lists for x in each]
    ends, count = array("q"), 0
    for each in lists:
        count += len(each)
        ends.append(count)
    return LossSeries(
        values=array("d", values),
        dtype_of=array("B", bytes(len(values))),
        dtypes=("float32",),
        ends=ends,
    )


def test_what_no_axis_holds_is_not_drawn() -> None:
    widest = three_runs()
    widest = replace(widest, record=replace(widest.record, tolerance=Tolerance(rtol=1e307)))
    shown = curves(widest)
    assert np.isnan(shown.bands[0].high).all()
    for draw in (charts.loss_figure, charts.difference_figure):
        draw(shown).canvas.draw()


lists = st.lists(st.lists(st.floats(-1e6, 1e6), max_size=4), min_size=1, max_size=12)


@given(lists, lists, st.integers(1, 14), st.integers(0, 6))
def test_windows_agree_with_a_plain_loop(
    left: list[list[float]], right: list[list[float]], first: int, more: int
) -> None:
    a, b = trace(uneven(left)), trace(uneven(right))
    last = first + more
    apart, most = gaps(a, b, TOLERANCE, first, last)
    total = sums(a.losses, first, last)
    for offset, iteration in enumerate(range(first, last + 1)):
        mine = left[iteration - 1] if iteration <= len(left) else []
        other = right[iteration - 1] if iteration <= len(right) else []
        assert total[offset] == pytest.approx(sum(mine)) if mine else math.isnan(total[offset])
        if not mine or len(mine) != len(other):
            assert math.isnan(apart[offset]) and math.isnan(most[offset])
            continue
        worst = max(
            zip(mine, other, strict=True),
            key=lambda pair: abs(pair[1] - pair[0]) - 1e-3 - 1e-3 * abs(pair[0]),
        )
        assert apart[offset] - most[offset] == pytest.approx(
            abs(worst[1] - worst[0]) - 1e-3 - 1e-3 * abs(worst[0]), abs=1e-9
        )


def test_losses_of_threads_are_compared_sorted() -> None:
    a, b = (
        trace(series([1.0, 2.0, 3.0, 4.0], 2), unordered=(1,)),
        trace(series([2.0, 1.0, 4.0, 3.0], 2), unordered=(1,)),
    )
    assert gaps(a, b, TOLERANCE, 1, 2)[0].tolist() == [0.0, 1.0]


def test_short_trainings_are_shown_whole() -> None:
    shown = curves(backward_fails())
    assert shown.iterations.tolist() == list(range(1, 41)) and not shown.thinned
    assert (
        shown.losses[0].values.tolist() == backward_fails().runs[0].traces[0].losses.values.tolist()
    )
    assert shown.differences[0].values[3] == pytest.approx(0.004)
    assert shown.allowed[0].values[0] == pytest.approx(1e-3 + 1e-3 * shown.losses[0].values[0])
    assert shown.first_divergence == 4


def test_the_band_of_several_losses_is_the_sum_of_what_is_allowed() -> None:
    check = three_runs()
    shown, values = curves(check), check.runs[0].traces[0].losses.values
    assert shown.bands[0].high[0] - shown.losses[0].values[0] == pytest.approx(
        2e-3 + 1e-3 * (values[0] + values[1])
    )
    assert [curve.run for curve in shown.differences] == [2, 3]


def test_losses_that_are_not_finite_are_gaps_and_named() -> None:
    shown = curves(inconclusive_nan())
    assert {iteration for iteration, _, _ in shown.not_finite} == {2, 3, 6}
    assert (
        np.isnan(shown.losses[0].values[[1, 2, 5]]).all()
        and np.isnan(shown.differences[0].values[[1, 2, 5]]).all()
    )


def test_long_trainings_are_thinned_to_recorded_points() -> None:
    check = million(300_000)
    shown, values = curves(check), np.asarray(check.runs[0].traces[0].losses.values)
    assert shown.thinned and len(shown.iterations) <= LIMIT + 20 and shown.total == 300_000
    kept = set(shown.iterations.tolist())
    assert set(range(1, 201)) <= kept and {210_000, 210_001, 210_002, 300_000} <= kept
    assert 75_001 in kept and (75_001, 1, 0) in shown.not_finite
    assert int(np.nanargmax(values)) + 1 in kept
    mine = np.where(np.isfinite(values), values, np.nan)[shown.iterations - 1]
    np.testing.assert_array_equal(shown.losses[0].values, mine)
    assert np.diff(shown.iterations).min() == 1 and np.diff(shown.iterations).max() < 3000


def test_many_ranks_are_reduced_to_those_that_differ() -> None:
    base = two_ranks()
    traces = [trace(series([2.0, 1.0]), rank) for rank in range(20)]
    rows = tuple(
        replace(base.verdict.comparisons[0], rank=rank, max_difference=0.5 if rank == 17 else 0.0)
        for rank in range(20)
    )
    verdict = replace(base.verdict, comparisons=rows, first_divergence=None)
    shown = curves(check([run(1, traces), run(2, traces)], verdict))
    assert (
        len(shown.ranks) == MOST_RANKS and {0, 17} <= set(shown.ranks) and shown.ranks_total == 20
    )


def test_nothing_and_one_run_can_be_drawn() -> None:
    assert curves(nothing()).total == 0
    whole = bitwise_equal()
    one = curves(replace(whole, runs=whole.runs[:1]))
    assert one.differences == () and len(one.losses) == 1
    assert charts.png(charts.difference_figure(one)) and charts.svg(charts.loss_figure(one))


def test_zero_is_drawn_below_everything_else() -> None:
    shown = curves(backward_fails())
    assert 0 < charts.floor(shown) < 1e-4
    assert charts.floor(curves(bitwise_equal())) < 1e-5
    axes = charts.difference_figure(shown).axes[0]
    assert axes.get_yscale() == "log" and axes.get_yticks()[0] == charts.floor(shown)


def test_losses_over_many_decades_get_a_log_scale() -> None:
    base = bitwise_equal()
    falling = [10.0**-i for i in range(8)]
    runs = [run(n, [trace(series(falling))]) for n in (1, 2)]
    assert charts.logarithmic(curves(replace(base, runs=tuple(runs))))
    assert not charts.logarithmic(curves(base))
