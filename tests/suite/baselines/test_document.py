"""Baselines as a text file."""

from __future__ import annotations

import difflib
import math
import struct
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from reprocheck.suite.baselines import BaselineError, document
from reprocheck.suite.curves import pack, unpack
from reprocheck.suite.model import Baseline, Key, RankSeries
from tests.suite.baselines.curves import curve

_BITS = st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0])


def _baseline(*curves: RankSeries, target: str = "small") -> Baseline:
    return Baseline(
        target=target,
        key=Key(facts={"torch": "2.13.0"}),
        curves=pack(curves),
        why="the first ones",
        who="Ada <ada@example.org>",
        when=1_780_000_000.25,
        night="n1",
        commit="abc+",
        environment={"numpy": "2.4", "torch": "2.13.0"},
    )


def test_what_is_read_is_what_was_written() -> None:
    baseline = _baseline(
        curve([1.0, 0.1 + 0.2, math.nan, -math.inf, -0.0]),
        curve([0.5], "val loss", "tensorboard", rank=1, steps=[1000.0], repeats=False, steady=0),
    )
    (read,) = document.read(document.export([baseline]), "b.json")
    assert replace(read, key=baseline.key) == baseline
    assert read.key.digest == baseline.key.digest


@given(st.lists(st.tuples(_BITS, _BITS), min_size=1, max_size=10))
def test_every_bit_of_values_and_steps_is_kept(rows) -> None:
    values, steps = (list(column) for column in zip(*rows, strict=True))
    curves = pack([curve(values, steps=steps)])
    (read,) = document.read(document.export([replace(_baseline(), curves=curves)]), "b.json")
    assert read.curves == curves


def test_several_dtypes_and_values_that_no_double_holds_are_kept() -> None:
    one = curve([1.0, 2.0], dtype="float32")
    numbers = replace(
        one.series.numbers,
        dtypes=("float32", "int64"),
        dtype_of=type(one.series.numbers.dtype_of)("B", [0, 1]),
        exact={1: "20000000000001/1"},
    )
    wide = replace(one, series=replace(one.series, numbers=numbers))
    content = document.export([_baseline(wide)])
    assert b'"2 - 2.0 0x1.0000000000000p+1 :1 =20000000000001/1"' in content
    (read,) = document.read(content, "b.json")
    assert unpack(read.curves)[0].series.numbers == numbers


def test_a_changed_value_is_one_changed_line_and_the_order_is_fixed() -> None:
    values = [1.0, 2.0, 3.0]
    baselines = [_baseline(curve(values)), _baseline(curve(values), target="large")]
    first = document.export(baselines)
    assert first == document.export(reversed(baselines))
    values[1] = 2.5
    second = document.export([_baseline(curve(values)), baselines[1]])
    lines = difflib.ndiff(first.decode().splitlines(), second.decode().splitlines())
    changed = [line.replace(" ", "") for line in lines if line[0] in "+-"]
    assert changed == [
        '-"2-2.00x1.0000000000000p+1",',
        '+"2-2.50x1.4000000000000p+1",',
    ]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"{", "truncated"),
        (b'{"format": "reprocheck baselines", "version": 3, "baselines": []}', "newer reprocheck"),
        (b'{"format": "reprocheck baselines", "version": 1}', "missing required field"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(content, what) -> None:
    with pytest.raises(BaselineError, match=rf"b\.json.*{what}"):
        document.read(content, "b.json")


@pytest.mark.parametrize("line", ["1 -", "1 - one", "x - 1.0", "1 - nan:00", "1 - 1.0 :9"])
def test_a_line_that_is_none_is_an_error(line) -> None:
    content = document.export([_baseline(curve([1.5]))]).replace(
        b"1 - 1.5 0x1.8000000000000p+0", line.encode()
    )
    with pytest.raises(BaselineError, match="cannot be read"):
        unpack(document.read(content, "b.json")[0].curves)


def test_a_file_of_somebody_else_is_left_alone(tmp_path) -> None:
    file = tmp_path / "notes.json"
    file.write_text("{}")
    with pytest.raises(BaselineError, match="not a file of baselines"):
        document.write(document.export([]), file)
    assert file.read_text() == "{}"
    ours = tmp_path / "baselines.json"
    for _ in range(2):
        document.write(document.export([]), ours)
    assert document.is_ours(ours.read_bytes())
