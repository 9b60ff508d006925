"""Each way to train in PyTorch is recorded as the script itself names its losses: the same iterations, the same lists, every bit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Outcome, check, clean_environment

SCRIPT = Path(__file__).parent / "scripts" / "shapes.py"
FORWARD_LOSSES = {"accumulation": 4, "several_roots": 2, "threads": 2, "skipped_step": 2}
SHAPES = [line.split("(")[0][4:] for line in SCRIPT.read_text().splitlines() if line.startswith("def ")]
SHAPES = [shape for shape in SHAPES if shape not in ("data", "say")]

pytestmark = pytest.mark.torch


def printed(text: str) -> list[list[float]]:
    """The losses that the script printed, iteration by iteration."""
    return [[float.fromhex(word) for word in line.split()[1:]] for line in text.splitlines() if line.startswith("losses")]


@pytest.mark.parametrize("shape", SHAPES)
def test_recorded_losses_are_those_of_the_plain_run_bit_for_bit(shape: str, workdir: Path) -> None:
    outcome = check("--steps", "all", SCRIPT, shape, cwd=workdir)
    assert (outcome.title, outcome.exit_code) == ("REPRODUCIBLE", 0), outcome.stdout + outcome.stderr
    plain = subprocess.run(
        [sys.executable, SCRIPT, shape], cwd=workdir, env=clean_environment(), capture_output=True, text=True, check=True, timeout=200
    )
    expected = printed(plain.stdout)
    assert len(expected) >= 3
    assert outcome.losses() == expected
    assert printed(outcome.log()) == expected
    assert not [line for line in outcome.report["coverage"] if "hook" in line or "reading" in line], outcome.report["coverage"]
    assert count_forward(outcome) == FORWARD_LOSSES.get(shape, 1)


def count_forward(outcome: Outcome) -> int:
    """How many losses the forward check took."""
    import reprocheck

    assert outcome.folder is not None
    forward = reprocheck.load(outcome.folder).runs[0].traces[0].forward
    assert forward is not None
    return forward.end - forward.start


def test_early_stop_leaves_the_recorded_iterations_equal(workdir: Path) -> None:
    outcome = check("--steps", "2", SCRIPT, "accumulation", cwd=workdir)
    assert outcome.report["stopped_early"] == 2
    assert len(outcome.losses()) == 2
    assert len(printed(outcome.log())) == 2
