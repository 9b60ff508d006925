"""The jobs of `examples/nightly`, run as their schedulers run them: Slurm's array and the job that
joins its tasks, the steps of GitHub, GitLab and Jenkins, the line of cron.
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
from tests.e2e.nightly_files import cron_line, github_steps, gitlab_script, jenkins_step

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
OF_THE_FIRST = "reprocheck suite run --retries 1 -o ../../reports/nightly.xml"


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


@pytest.fixture
def noted(tmp_path: Path) -> Path:
    """A project in which `reprocheck` notes its words and where it was started, and does nothing."""
    (tmp_path / "examples" / "nightly").mkdir(parents=True)
    program(tmp_path / ".ci/install", "true")
    note = 'echo "$PWD: reprocheck $*" >> "$NOTES"'
    program(tmp_path / ".venv/bin/reprocheck", note)
    (tmp_path / ".venv/bin/activate").write_text('PATH="$PWD/../../.venv/bin:$PATH"\n')
    return tmp_path


def runs(shell: str, script: str, folder: Path, **variables: str) -> None:
    """Runs a script with the words of a scheduler's shell; it must succeed."""
    environment = clean_environment(PYTHONPATH=str(ROOT), REPROCHECK_DRAW="false", **variables)
    done = subprocess.run(
        [*shell.split(), script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def with_programs(folder: Path) -> str:
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_the_tasks_of_an_array_are_one_night_once_they_are_merged(project: Path) -> None:
    path = with_programs(project / "slurm")
    for task in range(1, TASKS + 1):
        variables = {
            "SLURM_ARRAY_JOB_ID": "77",
            "SLURM_ARRAY_TASK_ID": str(task),
            "SLURM_ARRAY_TASK_COUNT": str(TASKS),
        }
        runs("bash", "examples/nightly/nightly.sbatch", project, PATH=path, **variables)
    runs("bash", "examples/nightly/merge.sbatch", project, PATH=path)
    suite = load(project / "examples" / "nightly")
    with open_history(suite.history) as history:
        (night,) = history.nights()
        final = history.final(night.id)
    assert sorted(check.target for check in final) == ["first", "second"]
    assert all(check.good for check in final)
    assert all((suite.folder / check.folder / "report.json").is_file() for check in final)
    assert (night.shard, sorted(night.selected)) == ("", ["first", "second"])


def test_the_steps_of_github_check_and_write_the_summary(project: Path) -> None:
    summary = project / "summary.md"
    nightly = project / "examples" / "nightly"
    path = with_programs(project / ".venv/bin")
    for name in ("Check all targets", "What changed"):
        step = github_steps()[name]
        runs("bash -e -o pipefail -c", step, nightly, PATH=path, GITHUB_STEP_SUMMARY=str(summary))
    assert "of 2 targets" in summary.read_text()
    assert "<testsuite" in (project / "reports" / "nightly.xml").read_text()


@pytest.mark.parametrize("script", [gitlab_script, jenkins_step], ids=["gitlab", "jenkins"])
def test_a_pipeline_checks_all_targets_in_their_folder(script, noted: Path) -> None:
    notes = noted / "notes"
    runs("sh -e -c", script(), noted, NOTES=str(notes))
    assert notes.read_text() == f"{noted / 'examples' / 'nightly'}: {OF_THE_FIRST}\n"


def test_the_line_of_cron_checks_all_targets_in_their_folder(noted: Path) -> None:
    _, what = cron_line()
    notes = noted / "notes"
    runs("sh -c", what.replace("/srv/training", str(noted)), Path("/"), NOTES=str(notes))
    words = "reprocheck suite run --quiet --retries 1"
    assert notes.read_text() == f"{noted / 'examples' / 'nightly'}: {words}\n"
