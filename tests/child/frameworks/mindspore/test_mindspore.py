"""Every way to train in MindSpore is recorded as the plain run computes it, in graph and PyNative
mode, and nothing else is.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CHILD, clean_environment, mindspore_python
from tests.e2e.pairs import explained

SCRIPTS = Path(__file__).parent / "scripts"
HOOKS = {"model", "optimizers", "gradients", "cells", "functions", "captures"}
DTYPES = {"float16": "float16", "bfloat16": "bfloat16"}

pytestmark = [pytest.mark.mindspore, pytest.mark.xdist_group("mindspore")]


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What a recorded run printed, and its events."""

    stdout: str
    events: list[dict[str, Any]]

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        """Events of these kinds, in order."""
        return [event for event in self.events if event["e"] in kinds]


def recorded(folder: Path, script: Path, *arguments: str, steps: int | None = None) -> Recorded:
    """Run a script with the recorder alone, without the command line."""
    trace = folder / "trace"
    trace.mkdir()
    (trace / "recorder.json").write_text(
        json.dumps({"steps": steps, "level": "loss", "workdir": str(folder), "stop_wait": 20})
    )
    stdout = _run(folder, script, *arguments, REPROCHECK_CHILD=str(trace), PYTHONPATH=str(CHILD))
    (file,) = trace.glob("*.jsonl")
    return Recorded(
        stdout=stdout, events=[json.loads(line) for line in file.read_text().splitlines()]
    )


def _run(folder: Path, script: Path, *arguments: str, **environment: str) -> str:
    command = [mindspore_python(), str(script), *arguments]
    environment = clean_environment(OMP_NUM_THREADS="1", **environment)
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def printed(stdout: str) -> list[tuple[str, float]]:
    """(way, loss) as the script printed them."""
    lines = [line.split() for line in stdout.splitlines() if line.startswith("loss ")]
    return [(words[1] if len(words) == 3 else "", float.fromhex(words[-1])) for words in lines]


@pytest.mark.parametrize("mode", ["pynative", "graph"])
def test_every_way_to_train_is_recorded_bit_for_bit(
    mode: str, every_way: Callable[[str], str], workdir: Path
) -> None:
    expected = every_way(mode)
    run = recorded(workdir, SCRIPTS / "every_way.py", mode)
    assert run.stdout == expected, (
        "the recorder changed the numbers, or what random generators draw"
    )

    losses = run.of("loss")
    assert [value for event in losses for value in event["v"]] == [
        loss for _, loss in printed(expected)
    ]
    assert [event["d"] for event in losses] == [
        DTYPES.get(way, "float32") for way, _ in printed(expected)
    ]
    assert [event.get("n", 1) for event in losses] == [
        8 if way == "no_scalar" else 1 for way, _ in printed(expected)
    ]
    assert {event["k"] for event in losses} == {"backward"}

    (framework,) = run.of("framework")
    assert framework["hooks"] == dict.fromkeys(HOOKS, "ok")
    codes = [event["code"] for event in run.of("note")]
    assert [code for code in codes if not code.startswith("modules ")] == ["data-sinking-off"]
    hidden = [event["code"] for event in run.of("caveat") if event["code"].startswith("mindspore")]
    assert hidden == (["mindspore-hidden-loss"] if mode == "graph" else [])
    assert not run.of("problem")


def test_each_update_closes_an_iteration_and_says_whether_weights_changed(workdir: Path) -> None:
    run = recorded(workdir, SCRIPTS / "every_way.py", "pynative", steps=9)
    updates = run.of("update")
    assert [event["c"] for event in updates[:4]] == [False, False, True, None], (
        "a learning rate of 0; then 0.05; then nobody looks"
    )
    assert (run.events[-1]["e"], run.events[-1]["i"]) == ("stop", 9)
    last = run.of("loss")[-1]["v"]
    assert last == [printed(run.stdout)[len(run.of("loss")) - 1][1]]


def test_evaluation_counts_for_nothing_and_updates_by_hand_do(workdir: Path) -> None:
    run = recorded(workdir, SCRIPTS / "corners.py")
    assert not run.of("problem")
    gradient, *by_hand, skipped, stepped = run.of("loss")
    assert (gradient["k"], gradient["n"]) == ("grad", 8), (
        "a gradient of inputs alone gives way to gradients of weights"
    )
    assert [event["v"] for event in by_hand] == [[loss] for _, loss in printed(run.stdout)]
    assert [event["e"] for event in run.of("still", "moved")] == ["still", "moved"]
    order = run.of("loss", "skip", "update")[-4:]
    assert order[0] == skipped
    assert order[2] == stepped
    assert [event["e"] for event in order] == ["loss", "skip", "loss", "update"]


def test_msrun_is_ended_once_both_ranks_have_stopped_and_the_rank_with_a_faulty_kernel_is_named(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(mindspore_python()).parent
    if not (folder / "msrun").exists():
        pytest.skip("this MindSpore has no msrun")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        "msrun",
        "--worker_num=2",
        "--local_worker_num=2",
        f"--master_port={port}",
        "--log_dir=logs",
        "--join=True",
    ]
    path = os.pathsep.join([str(folder), clean_environment()["PATH"]])
    made = explained(
        [*command, SCRIPTS / "two_ranks.py", "fault"], workdir, monkeypatch, steps=3, PATH=path
    )
    assert [[(trace.rank, len(trace.losses)) for trace in run.traces] for run in made.runs] == [
        [(0, 3), (1, 3)]
    ] * 2
    first = [trace.losses.values[0] for trace in made.runs[0].traces]
    assert first[0] != first[1], "each rank has its own samples"
    assert first == [trace.losses.values[0] for trace in made.runs[1].traces], (
        "the forward pass of the first iteration agrees"
    )
    for run in made.record.runs:
        assert run.exit_status in (0, -signal.SIGTERM), (
            "msrun ends by itself, or is ended where it takes too long"
        )
    for log in ("scheduler", "worker_0", "worker_1"):
        assert "Traceback" not in (workdir / "logs" / f"{log}.log").read_text(errors="replace")
    assert made.verdict.title == "NOT REPRODUCIBLE (backward)", made.verdict.reason
    assert made.ladder is not None and made.ladder.first_rung is not None
    rung = made.ladder.first_rung
    assert (rung.rung, rung.rank, rung.iteration) == ("gradient", 1, 1), made.ladder.sentence
    reduced = made.ladder.rung("reduced gradient")
    assert set(reduced.iterations) == {0, 1} and "of rank 1 comes before it" in reduced.detail
