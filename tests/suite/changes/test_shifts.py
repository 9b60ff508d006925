"""Shifts of numbers that vary."""

from __future__ import annotations

from random import Random

import pytest

from reprocheck.suite.changes.shifts import LEAST, WINDOW, shift


def noise(seed: int, count: int, mean: float = 0.0) -> list[float]:
    random = Random(seed)
    return [random.gauss(mean, 1) for _ in range(count)]


def test_a_shift_is_found_with_its_size_and_where_it_began() -> None:
    values = noise(1, 100) + noise(2, WINDOW, mean=5)
    found = shift(values, alpha=0.01, spread=0)
    assert found is not None
    assert found.first == 100
    assert found.deviations > 2
    assert found.before == pytest.approx(0, abs=0.3)


def test_a_shift_down_is_negative() -> None:
    found = shift(noise(1, 100) + noise(2, WINDOW, mean=-5), alpha=0.01, spread=0)
    assert found is not None
    assert found.deviations < -2


def test_no_single_night_makes_a_shift() -> None:
    assert shift([*noise(1, 100), 1e9], alpha=0.01, spread=0) is None


def test_outliers_before_do_not_hide_a_shift() -> None:
    values = noise(1, 100)
    values[20], values[70] = 1e6, 1e9
    assert shift(values + noise(2, WINDOW, mean=5), alpha=0.01, spread=0) is not None


def test_numbers_that_are_always_the_same_shift_by_more_than_the_least_spread() -> None:
    same = [1.0] * 100
    assert shift(same + [1.0] * WINDOW, alpha=0.01, spread=0.01) is None
    assert shift(same + [1.001] * WINDOW, alpha=0.01, spread=0.01) is None
    assert shift(same + [1.1] * WINDOW, alpha=0.01, spread=0.01) is not None


def test_few_nights_say_nothing() -> None:
    few = noise(1, LEAST - 1) + [1e6] * WINDOW
    assert shift(few, alpha=0.01, spread=0) is None


def test_a_level_that_lasts_becomes_the_reference() -> None:
    assert shift(noise(1, 100) + noise(2, 100, mean=2), alpha=0.01, spread=0) is None
