"""Curves from files of other programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.suite.baselines import BaselineError
from reprocheck.suite.baselines.foreign.points import digits, precision_of
from reprocheck.suite.baselines.foreign.read import read

GOLDEN = """{
    "lm loss": {"start_step": 1, "end_step": 10, "step_interval": 5,
                "values": {"1": 12.95636, "5": 12.91493, "10": "nan"}},
    "iteration-time": {"start_step": 1, "end_step": 10, "step_interval": 5, "values": {"1": 8.5}}
}"""
OLD_GOLDEN = """{"lm loss": {"start_step": 0, "end_step": 15, "step_interval": 5,
 "values": [10.83377, 10.86686, 10.89018]}, "iteration_timing_avg": 0.11905}"""
TITAN = "1 8.048324584960938\n2 7.751155376434326\n3 7.25\n"
WIDE_TITAN = (
    "# config: llama3_debugmodel\n# step loss grad_norm\n"
    "1 8.023969650268555 1.5995219945907593\n2 7.695959091186523 1.4733818769454956\n"
)
WIDE = "step,loss,val_loss\n1,2.5,\n2,2.25,0.75\n"
LOSSES = (
    "run,rank,series,by,iteration,index,step,value,dtype\n"
    "1,0,loss,,1,0,1,0.1,float64\n1,1,loss,,1,0,1,0.2,float64\n2,0,loss,,1,0,1,9.0,float64\n"
)


def _read(tmp_path: Path, text: str, format: str | None = None):
    file = tmp_path / "file"
    file.write_text(text)
    return {points.name: points for points in read(file, format)}


def test_golden_values_of_megatron(tmp_path) -> None:
    found = _read(tmp_path, GOLDEN)
    assert set(found) == {"lm loss", "iteration-time"}
    points = found["lm loss"]
    assert (points.steps, points.values) == ((1, 5), (12.95636, 12.91493))
    assert points.precision == "rounded"


def test_older_golden_values_are_lists(tmp_path) -> None:
    (points,) = _read(tmp_path, OLD_GOLDEN).values()
    assert (points.steps, points.values) == ((1, 6, 11), (10.83377, 10.86686, 10.89018))


def test_torchtitan_writes_single_precision_in_full(tmp_path) -> None:
    (points,) = _read(tmp_path, TITAN).values()
    assert (points.name, points.steps, points.precision) == ("loss", (1, 2, 3), "single")
    assert points.values[0] == 8.048324584960938


def test_a_comment_of_torchtitan_names_its_columns(tmp_path) -> None:
    found = _read(tmp_path, WIDE_TITAN)
    assert found["loss"].values == (8.023969650268555, 7.695959091186523)
    assert found["grad_norm"].values == (1.5995219945907593, 1.4733818769454956)


def test_csv_has_a_column_for_each_series(tmp_path) -> None:
    found = _read(tmp_path, WIDE)
    assert (found["loss"].steps, found["loss"].values) == ((1, 2), (2.5, 2.25))
    assert (found["val_loss"].steps, found["val_loss"].values) == ((2,), (0.75,))


def test_of_losses_csv_run_1_is_taken_in_full(tmp_path) -> None:
    file = tmp_path / "losses.csv"
    file.write_text(LOSSES)
    found = read(file)
    assert [(one.rank, one.by, one.values, one.precision) for one in found] == [
        (0, "", (0.1,), "double"),
        (1, "", (0.2,), "double"),
    ]


@pytest.mark.parametrize(
    ("text", "format", "what"),
    [
        ('{"lm loss": {"values": 3}}', "megatron", "are no numbers by step"),
        ('{"lm loss": {"values": {"one": 1}}}', "megatron", "could not convert"),
        ("[]", "megatron", "holds no object"),
        ("{", "megatron", "Expecting property name"),
        ("1 2\n2\n", "torchtitan", "fewer columns than the others"),
        ("1 2 3\n", "torchtitan", "3 columns, and not step, loss"),
        ("a,b\n1,2\n", None, "no column `step` or `iteration`, but a, b"),
        ("step,loss\n1,high\n", None, "could not convert string to float: 'high'"),
        ("step,loss\n", None, "holds no series"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, text, format, what) -> None:
    with pytest.raises(BaselineError, match=what):
        _read(tmp_path, text, format)


def test_a_file_that_is_not_there_is_named(tmp_path) -> None:
    with pytest.raises(BaselineError, match=r"gone\.json cannot be read: No such file"):
        read(tmp_path / "gone.json")


@pytest.mark.parametrize(
    ("texts", "precision"),
    [
        (["8.048324584960938", "7.25"], "single"),
        (["12.95636"], "rounded"),
        (["7.25", "8"], "rounded"),
        (["0.30000000000000004"], "rounded"),
    ],
)
def test_digits_decide_how_much_a_file_holds(texts, precision) -> None:
    assert precision_of(texts) == precision


def test_leading_zeros_and_exponents_are_no_digits() -> None:
    assert [digits(text) for text in ("0.00120e-5", "-12.5", "1e10")] == [3, 3, 1]


def test_a_curve_that_tensorboard_saved_is_read(tmp_path: Path) -> None:
    file = tmp_path / "curve.csv"
    file.write_text(
        "Wall time,Step,Value\n1764430000.1,1,2.5\n1764430000.2,2,0.10000000149011612\n"
    )
    (points,) = read(file)
    assert (points.name, points.steps, points.values) == (
        "Value",
        (1, 2),
        (2.5, 0.10000000149011612),
    )
    assert points.precision == "single"


def test_an_event_file_of_tensorboard_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "events.out.tfevents.1"
    file.write_bytes(b"\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22")
    with pytest.raises(BaselineError) as caught:
        read(file)
    assert "TensorBoard saves a curve as CSV" in caught.value.fix
