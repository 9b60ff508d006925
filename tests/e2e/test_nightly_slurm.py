"""The scripts of `examples/nightly` for Slurm, run as Slurm runs them: each task of the array alone,
then the job that joins what they recorded.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reprocheck.suite.history import open_history
from reprocheck.suite.targets import load
from tests.conftest import ROOT, clean_environment

TASKS = 2
TRAINING = """
import reprocheck
for step in range(3):
    reprocheck.log_loss(1 / (step + 1))
"""
SUITE = """
[suite]
folder = "../../reports/nightly"

[[target]]
name = "first"
run = "train.py"
folder = "a"

[[target]]
name = "second"
run = "train.py"
folder = "b"
"""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the scripts, a suite of two trainings, and stand-ins for Slurm's programs."""
    top = tmp_path_factory.mktemp("project")
    nightly = top / "examples" / "nightly"
    for folder in ("a", "b"):
        (nightly / folder).mkdir(parents=True)
        (nightly / folder / "train.py").write_text(TRAINING)
    (nightly / "reprocheck.toml").write_text(SUITE)
    for name in ("nightly.sbatch", "merge.sbatch"):
        shutil.copy(ROOT / "examples" / "nightly" / name, nightly)
    program(top / ".venv/bin/reprocheck", f'exec {sys.executable} -m reprocheck "$@"')
    program(top / "slurm/srun", 'exec "$@"')
    return top


def sbatch(project: Path, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What Slurm does: the script in the folder of its submission, with variables of the task."""
    path = f"{project / 'slurm'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", f"examples/nightly/{script}"],
        cwd=project,
        env=clean_environment(
            PATH=path, PYTHONPATH=str(ROOT), REPROCHECK_DRAW="false", **variables
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_the_tasks_of_an_array_are_one_night_once_they_are_merged(project: Path) -> None:
    for task in range(1, TASKS + 1):
        variables = {
            "SLURM_ARRAY_JOB_ID": "77",
            "SLURM_ARRAY_TASK_ID": str(task),
            "SLURM_ARRAY_TASK_COUNT": str(TASKS),
        }
        sbatch(project, "nightly.sbatch", **variables)
    sbatch(project, "merge.sbatch")
    suite = load(project / "examples" / "nightly")
    with open_history(suite.history) as history:
        (night,) = history.nights()
        final = history.final(night.id)
    assert sorted(check.target for check in final) == ["first", "second"]
    assert all(check.good for check in final)
    assert all((suite.folder / check.folder / "report.json").is_file() for check in final)
    assert (night.shard, sorted(night.selected)) == ("", ["first", "second"])
