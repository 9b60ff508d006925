"""Hash, sketch and leaves without a framework of deep learning."""

from __future__ import annotations

import base64
import collections
import dataclasses
import hashlib
import math
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reprocheck.child.reprocheck_child.deep_levels import hashing, leaves, sketch
from reprocheck.child.reprocheck_child.frameworks.mindspore.values import Fingerprints

CHILD = Path(leaves.__file__).parents[2]


def numbers(text: str) -> Any:
    return (
        np.frombuffer(base64.b64decode(text), "<f4")
        .astype(float)
        .reshape(sketch.VECTORS, sketch.BUCKETS)
    )


def of(values: Any) -> list[list[Any]]:
    return leaves.leaves(values, lambda value: None)


# --------------------------------------------------------------------------------------------- hash


def test_digest_of_each_algorithm() -> None:
    assert hashing._blake2b(b"bytes") == hashlib.blake2b(b"bytes", digest_size=16).hexdigest()
    assert hashing.digest(np.arange(3, dtype=np.uint8)) == hashing.digest(b"\0\1\2")
    assert len(hashing.digest(b"")) == 32
    blocked = "import sys; sys.modules['xxhash'] = None; from reprocheck_child.deep_levels import hashing; print(hashing.NAME, hashing.digest(b'bytes'))"
    environment = {**os.environ, "PYTHONPATH": str(CHILD)}
    said = subprocess.run(
        [sys.executable, "-c", blocked], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()
    assert said == ["blake2b", hashing._blake2b(b"bytes")]


# ------------------------------------------------------------------------------------------- sketch


def test_signs_are_fixed() -> None:
    given = sketch.signs(1, 1024)
    assert set(given) == {1.0, -1.0}
    assert given == sketch.signs(1, 1024)
    assert given != sketch.signs(2, 1024)
    assert abs(sum(given)) < 150
    tables = (sketch.row_signs(), sketch.cycle_signs(), sketch.column_signs())
    assert hashlib.sha256(b"".join(table.tobytes() for table in tables)).hexdigest() == SIGNS


SIGNS = "137f759d4f864104e9d720c8a834c53070ae926f5678a57e2125062988b3c4ec"
"""Of the format `signs-2`: it changes only with its name."""


def test_the_map_is_the_one_of_the_description() -> None:
    size = 2 * sketch.CYCLE + 3 * sketch.ROW + 77
    rows = np.array(sketch.row_signs()).reshape(sketch.GROUPS, sketch.ROWS)
    flips = np.array(sketch.cycle_signs()).reshape(sketch.GROUPS, sketch.FLIPS)
    columns = np.array(sketch.column_signs()).reshape(sketch.VECTORS, sketch.ROW)
    sketches = sketch.ArraySketch(np)
    for element in (
        0,
        15,
        16,
        1023,
        1024,
        5000,
        200_007,
        sketch.CYCLE - 1,
        sketch.CYCLE + 7,
        2 * sketch.CYCLE + 5,
        size - 78,
        size - 1,
    ):
        values = np.zeros(size)  # of 64 bits: read whole
        values[element] = 2.5
        row, c = divmod(element, sketch.ROW)
        cycle, r = divmod(row, sketch.ROWS)
        group = c // sketch.COLUMNS
        expected = np.zeros((sketch.VECTORS, sketch.BUCKETS))
        for vector in range(sketch.VECTORS):
            expected[vector, c % 16] = (
                2.5 * rows[group, r] * flips[group, cycle] * columns[vector, c]
            )
        found, norm = sketches.of(values)
        assert (numbers(found) == expected).all(), element
        assert norm == 2.5


@pytest.mark.parametrize("size", [sketch.WHOLE + 1, 81_920, 200_000, 409_600, 5_000_001])
def test_of_a_long_tensor_a_sample_is_taken(size: int) -> None:
    sketches = sketch.ArraySketch(np)
    values = np.arange(size, dtype=np.float32) % 1000
    rows, share, scale = sketch.sample(size)
    parts = [values[share * 64 * part :][:64] for part in range(16 * rows)]
    taken = np.concatenate(parts)
    assert len(taken) == 1024 * rows <= size
    assert share % 2 == 1
    assert size / 19 < len(taken)
    assert len(taken) * (share + 2) > 0.97 * size
    whole, cut = numbers(sketches.of(taken.astype(float))[0]), numbers(sketches.of(values)[0])
    assert cut == pytest.approx(whole * scale, rel=1e-4, abs=1)
    assert leaves.array(values)["q"] == share
    assert "q" not in leaves.array(values.astype(float))


def test_what_is_all_alike_keeps_its_length() -> None:
    rows, flips = (
        np.array(table).reshape(sketch.GROUPS, -1)
        for table in (sketch.row_signs(), sketch.cycle_signs())
    )
    for table, weights in ((rows, np.ones(sketch.GROUPS)), (flips, rows.sum(1))):
        squares = (np.cumsum(table * weights[:, None], 1) ** 2).sum(0)
        ratios = np.sqrt(squares / (np.arange(1, table.shape[1] + 1) * (weights**2).sum()))
        assert ratios.min() > 0.75
        assert ratios.max() < 1.25


def test_marked_sketches_are_far_apart() -> None:
    values = np.ones(100, np.float32)
    text, norm = sketch.ArraySketch(np).of(values)
    first, second = (
        numbers(sketch.marked(text, norm, digest))
        for digest in ("0123456789abcdef", "fedcba9876543210")
    )
    assert np.linalg.norm(first - second) / 2 == pytest.approx(2 * norm, rel=1e-5)
    assert np.linalg.norm(first - numbers(text)) / 2 == pytest.approx(norm, rel=1e-5)


# ------------------------------------------------------------------------------------------- leaves


def test_paths_and_plain_values() -> None:
    point = collections.namedtuple("point", "x y")

    @dataclasses.dataclass
    class Batch:
        ids: list[int]
        name: str

    nested = {
        "a": [1, 2.5, True, None],
        "b": point("s", math.nan),
        "c": Batch([7], "n"),
        "d": {"e": (b"x",)},
    }
    assert of(nested) == [
        ["a.0", {"v": 1}],
        ["a.1", {"v": 2.5}],
        ["a.2", {"v": True}],
        ["a.3", {"v": None}],
        ["b.x", {"v": "s"}],
        ["b.y", {"v": "nan"}],
        ["c.ids.0", {"v": 7}],
        ["c.name", {"v": "n"}],
        ["d.e.0", {"h": hashing.digest(b"x"), "d": "bytes"}],
    ]
    assert of("long " * 100) == [["", {"h": hashing.digest(("long " * 100).encode()), "d": "str"}]]
    assert of(10**30)[0][1]["d"] == "int"
    assert of({"x", "y", "z"}) == of({"z", "y", "x"})
    assert of(collections.UserDict(ids=[1])) == [["ids.0", {"v": 1}]]


def test_objects_give_their_arrays() -> None:
    class Graph:
        def __init__(self) -> None:
            self.made = 1234.5
            self.parts = {"edges": np.arange(3), "name": "x"}

    assert [path for path, _ in of([Graph(), 7])] == ["0.parts.edges", "1"]


def test_what_is_no_data_is_not_touched() -> None:
    drawn: list[int] = []

    def generator() -> Any:
        drawn.append(1)
        yield 1

    class Loader:
        def __iter__(self) -> Any:
            raise AssertionError

        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

    found = of([generator(), iter([1]), print, Loader, lambda: 1, object(), Loader()])
    assert found[0] == ["0", {"h": "", "d": "generator"}]
    assert all(leaf["h"] == "" for _, leaf in found)
    assert not drawn
    assert "0x" not in str(found)


def test_limits() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    assert of(loop) == [["0", {"v": 1}], leaves.CUT]
    deep: list[Any] = []
    for _ in range(2000):
        deep = [deep]
    assert of(deep) == [leaves.CUT]
    many = of(list(range(5000)))
    assert len(many) == leaves.COUNT + 1
    assert many[-1] == leaves.CUT


def test_numpy_arrays() -> None:
    values = np.arange(6, dtype=np.float64).reshape(2, 3)
    ((path, found),) = of(values)
    assert path == ""
    assert (found["d"], found["s"], found["v"]) == ("float64", [2, 3], [0, 1, 2, 3, 4, 5])
    assert found["z"] == pytest.approx(np.linalg.norm(values))
    assert of(values.T.copy().T) == of(values)
    assert of(values.T)[0][1]["h"] != found["h"]
    assert of(np.float32(1))[0][1]["s"] == []
    assert of(np.array(["a"], object)) == [["", {"h": "", "d": "numpy.object", "s": [1]}]]
    assert "k" not in of(np.array(["2020-01-01"], "datetime64[D]"))[0][1]
    assert of(np.zeros((0, 2)))[0][1]["s"] == [0, 2]
    assert of(np.array([1 + 2j]))[0][1]["v"] == [1.0, 2.0]
    assert of(np.array([np.nan, np.inf]))[0][1]["v"] == ["nan", "inf"]
    frozen = np.ones(3)
    frozen.setflags(write=False)
    assert of(frozen) == of(np.ones(3))


def test_rows_of_arrays_as_samples() -> None:
    values, labels = np.arange(12).reshape(4, 3), np.arange(4)
    rows = [leaves.array_rows(values), leaves.array_rows(labels)]
    found = leaves.samples([row for row in rows if row])
    assert found is not None
    assert len(set(found)) == 4
    assert leaves.array_rows(np.array(1)) is None
    assert leaves.samples([]) is None
    assert leaves.samples([[b""] * (leaves.SAMPLES + 1)]) is None


class CSRTensor(SimpleNamespace):
    """A sparse tensor of MindSpore, as far as it is read."""


def test_a_sparse_tensor_is_all_that_it_is_stored_as() -> None:
    recorder = SimpleNamespace(on_fork=[], emit=lambda event: None)
    deep: Any = SimpleNamespace(recorder=recorder, unrecorded=pytest.fail)
    stand_in: Any = SimpleNamespace(Tensor=CSRTensor)
    prints = Fingerprints(stand_in, deep)
    stored = {name: np.arange(3) for name in ("values", "indices", "indptr")}
    first = prints.of(CSRTensor(**stored))
    assert (first["d"], first["s"]) == ("CSRTensor", [3])
    for name in stored:
        other = CSRTensor(**{**stored, name: np.arange(3) + 1})
        assert prints.of(other)["h"] != first["h"], name
