"""Training through Lightning, Hugging Face Trainer and Accelerate: iterations, and an early stop that leaves no process behind."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from tests.conftest import Outcome, check

SCRIPT = Path(__file__).parent / "scripts" / "trainers.py"
TRAINERS = ("lightning", "transformers", "accelerate")
UPDATES, LOSSES, WORKERS = 8, 2, 2

pytestmark = pytest.mark.torch


def alive(workdir: Path) -> list[str]:
    """Processes that work in `workdir`."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()) == workdir:
                found.append(f"{process.pid} {process.status()} {process.cmdline()}")
        except psutil.Error:
            continue
    return found


def check_trainer(trainer: str, steps: str, workdir: Path) -> Outcome:
    """A check whose loader workers say their process numbers; none of them is there afterwards."""
    workers = workdir.parent / "workers"
    workers.mkdir()
    outcome = check("--steps", steps, SCRIPT, trainer, cwd=workdir, WORKERS=str(workers))
    assert (outcome.title, outcome.exit_code) == ("REPRODUCIBLE", 0), outcome.stdout + outcome.stderr
    assert outcome.report["bitwise"]["equal"] is True
    assert len(list(workers.iterdir())) == 2 * WORKERS  # of two runs
    assert alive(workdir) == []
    return outcome


@pytest.mark.parametrize("trainer", TRAINERS)
def test_early_stop_with_workers_alive(trainer: str, workdir: Path) -> None:
    outcome = check_trainer(trainer, "3", workdir)
    assert [len(losses) for losses in outcome.losses()] == [LOSSES] * 3
    assert outcome.report["stopped_early"] == 3
    assert [run["exit_status"] for run in outcome.report["runs"]] == [0, 0]
    backward = {row["iteration"] for row in outcome.report["checks"] if row["kind"] == "backward"}
    # With a warm-up, the learning rate of the first update is 0.
    moved = "The first 1 update(s) did not change the weights (rank 0), so the second check is made on iteration 3 instead of iteration 2."
    assert backward == {3 if trainer == "transformers" else 2}
    assert (moved in outcome.report["caveats"]) is (trainer == "transformers"), outcome.report["caveats"]


@pytest.mark.parametrize("trainer", TRAINERS)
def test_an_iteration_is_an_update(trainer: str, workdir: Path) -> None:
    outcome = check_trainer(trainer, "all", workdir)
    assert [len(losses) for losses in outcome.losses()] == [LOSSES] * UPDATES
    assert outcome.report["stopped_early"] is None


def test_trainer_through_a_launcher_of_its_library(workdir: Path) -> None:
    command = ["accelerate", "launch", "--cpu", "--num_processes", "1", "--num_machines", "1", "--mixed_precision", "no"]
    (workdir.parent / "workers").mkdir()
    outcome = check(
        "--steps", "3", "--", *command, "--dynamo_backend", "no", SCRIPT, "accelerate", cwd=workdir, WORKERS=str(workdir.parent / "workers")
    )
    assert (outcome.title, outcome.exit_code) == ("REPRODUCIBLE", 0), outcome.stdout + outcome.stderr
    assert [len(losses) for losses in outcome.losses()] == [LOSSES] * 3
    assert alive(workdir) == []
