"""The lines of a check under way, and the verdict's table, without running anything."""

from __future__ import annotations

import io

import pytest

from reprocheck.cli.console import Console
from reprocheck.cli.summary import _tail, _worst
from reprocheck.cli.terminal import Stream
from reprocheck.model import Comparison, Run, RunRecord
from reprocheck.settings import Settings


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> Console:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    monkeypatch.setattr("sys.stdout", io.StringIO())
    made = Console(Settings(), clock=lambda: 0.0)
    made.err.unicode = True
    return made


def written(console: Console) -> str:
    assert isinstance(console.err.file, io.StringIO)
    return console.err.file.getvalue()


def record(**changes: object) -> RunRecord:
    plain = {"number": 1, "ended": "completed", "exit_status": 0, "started": "", "seconds": 75.2, "trace": "", "stdout": "", "stderr": ""}
    return RunRecord(**{**plain, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ended": "stopped"}, "run 1 of 2 · stopped after iteration 12 · loss 0.25 · 1 min 15 s"),
        ({"ended": "completed"}, "run 1 of 2 · ran to its end · iteration 12 · loss 0.25 · 1 min 15 s"),
        ({"ended": "failed", "exit_status": 3}, "run 1 of 2 · failed with exit status 3 · iteration 12 · loss 0.25 · 1 min 15 s"),
        ({"ended": "failed", "exit_status": -9}, "run 1 of 2 · killed by signal 9 · iteration 12 · loss 0.25 · 1 min 15 s"),
        ({"ended": "timed_out"}, "run 1 of 2 · timed out · iteration 12 · loss 0.25 · 1 min 15 s"),
    ],
)
def test_the_last_line_of_a_run(console: Console, changes: dict[str, object], words: str) -> None:
    console.run_started(1, 2)
    console.progress(1, 12, 0.25, 3.0)
    console.run_ended(record(**changes))
    assert written(console) == words + "\n"


def test_silence_is_said_less_and_less_often(console: Console) -> None:
    for seconds in range(60, 660, 60):
        console.silent(1, seconds)
    assert written(console).count("nothing recorded") == 4  # 1, 2, 4 and 8 minutes


def test_text_is_wrapped_and_words_are_not_broken() -> None:
    stream = Stream(io.StringIO())
    path = "reports/" + "x" * 90
    stream.labelled("report", f"It is in {path} now", indent=2, label_width=10)
    assert stream.file.getvalue().splitlines() == ["  report      It is in", " " * 14 + path, " " * 14 + "now"]  # type: ignore[attr-defined]


def comparison(kind: str, run: int, difference: float | None, passed: bool | None) -> Comparison:
    return Comparison(
        iteration=1,
        kind=kind,
        run=run,
        rank=0,
        loss_index=0,
        passed=passed,
        max_difference=difference,
        allowed=0.5,
        ulp=0,  # type: ignore[arg-type]
    )


def test_of_each_check_the_row_that_decides() -> None:
    rows = [
        comparison("forward", 2, 0.1, True),
        comparison("forward", 3, 0.3, True),
        comparison("backward", 2, 0.9, False),
        comparison("backward", 3, 0.7, False),
        comparison("backward", 4, None, None),
    ]
    assert [(row.kind, row.run) for row in _worst(rows)] == [("forward", 3), ("backward", 2)]


def test_tails_are_printable_and_cut_to_the_width() -> None:
    run = Run(record=record(), traces=(), processes=(), stderr_tail="\x1b[31m" + "x" * 100 + "\x1b[0m\n\x07bell\n")
    assert _tail(run, 60) == ["x" * 60, "x" * 40, "�bell"]
    assert _tail(Run(record=record(), traces=(), processes=()), 60) == ["(nothing)"]
