"""What the environment says of ranks, and what a rank leaves for the others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reprocheck.child.reprocheck_child.process import origin
from reprocheck.child.reprocheck_child.recorder import early_stop
from reprocheck.launch.run.variables import added_variables


@pytest.mark.parametrize(
    ("environment", "world"),
    [
        ({}, (None, 1)),
        ({"RANK": "1", "WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"}, (1, 4)),
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "3", "PMIX_RANK": "2"}, (2, 3)),
        ({"PMI_RANK": "2", "PMI_SIZE": "3"}, (2, 3)),
        ({"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "8", "SLURM_NTASKS": "8"}, (5, 8)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, (None, 1)),
        ({"RANK": "zero", "WORLD_SIZE": ""}, (None, 1)),
    ],
)
def test_the_rank_by_the_variables_of_launchers(
    environment: dict[str, str], world: tuple[int | None, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in {name for pair in origin.VARIABLES for name in pair} - environment.keys():
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert origin.world() == world


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ({}, False),
        ({"NODE_RANK": "1"}, True),
        ({"RANK": "0", "WORLD_SIZE": "2"}, True),
        ({"RANK": "0", "WORLD_SIZE": "1"}, False),
    ],
)
def test_a_port_that_other_machines_know_is_left_alone(
    more: dict[str, str], kept: bool, tmp_path: Path
) -> None:
    user = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500", **more}
    assert ("MASTER_PORT" not in added_variables(user, trace=tmp_path, tmpdir=tmp_path)) is kept


def test_a_rank_waits_for_those_that_train_and_not_for_the_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[float] = []
    monkeypatch.setattr(early_stop, "_exit", lambda status: left.append(time.monotonic()))
    monkeypatch.setattr(early_stop, "_ELSEWHERE", 0.0)
    monkeypatch.delenv("LOCAL_WORLD_SIZE", raising=False)
    dead = subprocess.Popen([sys.executable, "-S", "-c", "pass"])
    time.sleep(0.2)  # it has ended, and nobody has asked about it
    (tmp_path / f"training-1-{dead.pid}").touch()
    (tmp_path / f"training-2-{os.getpid()}").touch()
    started = time.monotonic()
    early_stop.leave(str(tmp_path), (0, 3), 0.3)
    assert left.pop() - started >= 0.3, "rank 2 is alive, and has not come"
    (tmp_path / "stopped-2").touch()
    started = time.monotonic()
    early_stop.leave(str(tmp_path), (0, 3), 60)
    assert left.pop() - started < 5
    dead.wait()
