"""Trace files -> runs: values exact, iterations grouped, damage survived, ranks found."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from reprocheck.model import Checked, Run, RunRecord
from reprocheck.model.statements.trace import LinesLeftOut, NewerFormat
from reprocheck.trace import read_run

HELLO = {
    "e": "process",
    "v": 1,
    "pid": 10,
    "ppid": 1,
    "time": 100.0,
    "argv": ["train.py"],
    "python": "3.11.2",
    "name": "MainProcess",
}
OPTIMIZER = {"e": "optimizer", "o": 0, "class": "SGD"}
MOVED_UPDATE = {"e": "update", "o": 0, "c": True, "i": 1}
RECORD = RunRecord(
    number=1,
    ended="completed",
    exit_status=0,
    started="",
    seconds=1.0,
    trace="run-1/trace",
    stdout="run-1/stdout.log",
    stderr="run-1/stderr.log",
)


def hello(**keys: object) -> dict[str, object]:
    return {**HELLO, **keys}


def loss(
    *values: float | str, d: str | list[str] = "float32", k: str = "backward", **keys: object
) -> dict[str, object]:
    return {"e": "loss", "k": k, "v": list(values), "d": d, **keys}


def training(*values: float, **keys: object) -> list[dict[str, object]]:
    """A plain loop: a loss and an update an iteration."""
    steps = [
        [loss(value, **keys), {"e": "update", "o": 0, "c": i == 0, "i": i + 1}]
        for i, value in enumerate(values)
    ]  # type: ignore[arg-type]
    return [OPTIMIZER, *(event for step in steps for event in step)]


def text(*events: dict[str, object]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def read(folder: Path, *files: bytes) -> Run:
    """Read a run whose processes left these trace files, in order of start unless their `time` says
    otherwise.
    """
    (folder / "run-1" / "trace").mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(files):
        (folder / "run-1" / "trace" / f"{90 - number}-{1000 + number}.jsonl").write_bytes(content)
    return read_run(folder, RECORD)


def losses(run: Run, rank: int = 0) -> list[list[float]]:
    series = run.traces[rank].losses
    return [list(series.losses(i)) for i in range(1, len(series) + 1)]


def test_a_plain_training(tmp_path: Path) -> None:
    run = read(tmp_path, text(hello(), *training(0.1, 0.2, 0.3), {"e": "exit"}))
    (trace,) = run.traces
    assert losses(run) == [[0.1], [0.2], [0.3]]
    assert trace.losses.dtype(0) == "float32"
    assert trace.forward == Checked(kind="forward", iteration=1, start=0, end=1)
    assert trace.backward == Checked(kind="backward", iteration=2, start=1, end=2)
    assert (
        trace.process.pid == 10
        and trace.process.ended
        and trace.process.rank == 0
        and trace.process.argv == ("train.py",)
    )
    assert (trace.cut, trace.unfinished, trace.stopped_at, trace.weights_seen) == (
        False,
        False,
        None,
        True,
    )
    assert run.problems == run.caveats == ()


def test_every_bit_of_a_value_survives(tmp_path: Path) -> None:
    values = [0.1, 5e-324, 1.7976931348623157e308, -0.0, 1 / 3]
    content = text(
        hello(),
        OPTIMIZER,
        loss(*values, "nan", "inf", "-inf", d="float64"),
        loss(3, d="float64"),
        MOVED_UPDATE,
    )
    found = read(tmp_path, content).traces[0].losses.values
    assert [value.hex() for value in found] == [
        value.hex() for value in [*values, math.nan, math.inf, -math.inf, 3.0]
    ]


def test_a_gan_checks_the_part_before_and_after_the_first_update(tmp_path: Path) -> None:
    step = [
        loss(1.0),
        loss(2.0),
        {"e": "update", "o": 0, "c": True},
        loss(3.0),
        {"e": "update", "o": 1, "c": None},
    ]
    run = read(
        tmp_path, text(hello(), OPTIMIZER, {"e": "optimizer", "o": 1, "class": "SGD"}, *step, *step)
    )
    assert losses(run) == [[1, 2, 3], [1, 2, 3]]
    assert run.traces[0].forward == Checked(kind="forward", iteration=1, start=0, end=2)
    assert run.traces[0].backward == Checked(kind="backward", iteration=2, start=2, end=6)


def test_an_l_bfgs_step_is_one_iteration_whose_first_loss_is_the_forward_check(
    tmp_path: Path,
) -> None:
    step = [loss(1.0), {"e": "moved"}, loss(2.0), loss(3.0), {"e": "update", "o": 0, "c": True}]
    run = read(
        tmp_path,
        text(hello(), OPTIMIZER, *step, loss(4.0), loss(5.0), {"e": "update", "o": 0, "c": None}),
    )
    assert losses(run) == [[1, 2, 3], [4, 5]]
    assert (run.traces[0].forward, run.traces[0].backward) == (
        Checked(kind="forward", iteration=1, start=0, end=1),
        Checked(kind="backward", iteration=2, start=1, end=5),
    )


def test_unchanged_weights_move_the_second_check(tmp_path: Path) -> None:
    updates = [False, True, None]
    events = [
        event
        for i, c in enumerate(updates)
        for event in (loss(float(i)), loss(float(i)), {"e": "update", "o": 0, "c": c})
    ]
    trace = read(tmp_path, text(hello(), OPTIMIZER, *events)).traces[0]
    assert (
        trace.backward == Checked(kind="backward", iteration=3, start=4, end=6)
        and trace.unchanged_updates == 1
    )


def test_weights_that_never_change_leave_no_second_check(tmp_path: Path) -> None:
    events = [
        event for i in range(4) for event in (loss(float(i)), {"e": "update", "o": 0, "c": False})
    ]
    trace = read(tmp_path, text(hello(), OPTIMIZER, *events)).traces[0]
    assert trace.backward is None and trace.forward is not None and trace.unchanged_updates == 4


def test_weights_that_nobody_looked_at_are_taken_to_change(tmp_path: Path) -> None:
    trace = read(tmp_path, text(hello(), loss(1.0), loss(2.0))).traces[0]
    assert not trace.weights_seen and trace.backward == Checked(
        kind="backward", iteration=2, start=1, end=2
    )


def test_log_loss_takes_precedence_over_losses_already_read(tmp_path: Path) -> None:
    step = [loss(1.0), loss(7.0, k="log", d="float64"), {"e": "update", "o": 0, "c": True}]
    run = read(tmp_path, text(hello(), OPTIMIZER, *step, *step))
    assert losses(run) == [[7], [7]] and run.traces[0].losses.dtype(1) == "float64"


def test_losses_of_several_threads_are_sorted_within_their_iteration(tmp_path: Path) -> None:
    first = [
        loss(3.0, t="b", d="float16"),
        loss("nan", t="a"),
        loss(1.0),
        {"e": "update", "o": 0, "c": True},
    ]
    run = read(
        tmp_path,
        text(hello(), OPTIMIZER, *first, loss(9.0), loss(2.0), {"e": "update", "o": 0, "c": None}),
    )
    series = run.traces[0].losses
    assert (
        list(series.values)[:2] == [1, 3]
        and math.isnan(series.values[2])
        and list(series.values)[3:] == [9, 2]
    )
    assert [series.dtype(i) for i in range(3)] == ["float32", "float16", "float32"]
    assert run.traces[0].unordered == (1,)


def test_sorting_does_not_move_a_loss_across_the_first_update(tmp_path: Path) -> None:
    events = [
        loss(5.0, t="a"),
        loss(4.0),
        {"e": "update", "o": 0, "c": True},
        loss(3.0, t="a"),
        loss(1.0),
        {"e": "update", "o": 1, "c": None},
    ]
    run = read(
        tmp_path, text(hello(), OPTIMIZER, {"e": "optimizer", "o": 1, "class": "SGD"}, *events)
    )
    assert losses(run) == [[4, 5, 1, 3]]


def test_what_follows_the_early_stop_is_dropped(tmp_path: Path) -> None:
    run = read(tmp_path, text(hello(), *training(1, 2, 3), {"e": "stop", "i": 2}, loss(4.0)))
    assert losses(run) == [[1], [2]]
    assert (
        run.traces[0].stopped_at == 2
        and not run.traces[0].unfinished
        and run.traces[0].process.ended
    )


def test_a_rank_that_was_ended_with_the_others_has_their_last_iteration(tmp_path: Path) -> None:
    stopped = text(hello(rank=0, world=2), *training(1, 2), {"e": "stop", "i": 2})
    killed = text(hello(rank=1, world=2), *training(1, 2), loss(9.0))
    run = read(tmp_path, stopped, killed)
    assert losses(run, 1) == [[1], [2]]
    assert run.traces[1].stopped_at == 2 and not run.traces[1].unfinished


def test_loss_dtypes_of_one_backward_pass(tmp_path: Path) -> None:
    series = (
        read(tmp_path, text(hello(), loss(1.0, 2.0, 3.0, d=["float16", "float32"])))
        .traces[0]
        .losses
    )
    assert [series.dtype(i) for i in range(3)] == ["float16", "float32", "unknown"]


def test_more_dtype_names_than_a_column_holds(tmp_path: Path) -> None:
    series = (
        read(tmp_path, text(hello(), *(loss(float(i), d=f"dtype{i}") for i in range(300))))
        .traces[0]
        .losses
    )
    assert len(series) == 300 and series.dtype(254) == "dtype254" and series.dtype(299) == "unknown"


# ------------------------------------------------------------------------------------------- damage


def test_unknown_events_are_left_out_and_said_unknown_keys_are_ignored(tmp_path: Path) -> None:
    run = read(
        tmp_path,
        text(
            hello(colour="blue"),
            {"e": "future", "x": [1]},
            *training(1, 2),
            loss(3.0, new={"a": 1}),
            {"e": "exit", "z": 0},
        ),
    )
    assert losses(run) == [[1], [2], [3]]
    assert run.problems == (LinesLeftOut(kind="unknown", number=1, names=("future",)),)


def test_a_trace_of_a_newer_recorder_is_read_as_far_as_it_is_known_and_said(tmp_path: Path) -> None:
    run = read(tmp_path, text(hello(v=2), *training(1, 2), {"e": "exit"}))
    assert losses(run) == [[1], [2]]
    assert run.problems == (NewerFormat(version=2, known=1),)


@pytest.mark.parametrize(
    "garbage",
    [
        b"\n",
        b"\x00\x00\n",
        b"\xff\xfe garbage\n",
        b"[1, 2]\n",
        b'{"e": 3}\n',
        b'{"e": "loss", "v": "x"}\n',
        b"{}\n",
        b'{"e":\n',
    ],
)
def test_lines_that_are_no_events_are_left_out(tmp_path: Path, garbage: bytes) -> None:
    run = read(tmp_path, text(hello(), *training(1)) + garbage + text(*training(2)[1:]))
    assert losses(run) == [[1], [2]]
    assert bool(run.problems) == bool(garbage.strip())


def test_a_trace_longer_than_a_chunk(tmp_path: Path) -> None:
    run = read(tmp_path, text(hello(), *training(*(i / 7 for i in range(6000)))))
    assert list(run.traces[0].losses.values) == [i / 7 for i in range(6000)]


def test_a_trace_without_a_process_line(tmp_path: Path) -> None:
    assert losses(read(tmp_path, text(*training(1, 2)))) == [[1], [2]]


def test_empty_missing_and_foreign_files(tmp_path: Path) -> None:
    assert read_run(tmp_path, RECORD).traces == ()
    (tmp_path / "run-1" / "trace" / "folder.jsonl").mkdir(parents=True)
    run = read(tmp_path, b"", text(hello()))
    assert run.traces == () and len(run.processes) == 3 and run.problems != ()


STORY = text(
    hello(),
    OPTIMIZER,
    loss(0.125, "nan"),
    MOVED_UPDATE,
    loss(1e-30, 2.5, d=["float16", "float32"], t="worker"),
    {"e": "update", "o": 0, "c": None, "i": 2},
    {"e": "caveat", "code": "tracker", "text": "a tracker is loaded: ü"},
    loss(0.5),
    {"e": "update", "o": 0, "c": None, "i": 3},
)


def test_a_trace_cut_at_any_byte_holds_a_prefix(tmp_path: Path) -> None:
    whole = read(tmp_path, STORY)
    expected = losses(whole)
    for length in range(len(STORY)):
        run = read(tmp_path, STORY[:length])
        if not run.traces:
            continue
        trace, found = run.traces[0], losses(run)
        complete = found[:-1] if trace.unfinished else found
        assert repr(complete) == repr(expected[: len(complete)]), length
        if trace.unfinished:
            assert repr(expected[len(complete)]).startswith(repr(found[-1])[:-1]), length
        assert trace.cut == (STORY[:length][-1:] != b"\n"), length


@given(st.binary(max_size=400), st.integers(0, len(STORY)))
@settings(max_examples=60)
def test_no_bytes_make_the_reader_fail(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, place: int
) -> None:
    run = read(tmp_path_factory.mktemp("noise"), STORY[:place] + noise + STORY[place:])
    for trace in run.traces:
        assert (
            len(trace.losses.values)
            == len(trace.losses.dtype_of)
            == (trace.losses.ends[-1] if len(trace.losses) else 0)
        )
