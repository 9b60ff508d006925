"""ULP, the tolerance, whole series and samples of runs, against independent definitions."""

from __future__ import annotations

import math
import struct
from array import array
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, strategies as st

from reprocheck.model import LossSeries, Process, Run, RunRecord, Tolerance, Trace
from reprocheck.verdict import judge, ulp_distance
from reprocheck.verdict.large_numbers import KNOWN
from reprocheck.verdict.outcomes import outcomes, upper_bound
from reprocheck.verdict.series import differs, first_outside, first_unequal

# ---------------------------------------------------------------------------------------------- ULP

_WIDTH = {
    "float64": 64,
    "float32": 32,
    "float16": 16,
    "bfloat16": 16,
    "float8_e5m2": 8,
    "float8_e4m3fn": 8,
}


def decoded(bits: int, dtype: str) -> float:
    """The value that a bit pattern of `dtype` stands for, by the definition of the format."""
    if dtype in ("float64", "float32", "float16"):
        size = _WIDTH[dtype] // 8
        return float(
            struct.unpack({8: "<d", 4: "<f", 2: "<e"}[size], bits.to_bytes(size, "little"))[0]
        )
    exponent_bits, fraction_bits, bias = {
        "bfloat16": (8, 7, 127),
        "float8_e5m2": (5, 2, 15),
        "float8_e4m3fn": (4, 3, 7),
    }[dtype]
    sign = -1.0 if bits >> (exponent_bits + fraction_bits) else 1.0
    exponent, fraction = (bits >> fraction_bits) % 2**exponent_bits, bits % 2**fraction_bits
    if exponent == 2**exponent_bits - 1 and (dtype != "float8_e4m3fn" or fraction == 7):
        return math.nan
    if exponent == 0:
        return sign * math.ldexp(fraction, 1 - bias - fraction_bits)
    return sign * math.ldexp(2**fraction_bits + fraction, exponent - bias - fraction_bits)


def ordered(bits: int, dtype: str) -> int:
    """Place of a bit pattern in the order of values; both zeros are 0."""
    sign = 1 << (_WIDTH[dtype] - 1)
    return -(bits - sign) if bits & sign else bits


@given(st.sampled_from(KNOWN), st.data())
def test_ulp_is_the_distance_of_bit_patterns(dtype: str, data: st.DataObject) -> None:
    patterns = st.integers(0, 2 ** _WIDTH[dtype] - 1).filter(
        lambda bits: math.isfinite(decoded(bits, dtype))
    )
    a, b = data.draw(patterns), data.draw(patterns)
    distance = ulp_distance(decoded(a, dtype), decoded(b, dtype), dtype)
    assert distance == abs(ordered(a, dtype) - ordered(b, dtype))
    assert distance == ulp_distance(decoded(b, dtype), decoded(a, dtype), f"torch.{dtype}")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_next_double_is_one_ulp_away(value: float) -> None:
    assert ulp_distance(value, math.nextafter(value, 0.0 if value else 1.0), "float64") == 1


@pytest.mark.parametrize(
    ("a", "b", "dtype", "expected"),
    [
        (0.0, -0.0, "float32", 0),
        (5e-324, -5e-324, "float64", 2),
        (-1.7976931348623157e308, 1.7976931348623157e308, "float64", 2 * (0x7FF0000000000000 - 1)),
        (1.0, 1.0 + 2**-7, "bfloat16", 1),
        (1.0, 2.0, "int64", None),
        (1.0, 2.0, "unknown", None),
        (1.0, math.nan, "float32", None),
        (math.nan, math.nan, "float32", None),
        (math.inf, 1.0, "float32", None),
    ],
)
def test_ulp_at_the_edges(a: float, b: float, dtype: str, expected: int | None) -> None:
    assert ulp_distance(a, b, dtype) == expected


# ---------------------------------------------------------------------------------------- tolerance

_values = st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from(
    [0.0, 1.0, 1.001, 1.002001, 0.999, 2.0]
)


@given(
    st.lists(st.tuples(_values, _values), max_size=8),
    st.sampled_from([1e-3, 0.0, 1e-6, 0.5]),
    st.sampled_from([1e-3, 0.0, 1e-6, 2.0]),
)
def test_the_tolerance_is_numpy_allclose_for_finite_losses(
    pairs: list[tuple[float, float]], rtol: float, atol: float
) -> None:
    a, b = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    outside = differs(a, b, Tolerance(rtol=rtol, atol=atol))
    for one, other, out in zip(a, b, outside, strict=True):
        if np.isfinite(one) and np.isfinite(other):
            with np.errstate(over="ignore"):
                assert out == (not np.allclose(one, other, rtol=rtol, atol=atol))
        else:
            assert out == (np.isfinite(one) != np.isfinite(other))


# ------------------------------------------------------------------------------------------- series


def series(iterations: list[list[float]], dtype: str = "float32") -> LossSeries:
    values = array("d", (value for losses in iterations for value in losses))
    ends = array("q", accumulate(map(len, iterations)))
    return LossSeries(
        values=values, dtype_of=array("B", bytes(len(values))), dtypes=(dtype,), ends=ends
    )


def first_unequal_by_hand(a: list[list[float]], b: list[list[float]]) -> int | None:
    for number, (one, other) in enumerate(zip(a, b, strict=False), start=1):
        if len(one) != len(other) or any(
            struct.pack("<d", x) != struct.pack("<d", y) for x, y in zip(one, other, strict=True)
        ):
            return number
    return min(len(a), len(b)) + 1 if len(a) != len(b) else None


_iterations = st.lists(
    st.lists(st.sampled_from([0.0, -0.0, 1.0, 1.5, math.inf, math.nan]), max_size=3), max_size=5
)


@given(_iterations, _iterations)
def test_the_first_unequal_iteration(a: list[list[float]], b: list[list[float]]) -> None:
    found = first_unequal(series(a), series(b))
    assert (None if found is None else found.iteration) == first_unequal_by_hand(a, b)


@given(_iterations)
def test_a_series_equals_itself(a: list[list[float]]) -> None:
    assert first_unequal(series(a), series(a)) is None
    assert first_outside(series(a), series(a), Tolerance(rtol=0, atol=0)) is None


def test_the_ulp_of_an_iteration_is_its_largest() -> None:
    found = first_unequal(
        series([[1.0], [2.0, 1.0 + 3 * 2**-23, 1.0 + 2**-23]]), series([[1.0], [2.0, 1.0, 1.0]])
    )
    assert found is not None and (found.iteration, found.ulp, found.dtype) == (2, 3, "float32")


def test_another_dtype_is_not_equal_in_every_bit() -> None:
    found = first_unequal(series([[1.0], [2.0]], "float32"), series([[1.0], [2.0]], "float64"))
    assert found is not None and (found.iteration, found.ulp) == (1, None)
    one = LossSeries(
        values=array("d", [1, 2]),
        dtype_of=array("B", [0, 1]),
        dtypes=("float32", "float16"),
        ends=array("q", [1, 2]),
    )
    other = LossSeries(
        values=array("d", [1, 2]),
        dtype_of=array("B", [1, 0]),
        dtypes=("float16", "float32"),
        ends=array("q", [1, 2]),
    )
    assert first_unequal(one, other) is None


def test_the_first_loss_outside_the_tolerance() -> None:
    tolerance = Tolerance()
    outside = first_outside(
        series([[1.0], [], [1.0, 9.0], [5.0]]), series([[1.0], [], [1.0, 2.0], [5.0]]), tolerance
    )
    assert outside is not None and (outside.iteration, outside.reference, outside.value) == (
        3,
        2.0,
        9.0,
    )
    broken = first_outside(
        series([[1.0], [2.0, 3.0], [9.0]]), series([[1.0], [2.0], [3.0]]), tolerance
    )
    assert broken is not None and (broken.iteration, broken.value) == (2, None)
    assert first_outside(series([[math.nan]]), series([[math.nan]]), tolerance) is None
    assert first_outside(series([[math.nan]]), series([[1.0]]), tolerance) is not None


# ----------------------------------------------------------------------------------------- outcomes


def a_run(number: int, iterations: list[list[float]], *, rank: int = 0) -> Run:
    record = RunRecord(
        number=number,
        ended="completed",
        exit_status=0,
        started="",
        seconds=1,
        trace="",
        stdout="",
        stderr="",
    )
    process = Process(pid=1, ppid=0, argv=(), python="", name="")
    trace = Trace(
        rank=rank, process=process, losses=series(iterations), forward=None, backward=None
    )
    return Run(record=record, traces=(trace,), processes=(process,))


def test_runs_are_grouped_by_bits() -> None:
    runs = [
        a_run(1, [[1.0]]),
        a_run(2, [[2.0]]),
        a_run(3, [[1.0]]),
        a_run(4, [[2.0]]),
        a_run(5, [[1.0], [1.0]]),
    ]
    found = outcomes(runs)
    assert [group.runs for group in found.groups] == [(1, 3), (2, 4), (5,)]
    assert found.bound == pytest.approx(0.987, abs=1e-3)


def test_what_two_runs_exclude() -> None:
    same = outcomes([a_run(1, [[1.0]]), a_run(2, [[1.0]])])
    assert same.bound == pytest.approx(0.95)
    other = outcomes([a_run(1, [[1.0]]), a_run(2, [[2.0]])])
    assert other.bound == 1.0


def test_what_many_runs_exclude() -> None:
    found = outcomes([a_run(number, [[1.0]]) for number in range(1, 60)])
    assert found.bound == pytest.approx(1 - 0.05 ** (1 / 58))
    assert [len(group.runs) for group in found.groups] == [59]


def test_without_losses_there_are_no_outcomes() -> None:
    empty = Run(record=a_run(1, []).record, traces=(), processes=())
    assert outcomes([empty, empty]).groups == () and outcomes([]).bound is None
    assert outcomes([a_run(1, [[1.0]])]).bound is None


@given(st.integers(1, 40), st.data())
def test_the_bound_is_where_so_few_differing_runs_have_a_probability_of_five_percent(
    others: int, data: st.DataObject
) -> None:
    different = data.draw(st.integers(0, others))
    bound = upper_bound(different, others)
    if different == others:
        assert bound == 1.0
    else:
        probability = sum(
            math.comb(others, k) * bound**k * (1 - bound) ** (others - k)
            for k in range(different + 1)
        )
        assert probability == pytest.approx(0.05, rel=1e-6)


def test_statistics_of_the_sums() -> None:
    runs = [
        a_run(1, [[1.0, 2.0], [4.0], [9.0]]),
        a_run(2, [[2.0, 3.0], [4.0]]),
        a_run(3, [[3.0, 4.0], [4.0]]),
    ]
    first, second = outcomes(runs).statistics
    assert (first.iteration, first.rank, first.mean, first.standard_deviation) == (1, 0, 5.0, 2.0)
    assert (second.mean, second.standard_deviation) == (4.0, 0.0)
    assert math.isnan(outcomes([a_run(1, [[math.inf]]), a_run(2, [[1.0]])]).statistics[0].mean)
    assert len(outcomes([a_run(1, [[0.1]] * 1500), a_run(2, [[0.1]] * 1500)]).statistics) == 1000


def test_a_long_pair() -> None:
    long = [[i / 7] for i in range(200_000)]
    other = [*long[:150_000], [long[150_000][0] + 1.0], *long[150_001:]]
    verdict = judge([a_run(1, long), a_run(2, other)], Tolerance(rtol=0, atol=1e-6))
    assert verdict.first_divergence is not None and verdict.first_divergence.iteration == 150_001
    assert verdict.bitwise.first_iteration == 150_001
