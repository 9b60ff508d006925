"""Trainings in processes without ranks: which is which does not depend on which was faster, and
they stop together.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck import launch
from reprocheck.model import Check
from reprocheck.settings import Settings
from reprocheck.wording import told
from reprocheck.workflow import replay

SCRIPT = Path(__file__).parent / "scripts" / "unranked.py"
SEEDS = [1.0, 2.0, 3.0, 4.0]


def check(
    workdir: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str, command: tuple[str, ...] = ()
) -> Check:
    monkeypatch.chdir(workdir)
    entry = (
        launch.entry_point(command=command)
        if command
        else launch.entry_point(script=str(SCRIPT), args=arguments)
    )
    folder = launch.prepare(workdir / "reports", entry.name)
    launch.check(entry, replace(Settings(), timeout=60), folder, launch.Quiet())
    return told(replay.judged(folder))


def first_losses(made: Check) -> list[list[float]]:
    return [[trace.losses.values[0] for trace in run.traces] for run in made.runs]


@pytest.mark.parametrize("how", ["forks", "fork", "spawn", "forkserver"])
def test_each_process_is_compared_with_that_of_the_same_number(
    how: str, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = check(workdir, monkeypatch, how)
    assert first_losses(made) == [SEEDS, SEEDS], "in the order of their starts in the parent"
    assert made.verdict.verdict == "reproducible" and made.verdict.bitwise.equal
    assert not any("compared as a set" in caveat for caveat in made.caveats)


@pytest.mark.parametrize("how", ["pool", "executor"])
def test_each_task_of_a_pool_is_compared_with_the_same_task_and_the_pool_comes_to_its_end(
    how: str, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = check(workdir, monkeypatch, how)
    assert [run.record.ended for run in made.runs] == ["completed", "completed"]
    assert first_losses(made) == [SEEDS, SEEDS], (
        "in the order of the tasks, whichever worker had them"
    )
    assert [[len(trace.losses) for trace in run.traces] for run in made.runs] == [[10] * 4] * 2
    assert made.verdict.verdict == "reproducible" and made.verdict.bitwise.equal


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_two_executors_of_a_process_number_their_tasks_alike_and_are_told_apart(
    method: str, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = check(workdir, monkeypatch, f"executors-{method}", "differs")
    first = [1.0, 3.0, 2.0, 4.0]  # the first tasks of both, then the second
    assert first_losses(made) == [first, first]
    assert {row.rank for row in made.verdict.comparisons if row.passed is False} == {1}, (
        "that of seed 3"
    )
    assert not any("compared as a set" in caveat for caveat in made.caveats)


def test_a_process_that_differs_is_found_among_those_that_do_not(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = check(workdir, monkeypatch, "fork", "differs")
    assert made.verdict.title == "NOT REPRODUCIBLE (backward)"
    assert {row.rank for row in made.verdict.comparisons if row.passed is False} == {2}


def test_processes_that_nothing_tells_apart_are_compared_as_a_set(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "import os, reprocheck\nfor i in range(4):\n    reprocheck.log_loss(float(os.environ['FOLD']) / (i + 1))\n"
    (workdir / "fold.py").write_text(source)
    command = (
        "bash",
        "-c",
        f"for fold in 1 2 3; do FOLD=$fold {sys.executable} fold.py & done; wait",
    )
    made = check(workdir, monkeypatch, command=command)
    assert made.verdict.verdict == "reproducible" and first_losses(made)[0] == first_losses(made)[1]
    assert [caveat for caveat in made.caveats if "compared as a set" in caveat] == [
        "Which training of one run is which of another is not known of ranks 0–2: their losses were compared as a set, each training with "
        "one of run 1 that has the same losses, as far as there was one."
    ]


def test_processes_that_share_weights_go_on_until_the_last_of_them_has_come_to_its_stop(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = check(workdir, monkeypatch, "fork", "shares")
    assert made.verdict.verdict == "not_reproducible"
    for run in made.runs:
        assert [len(trace.losses) for trace in run.traces] == [10] * 4
        assert max(one.began or 0.0 for one in run.processes) < min(
            one.left or 0.0 for one in run.processes if one.left
        )


def test_a_process_that_waits_for_another_beyond_its_stop_is_seen(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = check(workdir, monkeypatch, "fork", "waits")
    assert made.verdict.verdict == "reproducible" and first_losses(made) == [SEEDS, SEEDS]
    assert [[len(trace.losses) for trace in run.traces] for run in made.runs] == [[10] * 4] * 2
