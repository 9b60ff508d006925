"""Several ranks: losses of each, an early stop at the same iteration, and a report that names the rank that differs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Outcome, check, clean_environment
from tests.torch.test_trainers import alive

SCRIPTS = Path(__file__).parent / "scripts"
TORCHRUN = ("torchrun", "--nproc-per-node", "2")
STEPS = 3

pytestmark = pytest.mark.torch


def printed(text: str, rank: int) -> list[list[float]]:
    """The losses that a rank printed, one an iteration."""
    return [[float.fromhex(loss)] for loss in re.findall(rf"rank {rank} (\S+)$", text, re.M)]


def ranks(outcome: Outcome) -> list[list[int]]:
    """The numbers of the ranks of each run."""
    return [[rank["rank"] for rank in run["ranks"]] for run in outcome.report["runs"]]


def test_each_rank_has_its_losses_and_all_stop_at_the_same_iteration(workdir: Path) -> None:
    command = ("python", str(SCRIPTS / "spawned.py"))
    outcome = check("--steps", str(STEPS), "--", *command, cwd=workdir)
    assert (outcome.title, outcome.exit_code) == ("REPRODUCIBLE", 0), outcome.stdout + outcome.stderr
    assert outcome.report["stopped_early"] == STEPS
    assert ranks(outcome) == [[0, 1], [0, 1]]
    plain = subprocess.run(command, cwd=workdir, env=clean_environment(), capture_output=True, text=True, timeout=200, check=True)
    for rank in (0, 1):
        expected = printed(plain.stdout, rank)
        assert len(expected) == 8
        assert outcome.losses(rank=rank) == outcome.losses(run=2, rank=rank) == expected[:STEPS]
        assert printed(outcome.log(), rank) == expected[:STEPS]
    assert outcome.losses(rank=0) != outcome.losses(rank=1)
    assert alive(workdir) == []


def test_report_names_the_rank_that_differs(workdir: Path) -> None:
    outcome = check("--steps", str(STEPS), "--", *TORCHRUN, SCRIPTS / "ranks.py", "fault", cwd=workdir)
    assert (outcome.title, outcome.exit_code) == ("NOT REPRODUCIBLE (forward)", 1), outcome.stdout + outcome.stderr
    forward = {row["rank"]: row["passed"] for row in outcome.report["checks"] if row["kind"] == "forward"}
    assert forward == {0: True, 1: False}
    assert "in iteration 1, rank 1, run 2 has loss" in outcome.report["reason"]
    assert "rank 1" in outcome.stdout
    assert outcome.losses(rank=0)[0] == outcome.losses(run=2, rank=0)[0]
    # DistributedDataParallel averages the gradients: from the second iteration on rank 0 is a victim.
    assert outcome.losses(rank=0)[1] != outcome.losses(run=2, rank=0)[1]
