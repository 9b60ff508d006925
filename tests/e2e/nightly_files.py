"""The files of `examples/nightly`, and what each of them gives to a shell."""

from __future__ import annotations

import re
from typing import Any

from tests.conftest import ROOT
from tests.linters import read_yaml

NIGHTLY = ROOT / "examples" / "nightly"
README = NIGHTLY / "README.md"
WORKFLOW = NIGHTLY / "github-actions.yml"
GITLAB = NIGHTLY / "gitlab-ci.yml"
JENKINS = NIGHTLY / "Jenkinsfile"
CRON = NIGHTLY / "crontab"
UNITS = (NIGHTLY / "reprocheck-nightly.service", NIGHTLY / "reprocheck-nightly.timer")
SLURM = tuple(
    NIGHTLY / name for name in ("nightly.sbatch", "merge.sbatch", "targets.sh", "target.sbatch")
)


def github_actions() -> list[dict[str, Any]]:
    """The steps of the workflow."""
    return read_yaml(WORKFLOW)["jobs"]["nightly"]["steps"]


def github_steps() -> dict[str, str]:
    """The shell steps of the workflow, expressions of GitHub as plain words."""
    return {
        step["name"]: re.sub(r"\$\{\{.*?\}\}", "X", step["run"])
        for step in github_actions()
        if "run" in step
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


def systemd_commands() -> str:
    """What the service runs, one after the other."""
    commands = re.findall(r"^ExecStart(?:Pre)?=(.*)$", UNITS[0].read_text(), re.MULTILINE)
    (folder,) = re.findall(r"^WorkingDirectory=(.*)$", UNITS[0].read_text(), re.MULTILINE)
    return "\n".join([f"cd {folder}", *commands])


def readme_blocks() -> list[str]:
    """The shell blocks of the README: how to begin, and how to accept."""
    return re.findall(r"```sh\n(.*?)```", README.read_text(), re.DOTALL)
