"""A whole check of a script that another Python runs: reprocheck is not installed there."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.child.recording import interpreters
from tests.conftest import CHILD, check

OLDEST_AND_NEWEST = sorted({*interpreters()[:1], *interpreters()[-1:]})
UNSEEDED = """\
import random
import reprocheck

source = random.Random()
for step in range(12):
    reprocheck.log_loss(source.gauss(0, 100))
"""
IMPORTS = """\
import importlib, json, pkgutil, warnings
import reprocheck_child
missing = {}
for module in pkgutil.walk_packages(reprocheck_child.__path__, "reprocheck_child."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        missing[module.name] = error.name.partition(".")[0]
print(json.dumps(missing))
"""


@pytest.mark.parametrize("python", OLDEST_AND_NEWEST, ids=lambda path: Path(path).resolve().name)
def test_a_check_says_why_the_runs_of_another_python_differ(python: str, workdir: Path) -> None:
    (workdir / "train.py").write_text(UNSEEDED)
    outcome = check("--python", python, "train.py", cwd=workdir, explain=True)
    assert outcome.title == "NOT REPRODUCIBLE (forward)", outcome.stdout + outcome.stderr
    wanted = Path(python).resolve().name.removeprefix("python")
    facts = outcome.report["environment"]["facts"]
    assert facts["python.version"].startswith(f"{wanted}."), facts
    (first, *_) = outcome.report["causes"]
    assert (first["code"], first["source"]["line"]) == ("RC601", 4)
    assert not [line for line in outcome.report["coverage"] if "Error" in line]


@pytest.mark.parametrize("python", OLDEST_AND_NEWEST, ids=lambda path: Path(path).resolve().name)
def test_each_python_imports_the_whole_recorder(python: str) -> None:
    environment = {"PYTHONPATH": str(CHILD)}
    words = [python, "-S", "-W", "error", "-c", IMPORTS]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    missing = json.loads(done.stdout)
    assert set(missing.values()) <= {"IPython", "mindspore"}, missing
