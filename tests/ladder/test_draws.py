"""Draws by the script itself, which are no facts of their own: known by where a generator is found
the next time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from reprocheck.model.evidence import WeightWritten
from tests.ladder.ladder_traces import (
    HASHES,
    Event,
    call,
    climb,
    generators,
    loss,
    out,
    seen,
    tensor,
    update,
)


def found(state: str) -> Event:
    """The generator of numpy as it was when it was imported; nobody seeds it, so the state is
    another one in each run.
    """
    return seen("found", "numpy", g={"numpy": state})


def iterations(
    run: str, *, batch: str = "x", numpy: Sequence[str], reduced: str = "d", written: str = ""
) -> list[Event]:
    """Two iterations; `numpy`: where its generator stands before training, before and after the
    first update, and before the second.
    """
    start, before, after, later = (run + state for state in numpy)
    return [
        HASHES,
        found(run + "0"),
        {"e": "optimizer", "o": 0, "class": "SGD"},
        generators("first forward", numpy=start),
        seen("batch", "fit", out=[["0", tensor(batch)]], n=[batch]),
        call("body", batch, batch + "y"),
        generators("before backward", numpy=before),
        loss(1.0),
        out("gradient", "body.weight", batch + "d"),
        out("reduced", "body.weight", batch + reduced, o=0),
        out("update", "body.weight", batch + reduced + "w", o=0),
        generators("after update", numpy=after),
        update(1),
        *([out("written", "body.weight", written, 2)] if written else []),
        call("body", "z", "z" + written, i=2),
        generators("before backward", 2, numpy=later),
        loss(2.0 if run == "a" else 3.0),
        update(2),
    ]


def test_data_that_were_made_before_the_training_from_an_unseeded_generator(tmp_path: Path) -> None:
    one, other = (iterations(run, batch=run, numpy="1111") for run in "ab")
    ladder = climb(tmp_path, one, other)
    rung = ladder.rung("RNG state")
    assert (ladder.first, rung.place, rung.generators.names, rung.evidence.outside) == (
        "RNG state",
        "fit",
        ("numpy",),
        True,
    )
    assert "because nothing seeds numpy" in ladder.sentence


def test_a_generator_that_stands_where_it_was_found_explains_nothing(tmp_path: Path) -> None:
    one, other = (iterations(run, batch=run, numpy="0000") for run in "ab")
    ladder = climb(tmp_path, one, other)
    assert (ladder.first, ladder.rung("RNG state").status) == ("batch", "equal")
    assert ladder.sentence.endswith("and no process-wide generator explains it."), (
        "what does explain it is for the causes to say"
    )


def test_a_generator_that_moves_later_is_not_said_to_explain_nothing(tmp_path: Path) -> None:
    one, other = (iterations(run, batch=run, numpy="0001") for run in "ab")
    ladder = climb(tmp_path, one, other)
    assert ladder.first == "batch"
    assert ladder.sentence.endswith(
        "; the numpy generator differed before, and what draws from it was not recorded."
    )


@pytest.mark.parametrize(
    ("changed", "numpy", "first"),
    [
        ({"reduced": True}, "0011", "RNG state"),
        ({"reduced": True}, "0001", "gradient"),
        ({"reduced": True}, "1111", "gradient"),
        ({"written": True}, "0001", "RNG state"),
        ({"written": True}, "0011", "update"),
    ],
)
def test_what_lies_behind_the_loss_asks_for_a_draw_at_that_time(
    tmp_path: Path, changed: dict[str, bool], numpy: str, first: str
) -> None:
    one, other = (
        iterations(run, numpy=numpy, **{name: name + run for name in changed}) for run in "ab"
    )
    ladder = climb(tmp_path, one, other)
    assert ladder.first == first
    assert "body.weight" in ladder.sentence


def test_a_weight_that_is_written_to_after_its_update(tmp_path: Path) -> None:
    one, other = (iterations(run, numpy="0000", written="w" + run) for run in "ab")
    ladder = climb(tmp_path, one, other)
    rung = ladder.rung("update")
    assert (ladder.first, rung.place, rung.iteration, rung.evidence) == (
        "update",
        "body.weight",
        1,
        WeightWritten(after_update="agrees"),
    )
    assert (
        "`body.weight` agrees after the update, and is written to and differs before the next forward pass"
        in ladder.sentence
    )
    assert ladder.rung("forward").culprit is None


def test_only_one_run_writes_to_a_weight(tmp_path: Path) -> None:
    one, other = iterations("a", numpy="0000"), iterations("b", numpy="0000", written="w")
    ladder = climb(tmp_path, one, other)
    assert ladder.first == "update"
    assert "only one run writes to it before the next forward pass" in ladder.sentence
