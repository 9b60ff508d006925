"""The files of `examples/nightly`, and what each of them gives to a shell."""

from __future__ import annotations

import re

from tests.conftest import ROOT
from tests.linters import read_yaml

NIGHTLY = ROOT / "examples" / "nightly"
WORKFLOW = NIGHTLY / "github-actions.yml"
GITLAB = NIGHTLY / "gitlab-ci.yml"
JENKINS = NIGHTLY / "Jenkinsfile"
CRON = NIGHTLY / "crontab"
SLURM = (NIGHTLY / "nightly.sbatch", NIGHTLY / "merge.sbatch")


def github_steps() -> dict[str, str]:
    """The shell steps of the workflow, expressions of GitHub as plain words."""
    steps = read_yaml(WORKFLOW)["jobs"]["nightly"]["steps"]
    return {
        step["name"]: re.sub(r"\$\{\{.*?\}\}", "X", step["run"]) for step in steps if "run" in step
    }


def gitlab_script() -> str:
    return "\n".join(read_yaml(GITLAB)["nightly"]["script"])


def jenkins_step() -> str:
    (step,) = re.findall(r"\bsh '''(.*?)'''", JENKINS.read_text(), re.DOTALL)
    return step


def cron_line() -> tuple[str, str]:
    """When, and what."""
    lines = [line for line in CRON.read_text().splitlines() if re.match(r"[\d*]", line)]
    (line,) = lines
    *when, what = line.split(maxsplit=5)
    return " ".join(when), what
