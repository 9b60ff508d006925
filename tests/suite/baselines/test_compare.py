"""Curves against those of a baseline."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from reprocheck.suite.baselines import compare
from tests.suite.baselines.curves import curve

VALUES = [float(np.float32(2.3 * math.exp(-i / 30))) for i in range(100)]


def _moved(values: list[float], place: int) -> list[float]:
    """The values with one of them moved by one unit in the last place of float32."""
    moved = list(values)
    moved[place] = float(np.nextafter(np.float32(moved[place]), np.float32(9)))
    return moved


def test_equal_curves_have_no_differences() -> None:
    curves = (curve(VALUES), curve(VALUES, "val_loss", "tensorboard"))
    assert compare(curves, curves) == ()


@given(st.integers(0, 99), st.sampled_from(["loss", "grad_norm", "val_loss"]))
def test_one_unit_in_the_last_place_is_found_at_any_step_of_any_series(place, series) -> None:
    names = ("loss", "grad_norm", "val_loss")
    steps = [10.0 * number for number in range(1, 101)]
    baseline = [curve(VALUES, name, "torch", steps=steps) for name in names]
    now = [
        curve(_moved(VALUES, place) if name == series else VALUES, name, "torch", steps=steps)
        for name in names
    ]
    (found,) = compare(now, baseline)
    assert found.series.endswith(series)
    assert (found.first_bit, found.step, found.ulp) == (place + 1, 10.0 * (place + 1), 1)
    assert found.beyond is None
    assert 0 < found.relative < 2e-7
    assert (found.value, found.other) == (_moved(VALUES, place)[place], VALUES[place])


def test_without_a_step_of_a_tracker_the_iteration_is_named() -> None:
    (found,) = compare([curve(_moved(VALUES, 6))], [curve(VALUES)])
    assert found.step == 7


def test_the_tolerance_is_around_the_baseline() -> None:
    b = 1.0
    inside, outside = b + 2e-3 - 1e-9, b + 2e-3 + 1e-9
    (found,) = compare([curve([inside], dtype="float64")], [curve([b], dtype="float64")])
    assert found.beyond is None
    (found,) = compare([curve([1.0, outside])], [curve([1.0, b])])
    assert found.beyond == 2
    assert found.relative == pytest.approx(2e-3)
    (found,) = compare([curve([1.0, outside])], [curve([1.0, b])], rtol=2e-3)
    assert found.beyond is None


def test_a_missing_and_a_new_series_are_named() -> None:
    losses = curve(VALUES)
    found = compare([losses, curve([1.0], "acc")], [curve([1.0], "val_loss"), losses])
    assert [(one.series, one.missing, one.new) for one in found] == [
        ("val_loss", True, False),
        ("acc", False, True),
    ]


@pytest.mark.parametrize("name", ["iteration-time", "throughput", "mem-allocated", "tokens/s"])
def test_a_clock_is_never_compared(name) -> None:
    losses = curve(VALUES)
    assert compare([losses, curve([1.0], name)], [losses, curve([2.0], name)]) == ()
    assert compare([losses], [losses, curve([2.0], name)]) == ()


def test_series_of_one_name_from_two_trackers_are_told_apart() -> None:
    baseline = [curve([1.0], "acc", "keras"), curve([1.0], "acc", "wandb")]
    now = [curve([1.0], "acc", "keras"), curve([2.0], "acc", "wandb")]
    assert [one.series for one in compare(now, baseline)] == ["wandb:acc"]
    tracked = compare([curve([1.0], "loss", "wandb")], [curve([2.0], "loss", "wandb")])
    assert [one.series for one in tracked] == ["wandb:loss"]


def test_every_rank_has_its_own_row() -> None:
    baseline = [curve([1.0, 2.0], rank=rank) for rank in range(2)]
    (found,) = compare([baseline[0], curve([1.0, 3.0], rank=1)], baseline)
    assert (found.rank, found.first_bit) == (1, 2)


def test_a_curve_that_ends_sooner_differs_where_it_ends() -> None:
    (found,) = compare([curve(VALUES[:90])], [curve(VALUES)])
    assert (found.first_bit, found.beyond, found.step) == (91, 91, 91)
    assert (found.value, found.other, found.ulp) == (None, VALUES[90], None)


def test_a_value_at_another_step_is_another_value() -> None:
    baseline = curve([1.0, 2.0, 3.0], "val_loss", steps=[10, 20, 30])
    (found,) = compare([curve([1.0, 2.0, 3.0], "val_loss", steps=[10, 25, 30])], [baseline])
    assert (found.first_bit, found.beyond) == (2, 2)


def test_another_dtype_is_a_difference_without_a_distance() -> None:
    (found,) = compare([curve([1.0], dtype="float64")], [curve([1.0], dtype="float32")])
    assert (found.first_bit, found.ulp, found.relative) == (1, None, 0.0)


def test_nan_is_nan_and_finite_in_one_only_is_beyond() -> None:
    baseline = curve([math.nan, 1.0])
    assert compare([curve([math.nan, 1.0])], [baseline]) == ()
    (found,) = compare([curve([math.nan, math.inf])], [baseline])
    assert (found.first_bit, found.beyond, found.ulp) == (2, 2, None)
    assert found.relative == 0.0


def test_a_baseline_of_zero_gives_a_finite_relative_difference() -> None:
    (found,) = compare([curve([1e-9])], [curve([0.0])])
    assert found.relative == 1.0


def test_what_runs_of_one_check_did_not_repeat_is_marked() -> None:
    (found,) = compare([curve([1.0], repeats=False)], [curve([1.1])])
    assert found.loose
    (found,) = compare([curve([1.0])], [curve([1.1])])
    assert not found.loose


@pytest.mark.parametrize(("steady", "beyond"), [(None, 3), (3, 3), (2, None)])
def test_nothing_is_beyond_where_the_runs_of_a_check_are_as_far_apart(steady, beyond) -> None:
    far, near = [1.0, 1.0, 9.0], [1.0, 1.0, 1.0]
    for now, baseline in (
        (curve(far, steady=steady), curve(near)),
        (curve(far), curve(near, steady=steady)),
    ):
        (found,) = compare([now], [baseline])
        assert (found.first_bit, found.beyond) == (3, beyond)


def test_an_imported_series_is_held_by_the_tolerance_at_the_steps_it_has() -> None:
    imported = curve(
        [round(VALUES[step - 1], 4) for step in (1, 50, 100)],
        iterations=[1, 50, 100],
        rounded=True,
    )
    assert compare([curve(VALUES)], [imported]) == ()
    (found,) = compare([curve([*VALUES[:49], 9.0, *VALUES[50:]])], [imported])
    assert (found.first_bit, found.beyond, found.step, found.value) == (None, 2, 50, 9.0)
    (found,) = compare([curve(VALUES[:60])], [imported])
    assert (found.beyond, found.step, found.value) == (3, 100, None)
    unsteady = curve([*VALUES[:49], 9.0, *VALUES[50:]], steady=40)
    assert compare([unsteady], [imported]) == ()
