"""JAX: each way to differentiate is seen, and none of it changes a number."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import Outcome, check, clean_environment

SCRIPTS = Path(__file__).parent / "scripts"

pytestmark = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")


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



