"""Curves packed into a few kilobytes, and taken apart again bit for bit."""

from __future__ import annotations

import json
import math
import struct
import zlib
from array import array
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, strategies as st

from reprocheck.model import (
    Bitwise,
    Check,
    Divergence,
    LossSeries,
    Series,
    SeriesComparison,
    SeriesPlace,
)
from reprocheck.report import FORMATS
from reprocheck.suite import curves
from reprocheck.suite.check_report import CheckReport
from reprocheck.suite.curves import CurvesError, pack, unpack
from reprocheck.suite.model import RankSeries
from reprocheck.suite.surface import series_by_rank
from reprocheck.verdict.series import first_unequal
from tests.report import parts
from tests.report.samples import bitwise_equal

_BITS = st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0])
"""Every double, NaN of every payload among them."""
_NAMES = st.text(max_size=20)


@st.composite
def _series(draw: st.DrawFn) -> RankSeries:
    values = draw(st.lists(_BITS, max_size=40))
    count = len(values)
    dtypes = draw(st.lists(_NAMES, min_size=1, max_size=3, unique=True))
    numbers = LossSeries(
        values=array("d", values),
        dtype_of=array("B", draw(_lists(st.integers(0, len(dtypes) - 1), count))),
        dtypes=tuple(dtypes),
        ends=array("q", range(1, count + 1)),
        exact=draw(st.dictionaries(st.integers(0, 99), st.just("-1f/3"), max_size=2)),
    )
    series = Series(
        name=draw(_NAMES),
        by=draw(_NAMES),
        numbers=numbers,
        iterations=array("q", draw(_lists(st.integers(-(2**63), 2**63 - 1), count))),
        steps=array("d", draw(_lists(_BITS, count))),
    )
    return RankSeries(
        rank=draw(st.integers(0, 2**16)),
        series=series,
        repeats=draw(st.booleans()),
        rounded=draw(st.booleans()),
        steady=draw(st.none() | st.integers(0, 40)),
    )


def _lists(of: st.SearchStrategy, size: int) -> st.SearchStrategy:
    return st.lists(of, min_size=size, max_size=size)


def _bits(one: RankSeries) -> tuple[object, ...]:
    """All of a series in a form in which equal means equal in every bit."""
    numbers, series = one.series.numbers, one.series
    columns = (numbers.values, numbers.dtype_of, numbers.ends, series.iterations, series.steps)
    named = (one.rank, series.name, series.by, one.repeats, one.rounded, one.steady)
    return (*named, numbers.dtypes, dict(numbers.exact), *(column.tobytes() for column in columns))


@given(st.lists(_series(), max_size=4))
def test_unpacking_gives_back_every_bit(series: list[RankSeries]) -> None:
    assert list(map(_bits, unpack(pack(series)))) == list(map(_bits, series))


def _float32(value: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def _reported(name: str, values: list[float], by: str = "torch", every: int = 1) -> Series:
    iterations = range(every, every * len(values) + 1, every)
    return Series(
        name=name,
        by=by,
        numbers=parts.series(values),
        iterations=array("q", iterations),
        steps=array("d", map(float, iterations)),
    )


@pytest.mark.parametrize("rounded", [_float32, float], ids=["float32", "float64"])
def test_a_hundred_iterations_of_four_series_take_less_than_five_kilobytes(rounded) -> None:
    losses = [rounded(math.exp(-i / 30) + math.sin(i**2) / 9) for i in range(100)]
    rates = [rounded(1e-3 * (1 + math.cos(math.pi * i / 100)) / 2) for i in range(100)]
    norms = [rounded(abs(math.sin(i**2 + 1)) * 3) for i in range(100)]
    validation = [rounded(math.exp(-i / 3) + 0.1 / 3) for i in range(10)]
    series = (
        _reported("loss", losses),
        _reported("lr", rates),
        _reported("grad_norm", norms),
        _reported("val_loss", validation, "tensorboard", every=10),
    )
    packed = pack(RankSeries(rank=0, series=one) for one in series)
    assert len(packed) <= 5 * 1024


def _damage(packed: bytes, place: int, bits: int) -> bytes:
    damaged = bytearray(packed)
    damaged[place] ^= bits
    return bytes(damaged)


@given(st.data())
def test_damaged_bytes_are_never_read_as_other_curves(data: st.DataObject) -> None:
    series = (RankSeries(rank=0, series=_reported("loss", [1.5, 0.25, 0.125])),)
    packed = pack(series)
    place = data.draw(st.integers(0, len(packed) - 1))
    bits = data.draw(st.integers(1, 255))
    try:
        read = unpack(_damage(packed, place, bits))
    except CurvesError:
        return
    # A few bits of a deflated stream say nothing, such as those that fill its last byte up.
    assert list(map(_bits, read)) == list(map(_bits, series))


def test_every_way_to_cut_them_short_is_an_error_with_a_name() -> None:
    packed = pack([RankSeries(rank=0, series=_reported("loss", [1.5, 0.25, 0.125]))])
    for length in range(1, len(packed)):
        with pytest.raises(CurvesError):
            unpack(packed[:length])
    assert unpack(b"") == ()


def test_curves_of_another_version_are_refused_by_name() -> None:
    with pytest.raises(CurvesError, match="no packed curves of this version"):
        unpack(b"RCC2" + pack([])[4:])


def test_the_losses_of_a_check_come_first_and_one_by_one() -> None:
    made = bitwise_equal()
    trace = parts.trace(parts.series([1.0, 2.0, 3.0, 4.0], per_iteration=2))
    check = replace(made, runs=(parts.run(1, [trace]), parts.run(2, [trace])))
    (losses,) = of_check(check)
    assert (losses.rank, losses.series.name, losses.series.by) == (0, "loss", "")
    assert list(losses.series.iterations) == [1, 1, 2, 2]
    assert list(losses.series.numbers.values) == [1.0, 2.0, 3.0, 4.0]
    assert all(map(math.isnan, losses.series.steps))
    assert losses.repeats
    assert first_unequal(losses.series.numbers, losses.series.numbers) is None


def test_every_series_of_every_rank_of_run_1_is_among_them() -> None:
    made = bitwise_equal()
    reported = (_reported("val_loss", [0.5]), _reported("loss", [7.0], by=""))
    traces = [
        parts.trace(parts.series([1.0, 2.0]), rank=rank, series=reported) for rank in range(2)
    ]
    verdict = replace(
        made.verdict,
        bitwise=Bitwise(equal=False, first_iteration=2),
        series=(
            SeriesComparison(
                name="val_loss", reported="val_loss", by="torch", state="within tolerance"
            ),
            SeriesComparison(name="script:loss", reported="loss", state="clock"),
        ),
    )
    series = of_check(replace(made, runs=(parts.run(1, traces),), verdict=verdict))
    seen = [(one.rank, one.series.name, one.series.by, one.repeats) for one in series]
    of_one_rank = [("loss", "", False), ("val_loss", "torch", False), ("loss", "script", True)]
    assert seen == [(rank, *one) for rank in range(2) for one in of_one_rank]


def test_how_far_the_runs_agree_at_the_tolerance_is_kept() -> None:
    made = bitwise_equal()
    trace = parts.trace(parts.series([1.0] * 8, per_iteration=2), series=(_reported("acc", [1.0]),))
    apart = SeriesPlace(number=1, iteration=1, step=None, run=2, rank=0, reference=1.0, value=2.0)
    verdict = replace(
        made.verdict,
        first_divergence=Divergence(iteration=3, run=2, rank=0, reference=1.0, value=2.0),
        series=(
            SeriesComparison(
                name="acc", reported="acc", by="torch", state="differs", first_outside=apart
            ),
        ),
    )
    losses, acc = of_check(replace(made, runs=(parts.run(1, [trace]),), verdict=verdict))
    assert (losses.steady, acc.steady) == (4, 0)
    everywhere = of_check(replace(made, runs=(parts.run(1, [trace]),)))
    assert [one.steady for one in everywhere] == [None, None]


def of_check(check: Check) -> tuple[RankSeries, ...]:
    report = msgspec.json.decode(FORMATS["json"].render(check), type=CheckReport)
    return curves.of_check(series_by_rank(check.runs[0]), report)


def _packed(header: object) -> bytes:
    written = json.dumps(header).encode()
    return b"RCC1" + zlib.compress(len(written).to_bytes(4, "little") + written)


def test_a_header_that_says_what_none_can_is_refused() -> None:
    body = zlib.decompress(pack([RankSeries(rank=0, series=_reported("loss", []))])[4:])
    (one,) = json.loads(body[4:])
    assert unpack(_packed([one]))[0].series.name == "loss"
    for changed in (
        {"name": 5},
        {"rank": -1},
        {"count": -1},
        {"count": 2**70},
        {"dtypes": [1]},
        {"steady": "x"},
        {"exact": {"x": "1/3"}},
    ):
        with pytest.raises(CurvesError):
            unpack(_packed([one | changed]))
    with pytest.raises(CurvesError):
        unpack(_packed({"rank": 0}))


def test_a_bomb_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reprocheck.suite.curves.LARGEST", 1 << 20)
    with pytest.raises(CurvesError, match="do not end"):
        unpack(b"RCC1" + zlib.compress(bytes(1 << 21)))
