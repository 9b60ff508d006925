"""The size of a difference, from what stands in a trace."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from reprocheck.child.reprocheck_child.deep_levels import leaves
from reprocheck.ladder.size import relative_difference, rounding_level, size_of
from tests.ladder.fingerprints import Difference, difference, recorded


def print_of(values: Any, **changes: Any) -> Any:
    return recorded({**leaves.array(np.asarray(values)), **changes})


def test_equal_and_not_comparable() -> None:
    one = print_of(np.ones(30, np.float32))
    assert difference(one, one) == Difference(comparable=True, equal=True, relative=0.0)
    assert difference(one, print_of(np.ones(30, np.float32), a="sums-1")) == Difference(
        comparable=False
    )
    assert difference(one, print_of(np.ones(30, np.float32), h="")) == Difference(comparable=False)
    assert difference(one, print_of(np.ones(31, np.float32))) == Difference(
        comparable=True, equal=False, size="gross"
    )
    assert difference(one, print_of(np.ones(30))) == Difference(
        comparable=True, equal=False, size="gross"
    )


def test_without_sketch_or_with_a_broken_one() -> None:
    one, two = np.ones(30, np.float32), np.full(30, 2, np.float32)
    for text in ("", "no base64!", "AAAA"):
        found = difference(print_of(one, k=text), print_of(two))
        assert found == Difference(comparable=True, equal=False)
    assert difference(print_of(one, z="strange"), print_of(two)).relative is None


def test_small_tensors_are_exact() -> None:
    found = difference(print_of(np.array([3.0, 4.0])), print_of(np.array([3.0, 4.0 + 1e-9])))
    assert found.relative == pytest.approx(2e-10, rel=1e-5)
    assert found.size == "rounding"
    assert (
        difference(print_of(np.array([0.0, 0.0])), print_of(np.array([-0.0, 0.0]))).size
        == "rounding"
    )
    assert relative_difference(print_of(np.array([1.0])), print_of(np.array([0.0]))) == 1.0
    mixed = [
        print_of(np.array(values))
        for values in ([math.nan, 1.0], [math.nan, 1.5], [2.0, 1.0], [math.inf, 1.0])
    ]
    assert relative_difference(mixed[1], mixed[0]) == 0.5
    assert relative_difference(mixed[0], mixed[2]) == math.inf
    assert relative_difference(mixed[0], mixed[3]) == math.inf


def test_large_tensors_with_values_that_are_no_numbers() -> None:
    plain = np.random.default_rng(0).standard_normal(500).astype("f4")
    broken, other = plain.copy(), plain.copy()
    broken[3], other[3] = math.nan, math.inf
    assert difference(print_of(broken), print_of(plain)) == Difference(
        comparable=True, equal=False, relative=math.inf, size="gross"
    )
    assert difference(print_of(other), print_of(broken)).size == "gross"
    near = broken.copy()
    near[10:] *= 1.1
    assert difference(print_of(near), print_of(broken)).relative == pytest.approx(0.1, rel=0.5)


def test_zeros() -> None:
    zeros, ones = np.zeros(100, np.float32), np.ones(100, np.float32)
    assert relative_difference(print_of(zeros), print_of(ones)) == pytest.approx(1, rel=0.5)
    assert relative_difference(print_of(ones), print_of(zeros)) == pytest.approx(1, rel=0.5)
    assert difference(print_of(zeros), print_of(-zeros)) == Difference(
        comparable=True, equal=False, relative=0.0, size="rounding"
    )


@pytest.mark.parametrize(
    ("dtype", "rounding", "gross"),
    [
        ("float32", 4e-6, 5e-6),
        ("float64", 1e-6, 1e-5),
        ("bfloat16", 4e-3, 2e-2),
        ("float16", 1e-3, 3e-3),
        ("float8_e4m3fn", 0.125, 0.3),
        ("float8_e5m2", 0.25, 0.6),
        ("complex64", 1e-6, 1e-5),
    ],
)
def test_the_criterion(dtype: str, rounding: float, gross: float) -> None:
    assert size_of(rounding, dtype) == "rounding"
    assert size_of(gross, dtype) == "gross"
    assert size_of(math.inf, dtype) == "gross"
    assert size_of(None, dtype) is None


def test_integers_are_never_rounded() -> None:
    assert rounding_level("int64") == rounding_level("bool") == rounding_level("qint8") == 0.0
    assert (
        difference(print_of(np.arange(100)), print_of(np.arange(100) + (np.arange(100) == 99))).size
        == "gross"
    )
    wide = np.arange(100) + 2**53
    # too near for the sketch
    assert difference(print_of(wide), print_of(wide + (np.arange(100) == 99))).size == "gross"


@given(st.integers(17, 3000), st.floats(-4, 1), st.integers(0, 2**20))
def test_estimate(size: int, power: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    values, change = random.standard_normal(size), random.standard_normal(size)
    other = values + change * 10**power * np.linalg.norm(values) / np.linalg.norm(change)
    found = relative_difference(print_of(other), print_of(values))
    assert found is not None
    assert 0.5 < found / 10**power < 2
