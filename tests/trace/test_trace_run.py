"""Several processes of one run: ranks, what they opened and said, the ends of the logs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.model import Run, RunRecord
from reprocheck.model.statements.trace import RanksGiven, RanksMissing, SecondProcess
from reprocheck.trace import read_run

RECORD = RunRecord(
    number=1,
    ended="completed",
    exit_status=0,
    started="",
    seconds=1.0,
    trace="trace",
    stdout="stdout.log",
    stderr="stderr.log",
)


Event = dict[str, object]


def process(
    time: float,
    *events: Event,
    pid: int = 5,
    rank: int | None = None,
    world: int | None = None,
    **keys: object,
) -> bytes:
    first: Event = {
        "e": "process",
        "v": 1,
        "pid": pid,
        "ppid": 1,
        "time": time,
        "argv": ["t.py"],
        "name": "MainProcess",
    }
    first |= {"rank": rank, "world": world, **keys}
    return b"".join(json.dumps(event).encode() + b"\n" for event in (first, *events))


def losses(value: float) -> list[dict[str, object]]:
    return [
        {"e": "loss", "k": "backward", "v": [value], "d": "float32"},
        {"e": "update", "o": 0, "c": True},
    ] * 2


def read(folder: Path, *files: bytes, names: tuple[str, ...] = ()) -> Run:
    (folder / "trace").mkdir(exist_ok=True)
    for number, content in enumerate(files):
        (
            folder / "trace" / f"{names[number] if names else f'{number}-{number}'}.jsonl"
        ).write_bytes(content)
    return read_run(folder, RECORD)


def ranks(run: Run) -> dict[int, float]:
    """Rank -> first loss, which names the process in these tests."""
    return {trace.rank: trace.losses.values[0] for trace in run.traces}


def test_ranks_from_the_launcher_in_rank_order(tmp_path: Path) -> None:
    run = read(
        tmp_path,
        process(1.0),
        process(3.0, *losses(0.5), rank=0, world=2),
        process(2.0, *losses(1.5), rank=1, world=2),
    )
    assert ranks(run) == {0: 0.5, 1: 1.5} and run.caveats == ()
    assert [one.rank for one in run.processes] == [None, 1, 0]  # in order of start


def test_the_framework_knows_the_rank_better(tmp_path: Path) -> None:
    said = {"e": "rank", "rank": 1, "world": 2}
    run = read(
        tmp_path,
        process(1.0, said, *losses(1.5), rank=0),
        process(2.0, {**said, "rank": 0}, *losses(0.5), rank=0),
    )
    assert ranks(run) == {0: 0.5, 1: 1.5} and run.caveats == ()


def test_a_rank_that_did_not_report_is_a_caveat(tmp_path: Path) -> None:
    run = read(
        tmp_path,
        process(1.0, *losses(0.5), rank=0, world=3),
        process(1.0, *losses(2.5), rank=2, world=3),
    )
    assert ranks(run) == {0: 0.5, 2: 2.5}
    assert run.caveats == (RanksMissing(recorded=2, world=3, unseen=(1,), silent=()),)


def test_a_training_in_a_forked_child(tmp_path: Path) -> None:
    assert ranks(read(tmp_path, process(1.0), process(2.0, *losses(0.5), name="Process-1"))) == {
        0: 0.5
    }


def test_two_trainings_one_after_the_other_are_told_apart_by_their_order(tmp_path: Path) -> None:
    ended: Event = {"e": "exit", "time": 3.0}
    run = read(
        tmp_path, process(9.0, *losses(0.5), pid=3), process(2.0, *losses(1.5), ended, pid=7)
    )
    assert ranks(run) == {0: 1.5, 1: 0.5}
    assert [trace.process.origin[-1] for trace in run.traces] == ["start 1", "start 2"]
    assert run.caveats == (RanksGiven(ranks=(0, 1)),)


def test_two_trainings_at_the_same_time_are_not(tmp_path: Path) -> None:
    ended: Event = {"e": "exit", "time": 10.0}
    run = read(
        tmp_path, process(9.0, *losses(0.5), pid=3), process(2.0, *losses(1.5), ended, pid=7)
    )
    assert ranks(run) == {0: 0.5, 1: 1.5}, "in the order of what they recorded: the start is a race"
    assert len({trace.process.origin for trace in run.traces}) == 1


def origin(*identity: int, task: str = "") -> Event:
    return {"e": "origin", "identity": identity, "task": task, "time": 20.0}


def test_processes_are_ordered_by_what_their_parent_gave_them_and_not_by_start(
    tmp_path: Path,
) -> None:
    files = [
        process(10.0 - number, origin(number), *losses(float(number))) for number in (1, 2, 10)
    ]
    assert ranks(read(tmp_path, *files)) == {0: 1.0, 1: 2.0, 2: 10.0}


def test_forks_are_known_by_their_number_and_tasks_of_a_pool_by_theirs(tmp_path: Path) -> None:
    parent = process(1.0, pid=50)
    forks = [
        process(12.0 - n, *losses(float(n)), pid=60 + n, ppid=50, root=50, forks=[n], how="fork")
        for n in (2, 10)
    ]
    tasks = [
        process(
            8.0 + n,
            origin(7 - n, task=f"0.{n}"),
            *losses(n + 20.0),
            pid=70,
            ppid=50,
            root=50,
            forks=[n],
            how="task",
        )
        for n in (1, 2)
    ]
    run = read(tmp_path, parent, *forks, *tasks)
    assert ranks(run) == {0: 2.0, 1: 10.0, 2: 21.0, 3: 22.0}
    assert [trace.process.origin[-1] for trace in run.traces] == [
        "fork 2",
        "fork 10",
        "task 0.1",
        "task 0.2",
    ]


def test_two_processes_that_claim_one_rank(tmp_path: Path) -> None:
    run = read(
        tmp_path,
        process(1.0, *losses(0.5), rank=0, world=2),
        process(2.0, *losses(1.5), rank=1, world=2),
        process(3.0, *losses(2.5), rank=0, world=2),
        process(4.0, *losses(3.5), rank=1, world=2),
    )
    assert ranks(run) == {0: 0.5, 1: 1.5, 2: 2.5, 3: 3.5}
    assert run.caveats == (
        SecondProcess(rank=0, reported=2),
        SecondProcess(rank=1, reported=3),
    )


def test_process_ids_do_not_decide(tmp_path: Path) -> None:
    files = process(1.0, *losses(0.5), pid=1), process(1.0, *losses(1.5), pid=2)
    for one, other in (("9-100", "1-200"), ("1-100", "9-200")):
        folder = tmp_path / one
        folder.mkdir()
        assert ranks(read(folder, *files, names=(one, other))) == {0: 0.5, 1: 1.5}


def opened(path: str, mode: str, **keys: object) -> dict[str, object]:
    return {"e": "open", "p": path, "m": mode, **keys}


def test_files_opened_before_the_run_wrote_them(tmp_path: Path) -> None:
    first = process(
        1.0,
        opened("own.txt", "w"),
        opened("own.txt", "r"),
        opened("data.csv", "r"),
        opened("log.txt", "a"),
        opened("log.txt", "r"),
    )
    second = process(2.0, opened("own.txt", "r"), opened("last.pt", "r"), opened("last.pt", "w"))
    assert read(tmp_path, second, first).opened == ("data.csv", "last.pt", "log.txt")


def test_the_time_of_an_opening_counts_where_it_is_known(tmp_path: Path) -> None:
    first = process(1.0, opened("shared", "w", time=5.0))
    assert read(tmp_path, first, process(2.0, opened("shared", "r", time=3.0))).opened == (
        "shared",
    )
    assert read(tmp_path, first, process(2.0, opened("shared", "r", time=6.0))).opened == ()


def test_what_processes_say_is_merged_without_repetition(tmp_path: Path) -> None:
    said: list[dict[str, object]] = [
        {
            "e": "framework",
            "name": "torch",
            "version": "2.13.0",
            "hooks": {"engine": "ok", "scaler": "missing"},
        },
        {"e": "note", "code": "sink", "text": "data sinking was turned off"},
        {"e": "caveat", "code": "tracker", "text": "wandb is loaded"},
        {"e": "problem", "where": "import", "error": "no room"},
    ]
    trainer = process(
        2.0, *said, {"e": "environment", "facts": {"cuda": None, "threads": 2}}, *losses(0.5)
    )
    run = read(
        tmp_path, process(1.0, *said, {"e": "environment", "facts": {"threads": 1}}), trainer
    )
    assert run.frameworks == {"torch": "2.13.0"} and run.environment == {"cuda": None, "threads": 2}
    assert run.changed_to_observe == ("data sinking was turned off",) and run.caveats == (
        "wandb is loaded",
    )
    assert run.problems == ("torch 2.13.0: scaler: missing", "import: no room")
    assert run.traces[0].frameworks == run.frameworks and run.traces[0].problems == run.problems


@pytest.mark.parametrize(
    ("content", "tail"),
    [
        (b"", ""),
        (b"one\ntwo", "one\ntwo"),
        (b"x\n" * 100, "x\n" * 40),
        (b"bad \xff byte\n", "bad � byte\n"),
        (b"a" * 9000 + b"\nlast\n", "last\n"),
        (b"b" * 9000, "b" * 8192),
    ],
)
def test_the_tail_of_a_log(tmp_path: Path, content: bytes, tail: str) -> None:
    (tmp_path / "stderr.log").write_bytes(content)
    run = read_run(tmp_path, replace(RECORD, number=2))
    assert run.stderr_tail == tail and run.stdout_tail == "" and run.number == 2
