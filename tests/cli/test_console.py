"""The lines of a check under way, and the verdict's table, without running anything."""

from __future__ import annotations

import io

import pytest

from reprocheck.cli.console import Console
from reprocheck.cli.sentences import deciding, tail
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
    plain = {
        "number": 1,
        "ended": "completed",
        "exit_status": 0,
        "started": "",
        "seconds": 75.2,
        "trace": "",
        "stdout": "",
        "stderr": "",
    }
    return RunRecord(**{**plain, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ended": "stopped"}, "run 1 of 2 · stopped after iteration 12 · loss 0.25 · 1 min 15 s"),
        (
            {"ended": "completed"},
            "run 1 of 2 · ran to its end · iteration 12 · loss 0.25 · 1 min 15 s",
        ),
        (
            {"ended": "failed", "exit_status": 3},
            "run 1 of 2 · failed with exit status 3 · iteration 12 · loss 0.25 · 1 min 15 s",
        ),
        (
            {"ended": "failed", "exit_status": -9},
            "run 1 of 2 · killed by signal 9 · iteration 12 · loss 0.25 · 1 min 15 s",
        ),
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
    assert stream.file.getvalue().splitlines() == [
        "  report      It is in",
        " " * 14 + path,
        " " * 14 + "now",
    ]  # type: ignore[attr-defined]


def test_a_bar_can_be_drawn_from_its_start_on() -> None:
    stream = Stream(io.StringIO())
    bar = stream.bar()
    task = bar.add_task("scanning", total=0)
    stream.rich.print(bar)
    bar.update(task, completed=30, total=1200)
    stream.rich.print(bar)
    first, second = stream.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert first.endswith("0 of 0 files") and second.endswith("30 of 1,200 files")


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
    assert [(row.kind, row.run) for row in deciding(rows)] == [("forward", 3), ("backward", 2)]


def test_tails_are_printable_and_cut_to_the_width() -> None:
    run = Run(
        record=record(),
        traces=(),
        processes=(),
        stderr_tail="\x1b[31m" + "x" * 100 + "\x1b[0m\n\x07bell\n",
    )
    assert tail(run, 60) == ["x" * 60, "x" * 40, "�bell"]
    assert tail(Run(record=record(), traces=(), processes=()), 60) == ["(nothing)"]


# ---------------------------------------------------------------------------------------- under way


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Console:
    """A console whose time goes on by hand alone."""
    monkeypatch.setattr("sys.stderr", io.StringIO())
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.setattr(Console, "_tick", lambda self: None)
    made = Console(Settings(), clock=clock)
    made.err.unicode = True
    return made


def later(console: Console, clock: Clock, seconds: float) -> list[str]:
    """What is written while so much time passes, the console's clock beating twice a second."""
    before = len(written(console))
    for _ in range(round(seconds * 2)):
        clock.now += 0.5
        console.beat()
    return written(console)[before:].splitlines()


def test_off_a_terminal_a_line_is_written_each_minute(timed: Console, clock: Clock) -> None:
    timed.begin("python train.py")
    timed.run_started(1, 2)
    timed.progress(1, 3, 0.5, 1.0)
    assert later(timed, clock, 59) == []
    assert later(timed, clock, 1) == ["run 1 of 2 · iteration 3 of 10 · loss 0.5 · 1 min 0 s"]
    timed.progress(1, 7, 0.25, 65.0)
    assert len(later(timed, clock, 600)) == 10


def test_what_is_said_otherwise_counts_as_a_sign_of_life(timed: Console, clock: Clock) -> None:
    timed.run_started(1, 2)
    assert later(timed, clock, 40) == []
    timed.message("a file cannot be put back")
    assert later(timed, clock, 50) == []
    assert later(timed, clock, 10) == ["run 1 of 2 · no iteration yet · 1 min 40 s"]


def test_reading_and_drawing_give_a_sign_of_life_as_well(timed: Console, clock: Clock) -> None:
    timed.status("comparing the runs")
    assert later(timed, clock, 60) == ["comparing the runs"]
    timed.clear()
    assert later(timed, clock, 300) == []


def test_the_line_says_that_logs_are_masked(timed: Console, clock: Clock) -> None:
    timed.run_started(1, 2)
    timed.progress(1, 3, 0.5, 1.0)
    timed.masking(1)
    assert later(timed, clock, 60) == ["run 1 of 2 · masking its logs · 1 min 0 s"]
    timed.run_ended(record(number=1))
    timed.run_started(1, 2)
    assert "masking" not in timed._progress.line(1, clock.now)


def test_quiet_means_no_sign_of_life(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    console = Console(Settings(quiet=True), clock=clock)
    console.run_started(1, 2)
    assert later(console, clock, 600) == []


def test_the_time_left_is_known_once_a_run_has_ended(timed: Console, clock: Clock) -> None:
    timed.run_started(1, 3)
    timed.progress(1, 10, 0.5, 30.0)
    assert "left" not in timed._progress.line(1, clock.now + 30)
    timed.run_ended(record(number=1, seconds=30.0))
    timed.run_started(2, 3)
    timed.progress(2, 4, 0.5, 10.0)
    assert (
        timed._progress.line(2, clock.now + 10)
        == "run 2 of 3 · iteration 4 of 10 · loss 0.5 · 10.0 s · about 50 s left"
    )
    assert "left" not in timed._progress.line(2, clock.now + 90), (
        "it takes longer than those before"
    )


def test_a_search_says_how_many_runs_it_takes_at_most(timed: Console, clock: Clock) -> None:
    for number in (1, 2):
        timed.run_started(number, 2)
        timed.run_ended(record(number=number))
    timed.deeper("NOT REPRODUCIBLE (forward)", "module")
    timed.run_started(1, 2)
    timed.run_ended(record(number=1))
    timed.arm("seed", "the ladder points to it", most=6)
    timed.run_started(1, 2)
    assert (
        timed._progress.line(1, clock.now + 1)
        == "seed, run 1 of 2 (4 of at most 9) · no iteration yet · 1.0 s"
    )


def test_of_runs_beside_those_of_the_check_only_failures_stay(timed: Console) -> None:
    timed.deeper("NOT REPRODUCIBLE (forward)", "module")
    timed.run_started(1, 2)
    timed.run_ended(record(number=1))
    timed.run_started(2, 2)
    timed.run_ended(record(number=2, ended="failed", exit_status=1, seconds=5.0))
    assert written(timed).splitlines() == [
        "NOT REPRODUCIBLE (forward): recording two runs again, to see where they diverge",
        "level module, run 2 of 2 · failed with exit status 1 · no iteration yet · 5.0 s",
    ]
