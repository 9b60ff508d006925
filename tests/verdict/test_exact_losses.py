"""Losses that a double does not hold: neither equal in every bit nor within no tolerance when they
differ.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

from reprocheck.child.reprocheck_child.recorder.lines import exact_text, loss_line, whole_or_float
from reprocheck.model import LossSeries, Run, RunRecord, Tolerance
from reprocheck.model.statements.verdict import BeyondDoubles
from reprocheck.trace import read_run
from reprocheck.verdict import judge, paired
from tests.verdict.verdict_runs import run, trace

LARGE = 2**60


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        3,
        LARGE,
        True,
        numpy.float32(0.1),
        numpy.longdouble(0.1),
        float("nan"),
        numpy.longdouble("inf"),
    ],
)
def test_what_a_double_holds_is_written_as_one(value: object) -> None:
    assert exact_text(value) == ""


def test_what_it_does_not_hold_is_kept_beside_it() -> None:
    assert exact_text(LARGE + 1) == "1000000000000001/1"
    assert exact_text(numpy.longdouble(1) + numpy.finfo(numpy.longdouble).eps) != ""
    assert exact_text(numpy.finfo(numpy.longdouble).tiny) != ""
    line = json.loads(loss_line([LARGE + 1, 2.0], "int64", "log", 1, ""))
    assert line["v"] == [float(LARGE), 2.0] and line["x"] == ["1000000000000001/1", ""]
    assert (
        whole_or_float(numpy.int64(LARGE + 1)) == LARGE + 1
        and whole_or_float(numpy.float32(0.5)) == 0.5
    )


def written(folder: Path, *values: object, threads: bool = False) -> Run:
    """A run whose trace holds these losses, each with an update; of several threads in one
    iteration where `threads`.
    """
    (folder / "trace").mkdir(parents=True)
    lines = [
        '{"e":"process","v":1,"pid":5,"time":1.0,"argv":["t.py"]}\n',
        '{"e":"optimizer","o":0,"class":"SGD"}\n',
    ]
    for number, value in enumerate(values):
        lines.append(loss_line([value], "int64", "log", 1, str(number) if threads else ""))  # type: ignore[list-item]
        lines += [] if threads and number % 2 == 0 else ['{"e":"update","o":0,"c":true}\n']
    (folder / "trace" / "5-1.jsonl").write_text("".join(lines))
    record = RunRecord(
        number=1,
        ended="completed",
        exit_status=0,
        started="",
        seconds=1.0,
        trace="trace",
        stdout="stdout.log",
        stderr="stderr.log",
    )
    return read_run(folder, record)


def numbered(one: Run, number: int) -> Run:
    return replace(one, record=replace(one.record, number=number))


def test_large_integers_are_compared_as_what_they_are(tmp_path: Path) -> None:
    values = [LARGE + 1, LARGE + 2, LARGE + 3]
    first, again = written(tmp_path / "a", *values), written(tmp_path / "b", *values)
    assert judge([first, numbered(again, 2)], Tolerance()).bitwise.equal is True
    other = numbered(written(tmp_path / "c", LARGE + 1, LARGE + 2, LARGE + 4), 2)
    verdict = judge([first, other], Tolerance())
    assert (verdict.verdict, verdict.bitwise.equal, verdict.bitwise.first_iteration) == (
        "reproducible",
        False,
        3,
    )
    assert len(verdict.outcomes.groups) == 2

    strict = judge(
        [first, numbered(written(tmp_path / "d", LARGE + 2, LARGE + 2, LARGE + 3), 2)],
        Tolerance(rtol=0, atol=0),
    )
    assert (verdict.bitwise.ulp, strict.failed_check) == (None, "forward")
    row = strict.comparisons[0]
    assert (row.max_difference, row.allowed) == (1, 0)
    assert row.why == BeyondDoubles(run=2, shown=str(LARGE + 2), other=str(LARGE + 1))
    later = judge([first, other], Tolerance(rtol=0, atol=0), "any-iteration")
    assert later.first_divergence is not None and (
        later.first_divergence.iteration,
        later.exit_code,
    ) == (3, 1)


def test_losses_of_threads_keep_theirs_when_they_are_put_in_order(tmp_path: Path) -> None:
    first = written(tmp_path / "a", LARGE + 3, LARGE + 1, 1.0, 2.0, threads=True)
    other = written(tmp_path / "b", LARGE + 1, LARGE + 3, 2.0, 1.0, threads=True)
    assert first.traces[0].losses.exact == other.traces[0].losses.exact != {}
    assert judge([first, numbered(other, 2)], Tolerance()).bitwise.equal is True


def test_a_text_that_is_no_number_differs_and_breaks_nothing() -> None:
    def of(number: int, text: str) -> Run:
        one = trace([[1.0], [2.0]])
        losses: LossSeries = replace(one.losses, exact={0: text})
        return run(number, replace(one, losses=losses))

    for text in ("1/0", "x/y", "1", ""):
        verdict = judge(paired([of(1, "3/2"), of(2, text)], Tolerance()), Tolerance())
        assert verdict.bitwise.equal is False
