"""Trainings in threads and asynchronous tasks of one process: recorded, read back and compared.

No framework is needed here.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.model import Run, RunRecord, Tolerance, Verdict
from reprocheck.model.statements.trace import LossesOfSeveral, TrainingsInThreads
from reprocheck.trace import read_run
from reprocheck.trace.deep_run import read_deep
from reprocheck.verdict import judge, paired
from tests.child.recording import Recording, record

TRAINING = """
import asyncio, os, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from reprocheck_child.recorder.current_recorder import RECORDER as recorder

planted, late = os.environ.get("PLANTED"), os.environ.get("LATE")

def loss(number, step):
    shift = 0.5 if planted == str(number) else 0.0
    recorder.scalar(number + shift + 1 / (step + 1), "float32", "backward")

def train(number, steps):
    if late == str(number):
        time.sleep(0.2)
    one = recorder.optimizer("SGD")
    for step in range(steps):
        loss(number, step)
        time.sleep(0.001 * number)
        recorder.update(one, step > 0)

def train_by_hand(number, steps):
    for step in range(steps):
        loss(number, step)
        time.sleep(0.001)

async def train_as_task(number, steps):
    one = recorder.optimizer("SGD")
    for step in range(steps):
        await asyncio.sleep(0.001 * number)
        loss(number, step)
        await asyncio.sleep(0.001)
        recorder.update(one, step > 0)

async def train_tasks():
    await asyncio.gather(*(train_as_task(number, 100_000) for number in range(3)))

def start(*trainings, target=train):
    threads = [threading.Thread(target=target, args=one) for one in trainings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
LONG = "start((0, 100_000), (1, 100_000), (2, 100_000))"
BY_HAND = LONG.replace("))", "), target=train_by_hand)")
TASKS = "asyncio.run(train_tasks())"
EXECUTOR = "list(ThreadPoolExecutor(2).map(train, range(3), [6] * 3))"
POOL = "ThreadPool(2).starmap(train, [(number, 6) for number in range(3)], chunksize=1)"
RECORD = RunRecord(
    number=1,
    ended="stopped",
    exit_status=0,
    started="",
    seconds=1.0,
    trace="trace",
    stdout="stdout.log",
    stderr="stderr.log",
)


def recorded(folder: Path, program: str, **variables: str) -> Recording:
    folder.mkdir(exist_ok=True)
    recording = record(TRAINING + program, folder, steps=4, **variables)
    assert not recording.done.returncode, recording.done.stderr
    return recording


def compared(folder: Path, program: str, **variables: str) -> tuple[tuple[Run, ...], Verdict]:
    """The program as it is, and under the variables."""
    recorded(folder / "1", program)
    recorded(folder / "2", program, **variables)
    runs = [read_run(folder / str(number), replace(RECORD, number=number)) for number in (1, 2)]
    together = paired(runs, Tolerance())
    return together, judge(together, Tolerance(), "any-iteration")


@pytest.mark.parametrize(
    ("program", "names"),
    [
        (LONG, ["Thread-1", "Thread-2", "Thread-3"]),
        (BY_HAND, ["Thread-1", "Thread-2", "Thread-3"]),
        (TASKS, ["Task-2", "Task-3", "Task-4"]),
        (EXECUTOR, ["task", "task #2", "task #3"]),
        (POOL, ["task 0.0", "task 0.1", "task 0.2"]),
    ],
    ids=["threads", "without optimizers", "tasks", "items of an executor", "tasks of a pool"],
)
def test_each_training_is_compared_with_its_own(
    program: str, names: list[str], tmp_path: Path
) -> None:
    runs, verdict = compared(tmp_path, program, LATE="0")
    assert verdict.verdict == "reproducible" and verdict.exit_code == 0, verdict.because
    assert verdict.bitwise.equal
    expected = {tuple(number + 1 / step for step in range(1, 5)) for number in range(3)}
    for run in runs:
        assert {tuple(trace.losses.values) for trace in run.traces} == expected
        second = 2 if program == BY_HAND else 3
        assert all(trace.backward and trace.backward.iteration == second for trace in run.traces)
    assert not read_deep(tmp_path / "1", RECORD).ranks  # whose its facts are is not known
    (caveat,) = runs[0].caveats
    assert isinstance(caveat, TrainingsInThreads)
    of_ranks = zip(caveat.trainings, enumerate(names), strict=True)
    assert all(rank == own and name.startswith(thread) for (rank, name), (own, thread) in of_ranks)


@pytest.mark.parametrize("program", [LONG, TASKS, POOL], ids=["threads", "tasks", "pool"])
def test_a_difference_in_one_training_is_found_and_named(program: str, tmp_path: Path) -> None:
    _, verdict = compared(tmp_path, program, PLANTED="1")
    assert verdict.verdict == "not_reproducible"
    assert {row.rank for row in verdict.comparisons if row.passed is False} == {1}


def test_a_training_that_ends_before_its_stop_is_not_waited_for(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "1", "start((0, 2), (1, 100_000))")
    assert [event["i"] for event in recording.events("stop")] == [4]
    assert recording.events("stop") and not recording.events("exit")
    run = read_run(tmp_path / "1", RECORD)
    assert sorted(len(trace.losses) for trace in run.traces) == [2, 4]


@pytest.mark.parametrize(
    "steps",
    [
        "step(number)",
        "pool.submit(step, number).result()",
        "asyncio.run(asyncio.to_thread(step, number))",
    ],
    ids=["in the main thread", "items of an executor", "tasks of a loop"],
)
def test_one_optimizer_is_one_training_wherever_it_steps(steps: str, tmp_path: Path) -> None:
    program = f"""
pool, one = ThreadPoolExecutor(2), recorder.optimizer("SGD")
def step(number):
    loss(0, number)
    recorder.update(one, True)
for number in range(6):
    {steps}
"""
    recorded(tmp_path / "1", program)
    run = read_run(tmp_path / "1", RECORD)
    (trace,) = run.traces
    assert list(trace.losses.values) == [1 / step for step in range(1, 5)] and not run.caveats


def test_threads_whose_losses_feed_the_update_of_another_are_no_trainings(tmp_path: Path) -> None:
    program = """
one = recorder.optimizer("SGD")
for step in range(4):
    threads = [threading.Thread(target=loss, args=(number, step)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.update(one, True)
"""
    recorded(tmp_path / "1", program)
    (trace,) = read_run(tmp_path / "1", RECORD).traces
    assert list(trace.losses.ends) == [2, 4, 6, 8] and trace.unordered == (1, 2, 3, 4)


def test_losses_that_belong_to_no_thread_are_said_to_be_of_several_trainings(
    tmp_path: Path,
) -> None:
    program = BY_HAND.replace("train_by_hand", "train").replace("100_000", "6")
    whose = "def loss(number, step):\n    recorder.loss([1.0], 'float32', thread='')\n"
    recorded(tmp_path / "1", whose + program)
    run = read_run(tmp_path / "1", RECORD)
    assert len(run.traces) == 1 and run.caveats == (LossesOfSeveral(),)


def test_threads_with_one_loss_each_are_no_trainings(tmp_path: Path) -> None:
    recorded(tmp_path / "1", "for step in range(6):\n    start((0, 1), target=train_by_hand)\n")
    (trace,) = read_run(tmp_path / "1", RECORD).traces
    assert len(trace.losses) == 4


def test_the_main_thread_is_a_training_beside_its_threads(tmp_path: Path) -> None:
    program = "train(5, 3)\n" + "start((0, 100_000), (1, 100_000))"
    recorded(tmp_path / "1", program)
    run = read_run(tmp_path / "1", RECORD)
    assert [trace.losses.values[0] for trace in run.traces] == [6.0, 1.0, 2.0]
    (caveat,) = run.caveats
    assert isinstance(caveat, TrainingsInThreads)
    assert caveat.trainings[0] == (0, "")
