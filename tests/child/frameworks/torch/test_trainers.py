"""Training through Lightning and Hugging Face Trainer: an early stop that leaves no process behind;
their callbacks.
"""

from __future__ import annotations

import json
from pathlib import Path

import psutil
import pytest

from tests.conftest import Outcome, check

SCRIPT = Path(__file__).parent / "scripts" / "trainers.py"
LOSSES, WORKERS = 2, 2

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


def said(outcome: Outcome, kind: str) -> list[float]:
    """The losses of a kind in run 1, in their order: those that the callback said, or those that a
    backward pass began at.
    """
    assert outcome.folder is not None
    (file,) = (
        path
        for path in (outcome.folder / "run-1" / "trace").glob("*.jsonl")
        if '"loss"' in path.read_text()
    )
    events = [json.loads(line) for line in file.read_text().rstrip("\0").splitlines()]
    return [
        value
        for event in events
        if event["e"] == "loss" and event["k"] == kind
        for value in event["v"]
    ]


@pytest.mark.parametrize(
    ("trainer", "callback"),
    [("lightning", "LightningCallback"), ("transformers", "TransformersCallback")],
)
def test_early_stop_with_workers_alive_and_what_the_callback_says(
    trainer: str, callback: str, workdir: Path
) -> None:
    workers = workdir.parent / "workers"
    workers.mkdir()
    outcome = check("--steps", "3", SCRIPT, trainer, callback, cwd=workdir, WORKERS=str(workers))
    assert (outcome.title, outcome.exit_code) == ("REPRODUCIBLE", 0), (
        outcome.stdout + outcome.stderr
    )
    assert outcome.report["bitwise"]["equal"] is True
    assert len(list(workers.iterdir())) == 2 * WORKERS  # of two runs
    assert alive(workdir) == []
    assert [len(losses) for losses in outcome.losses()] == [LOSSES] * 3
    assert outcome.report["stopped_early"] == 3
    assert [run["exit_status"] for run in outcome.report["runs"]] == [0, 0]
    backward = {row["iteration"] for row in outcome.report["checks"] if row["kind"] == "backward"}
    # With a warm-up, the learning rate of the first update is 0.
    moved = "The first update did not change the weights, so the second check is made on iteration 3 instead of iteration 2."
    assert backward == {3 if trainer == "transformers" else 2}
    assert (moved in outcome.report["caveats"]) is (trainer == "transformers"), outcome.report[
        "caveats"
    ]
    # transformers divides the model's loss by the accumulation after the model has returned it
    share = LOSSES if trainer == "transformers" else 1
    assert (
        said(outcome, "log")[: 3 * LOSSES]
        == [share * loss for loss in said(outcome, "backward")[: 3 * LOSSES]]
        != []
    )
