"""Series in trace files: values exact, in the order in which they were reported, up to the stop."""

from __future__ import annotations

import math
from pathlib import Path

from reprocheck.model import Series
from reprocheck.trace import read_run

from .test_trace import RECORD, hello, text, training


def read(tmp_path: Path, *events: dict[str, object]) -> tuple[Series, ...]:
    folder = tmp_path / RECORD.trace
    folder.mkdir(parents=True)
    (folder / "10-100.jsonl").write_bytes(text(hello(), *training(1.0, 0.5, 0.25), *events))
    [trace] = read_run(tmp_path, RECORD).traces
    return trace.series


def value(name: str, v: float | str, i: int, **keys: object) -> dict[str, object]:
    return {"e": "series", "n": name, "v": v, "i": i, "d": "float32", **keys}


def test_values_keep_every_bit_and_steps_are_those_of_the_tracker(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        value("acc", 0.1, 1, by="wandb", s=100.0),
        value("lr", "nan", 1),
        value("acc", -0.0, 2, by="wandb"),
        value("big", 1e20, 2, x="56bc75e2d63100001/1", d="int"),
    )
    assert [(one.name, one.by) for one in found] == [("acc", "wandb"), ("lr", ""), ("big", "")]
    accuracy, rate, big = found
    assert accuracy.numbers.values.tolist() == [0.1, 0.0]
    assert math.copysign(1, accuracy.numbers.values[1]) == -1
    assert accuracy.iterations.tolist() == [1, 2] and accuracy.steps[0] == 100.0
    assert math.isnan(accuracy.steps[1]) and math.isnan(rate.numbers.values[0])
    assert big.numbers.exact == {0: "56bc75e2d63100001/1"} and big.numbers.dtype(0) == "int"


def test_what_was_reported_behind_the_last_iteration_is_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, value("acc", 1.0, 3), value("acc", 2.0, 4), value("late", 2.0, 4))
    assert [(one.name, one.numbers.values.tolist()) for one in found] == [("acc", [1.0])]


def test_iterations_never_fall_whatever_a_trace_says(tmp_path: Path) -> None:
    [found] = read(tmp_path, value("acc", 1.0, 3), value("acc", 2.0, -7))
    assert found.iterations.tolist() == [3, 3]
