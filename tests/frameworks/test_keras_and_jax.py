"""TensorFlow, Keras on every backend, and JAX: each way to train is seen, and none of it changes a number."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import Outcome, check, clean_environment

SCRIPTS = Path(__file__).parent / "scripts"

pytestmark = pytest.mark.skipif(find_spec("tensorflow") is None or find_spec("jax") is None, reason="TensorFlow and JAX are not installed")


def plain(*command: str, cwd: Path) -> str:
    """What a script prints by itself."""
    done = subprocess.run([sys.executable, *command], cwd=cwd, env=clean_environment(), capture_output=True, text=True, check=True)
    return done.stdout


def kinds(outcome: Outcome) -> list[str]:
    """The events of run 1 that bear on iterations, in order: `loss` or `grad` and how many where there are several, and `update`."""
    import json

    found = []
    assert outcome.folder is not None
    for file in sorted((outcome.folder / "run-1" / "trace").glob("*.jsonl")):
        for line in file.read_text().splitlines():
            event = json.loads(line)
            if event["e"] == "loss":
                found.append({"backward": "loss"}.get(event["k"], event["k"]) + (str(len(event["v"])) if len(event["v"]) > 1 else ""))
            elif event["e"] == "update":
                found.append("update")
    return found


def test_every_way_to_train_with_keras_and_tensorflow(workdir: Path) -> None:
    script = str(SCRIPTS / "keras_forms.py")
    outcome = check("--steps", "all", script, cwd=workdir)
    assert outcome.title == "REPRODUCIBLE" and outcome.report["bitwise"]["equal"]
    assert outcome.log() == plain(script, cwd=workdir)
    pairs = ["loss", "update"]
    assert kinds(outcome) == [*pairs * 4, *pairs, *pairs * 2, *pairs * 2, *pairs * 2, *pairs * 2, "grad", "loss", "grad", "loss"]
    assert any("steps_per_execution" in line for line in outcome.report["changed_to_observe"])
    assert not [line for line in outcome.report["coverage"] if "Error" in line]


def test_every_way_to_differentiate_with_jax(workdir: Path) -> None:
    script = str(SCRIPTS / "jax_forms.py")
    outcome = check("--steps", "all", script, cwd=workdir)
    assert outcome.title == "REPRODUCIBLE" and outcome.report["bitwise"]["equal"]
    printed = plain(script, cwd=workdir)
    assert outcome.log() == printed
    assert kinds(outcome) == ["loss"] * 4 + ["loss4"] * 2 + ["loss4", "loss"]
    said = [float.fromhex(line.split()[1]) for line in printed.splitlines() if line.startswith("jit")]
    assert [losses[0] for losses in outcome.losses()[:2]] == said
    assert not outcome.report["caveats"]


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_keras_on_other_backends(backend: str, workdir: Path) -> None:
    script = str(SCRIPTS / "keras_backends.py")
    outcome = check("--steps", "all", script, backend, cwd=workdir)
    assert outcome.title == "REPRODUCIBLE" and outcome.report["bitwise"]["equal"]
    assert outcome.log() == plain(script, backend, cwd=workdir)
    assert kinds(outcome)[:6] == ["loss", "update"] * 3
    assert [len(losses) for losses in outcome.losses()] == [1] * 7
