"""The files of `examples/nightly`, followed to the letter from an empty repository, as their
schedulers follow them: a good night, one with a regression, which is red, and one in which it is
accepted.

`pip`, `venv` and Slurm are stand-ins; git, the trainings and reprocheck are real.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT, clean_environment
from tests.e2e.nightly_files import (
    GITLAB,
    SLURM,
    cron_line,
    github_actions,
    github_steps,
    gitlab_script,
    jenkins_step,
    readme_blocks,
    systemd_commands,
)
from tests.linters import read_yaml

TRAINING = """
import numpy
import reprocheck

for step in range(3):
    reprocheck.log_loss(float(numpy.float64(1.0) / (step + 1)))
"""
REGRESSION = ("(step + 1)", "(step + 1.5)")
INSTALLED = "install reprocheck[suite] @ git+https://git.example.org/reprocheck\n"
IN_PLACE = "/srv/trainings"


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@dataclass(frozen=True)
class Machine:
    """Folders of a machine: stand-ins for programs, and a repository that others clone."""

    top: Path

    @property
    def programs(self) -> Path:
        return self.top / "programs"

    @property
    def origin(self) -> Path:
        return self.top / "origin.git"

    @property
    def mine(self) -> Path:
        return self.top / "mine"

    def runs(self, shell: str, script: str, folder: Path, **variables: str) -> int:
        """The exit code of a script with the words of a scheduler's shell."""
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        given = {"PATH": path, "PYTHONPATH": str(ROOT), "REPROCHECK_DRAW": "false", **variables}
        done = subprocess.run(
            [*shell.split(), script],
            cwd=folder,
            env=clean_environment(**given),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return done.returncode

    def good(self, script: str, folder: Path) -> None:
        assert self.runs("bash -e -c", script, folder) == 0

    def commit(self, *words: str) -> None:
        """Changes in `mine` as a commit that others see."""
        self.good(f"git commit -qam '{' '.join(words)}' && git push -q origin main", self.mine)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A machine on which somebody has followed the README in an empty repository, to the letter."""
    made = Machine(tmp_path_factory.mktemp("machine"))
    reprocheck = f'exec {sys.executable} -m reprocheck "$@"'
    pip = f'echo "$*" >> {made.top}/pip'
    venv = made.top / "venv"
    for folder in (made.programs, venv / "bin"):
        program(folder / "reprocheck", reprocheck)
        program(folder / "pip", pip)
    (venv / "bin/activate").write_text('PATH="$PWD/.venv/bin:$PATH"\n')
    program(made.programs / "python3", f'[ "$*" = "-m venv .venv" ] && cp -r {venv} .venv')
    program(made.programs / "srun", 'exec "$@"')
    stand_in = Path(__file__).with_name("sbatch.py")
    program(made.programs / "sbatch", f'exec {sys.executable} {stand_in} "$@"')
    made.good(
        f"git init -q --bare -b main {made.origin}; git clone -q {made.origin} mine", made.top
    )
    (made.mine / "train.py").write_text(TRAINING)
    made.good("git checkout -qb main; git add . && git commit -qm 'A training'", made.mine)
    begin, _ = readme_blocks()
    made.good(begin, made.mine)
    made.good("git push -q origin main", made.mine)
    assert (made.top / "pip").read_text() == INSTALLED
    return made


# ---------------------------------------------------------------------- CI systems: a fresh checkout


@dataclass(frozen=True)
class Pipeline:
    """A CI system.

    script     what its shell is given; a list of scripts with their shell, all of which are run
    kept       folders that its cache brings from night to night
    artifact   what people download
    """

    scripts: Callable[[], list[tuple[str, str]]]
    kept: Callable[[], str]
    artifact: Callable[[], str]


def _action(name: str) -> str:
    """The path that the workflow gives to an action."""
    (step,) = [one for one in github_actions() if name in one.get("uses", "")]
    return step["with"]["path"]


def _of_gitlab(*keys: str) -> str:
    (path,) = read_yaml(GITLAB)["nightly"][keys[0]]["paths"]
    return path.rstrip("/")


PIPELINES = {
    "GitHub": Pipeline(
        lambda: [("bash -e -o pipefail -c", step) for step in github_steps().values()],
        lambda: _action("cache/save"),
        lambda: _action("upload-artifact"),
    ),
    "GitLab": Pipeline(
        lambda: [("sh -e -c", gitlab_script())],
        lambda: _of_gitlab("cache"),
        lambda: _of_gitlab("artifacts"),
    ),
    "Jenkins": Pipeline(
        lambda: [("sh -xe -c", jenkins_step())], lambda: "nightly", lambda: "nightly"
    ),
}


def a_night(machine: Machine, pipeline: Pipeline, place: Path, number: int) -> tuple[int, Path]:
    """The exit code of a pipeline in a fresh checkout, and its artifact."""
    checkout, before = place / f"checkout-{number}", place / f"artifact-{number - 1}"
    machine.good(f"git clone -q {machine.origin} {checkout}", place)
    if before.is_dir():
        shutil.copytree(before, checkout / pipeline.kept())
    summary = str(place / "summary.md")
    codes = [
        machine.runs(shell, script, checkout, GITHUB_STEP_SUMMARY=summary)
        for shell, script in pipeline.scripts()
    ]
    assert "<testsuite" in (checkout / "nightly.xml").read_text()
    artifact = place / f"artifact-{number}"
    shutil.copytree(checkout / pipeline.artifact(), artifact)
    shutil.rmtree(checkout)
    return max(codes), artifact


def accepts(machine: Machine, command: str, folder: Path, artifact: Path | None, why: str) -> None:
    """Follows the README: the line of its last block for this system, and the commit."""
    _, block = readme_blocks()
    from_artifact, in_place, commit = block.strip().splitlines()
    line = from_artifact if command == "from" else in_place
    line = line.replace("ARTIFACT", str(artifact)).replace("the first night", why)
    machine.good(f"{line}\n{commit}\ngit push -q origin HEAD:main", folder)


@pytest.fixture(autouse=True)
def as_it_was(machine: Machine) -> None:
    """The training of the first night, without baselines."""
    (machine.mine / "train.py").write_text(TRAINING)
    machine.good(
        "git pull -q --ff-only origin main; git rm -q --ignore-unmatch baselines.json;"
        " git add . ; git commit -q --allow-empty -m 'As it was'; git push -q origin main",
        machine.mine,
    )


def regress(machine: Machine) -> None:
    (machine.mine / "train.py").write_text(TRAINING.replace(*REGRESSION))
    machine.commit("Tidy up")


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_is_red_for_a_regression_until_it_is_accepted(
    name: str, machine: Machine, tmp_path: Path
) -> None:
    pipeline = PIPELINES[name]
    code, artifact = a_night(machine, pipeline, tmp_path, 1)
    assert code == 0
    accepts(machine, "from", machine.mine, artifact, "the first night")
    regress(machine)
    code, artifact = a_night(machine, pipeline, tmp_path, 2)
    assert code == 1
    page = (artifact / "site" / "index.html").read_text()
    assert "drift" in page
    accepts(machine, "from", machine.mine, artifact, "it is meant")
    assert a_night(machine, pipeline, tmp_path, 3)[0] == 0


# ------------------------------------------------------- a folder that stays: cron, systemd and Slurm


def cron(machine: Machine, folder: Path) -> int:
    _, what = cron_line()
    return machine.runs("sh -c", what.replace(IN_PLACE, str(folder)), Path("/"))


def systemd(machine: Machine, folder: Path) -> int:
    commands = systemd_commands().replace(IN_PLACE, str(folder)).replace("/usr/bin/git", "git")
    return machine.runs("sh -e -c", commands, Path("/"))


def _slurm(machine: Machine, folder: Path, script: str) -> int:
    """The exit code of the last job, which joins the others."""
    for file in SLURM:
        shutil.copy(file, folder)
    machine.good("git pull -q --ff-only", folder)
    jobs = folder.parent / "jobs"
    machine.runs("bash -e -c", script, folder, SLURM_STAND_IN=str(jobs))
    return int(jobs.read_text().split()[-1])


def array(machine: Machine, folder: Path) -> int:
    (commands,) = re.findall(r"^#     (job=.*)\n#     (sbatch .*)$", SLURM[0].read_text(), re.M)
    return _slurm(machine, folder, "\n".join(commands))


def job_a_target(machine: Machine, folder: Path) -> int:
    return _slurm(machine, folder, "bash targets.sh")


@pytest.mark.parametrize("night", [cron, systemd, array, job_a_target])
def test_a_folder_that_stays_is_red_for_a_regression_until_it_is_accepted(
    night: Callable[[Machine, Path], int], machine: Machine, tmp_path: Path
) -> None:
    folder = tmp_path / "trainings"
    machine.good(f"git clone -q {machine.origin} {folder}", tmp_path)
    machine.good("python3 -m venv .venv", folder)
    assert night(machine, folder) == 0
    accepts(machine, "accept", folder, None, "the first night")
    machine.good("git pull -q --ff-only origin main", machine.mine)
    regress(machine)
    assert night(machine, folder) == 1
    accepts(machine, "accept", folder, None, "it is meant")
    assert night(machine, folder) == 0
