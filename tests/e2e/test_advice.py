"""Advice after a failure fits what happened: each piece of it is followed, and the check then
passes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import clean_environment

TRAINS = "import reprocheck\nfor step in range(5): reprocheck.log_loss(1.0)\n"
ASKS = "if input('go on? ') != 'yes': raise SystemExit(9)\n" + TRAINS
TAKES_RATE = (
    "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--rate')\nparser.parse_args()\n"
    + TRAINS
)


def run(command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command line, typed into a shell."""
    return subprocess.run(
        ["bash", "-c", command],
        cwd=cwd,
        env=clean_environment(**environment),
        capture_output=True,
        text=True,
        timeout=120,
    )


def advised(cwd: Path, arguments: str, **environment: str) -> tuple[str, str]:
    """The reason and the command that a failed check ends with."""
    done = run(
        f"{sys.executable} -I -m reprocheck run --no-draw --no-explain {arguments}",
        cwd,
        **environment,
    )
    assert done.returncode == 4, done.stderr
    *_, last = done.stdout.rstrip().splitlines()
    _, _, why = done.stdout.partition("\n  next")
    return " ".join(why[: why.index(last)].split()), last.strip()


def assert_it_helps(command: str, cwd: Path, **environment: str) -> None:
    """The command line is followed to the letter."""
    done = run(command, cwd, **environment)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_script_that_reads_standard_input(workdir: Path) -> None:
    (workdir / "train.py").write_text(ASKS)
    why, command = advised(workdir, "train.py")
    assert "reads standard input" in why and "answers.txt" in why
    (workdir / "answers.txt").write_text("yes\n")
    assert_it_helps(command, workdir)


def test_a_module_that_the_active_environment_has(workdir: Path, tmp_path: Path) -> None:
    (workdir / "train.py").write_text("import only_there\n" + TRAINS)
    environment, modules = tmp_path / "environment", tmp_path / "modules"
    (environment / "bin").mkdir(parents=True)
    modules.mkdir()
    (modules / "only_there.py").write_text("")
    python = environment / "bin" / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{modules}" exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    why, command = advised(workdir, "train.py", VIRTUAL_ENV=str(environment))
    assert (
        "has no module only_there" in why
        and "The interpreter of the active environment has it" in why
    )
    assert f"--python {python}" in command
    assert_it_helps(command, workdir)
    why, command = advised(workdir, "train.py")
    assert "name the interpreter that has it" in why and "--python PATH/TO/python" in command


@pytest.mark.parametrize(
    ("folder", "package", "start", "script", "name"),
    [
        ("shop", False, ".", "shop/train.py", "-m shop.train"),
        ("shop/nets", False, ".", "shop/nets/train.py", "-m shop.nets.train"),
        ("src/shop", True, ".", "src/shop/train.py", "cd src && "),
        ("shop", True, "shop", "train.py", "cd .. && "),
    ],
)
def test_a_script_that_is_a_module_of_a_package(
    workdir: Path, folder: str, package: bool, start: str, script: str, name: str
) -> None:
    (workdir / folder).mkdir(parents=True)
    (workdir / folder / "util.py").write_text("RATE = 0.1\n")
    (workdir / folder / "train.py").write_text("from .util import RATE\n" + TRAINS)
    if package:
        (workdir / folder / "__init__.py").write_text("")
    why, command = advised(workdir / start, script)
    assert "relative imports" in why and name in command
    assert_it_helps(command, workdir / start)


def test_options_of_reprocheck_behind_the_script(workdir: Path) -> None:
    (workdir / "train.py").write_text(TAKES_RATE)
    why, command = advised(workdir, "train.py --rate 1 --runs 3 --steps=4")
    assert why.startswith(
        "`--runs 3 --steps=4` is an option of reprocheck: write it before train.py"
    )
    assert command.endswith("train.py --rate 1") and "--runs 3" in command
    assert_it_helps(command, workdir)


def test_an_option_of_the_script_itself_is_left_to_it(workdir: Path) -> None:
    (workdir / "train.py").write_text(TAKES_RATE.replace("'--rate'", "'--steps', type=int"))
    why, _ = advised(workdir, "train.py --steps many")
    assert "an option of reprocheck" not in why


def test_a_wrong_pythonhome(workdir: Path) -> None:
    (workdir / "train.py").write_text(TRAINS)
    why, command = advised(workdir, "train.py", PYTHONHOME="/nonexistent")
    assert "PYTHONHOME is /nonexistent" in why
    assert_it_helps(command, workdir, PYTHONHOME="/nonexistent")


@pytest.mark.parametrize(
    ("script", "named"),
    [
        (
            "import os\nos.makedirs('out/exp1')\nopen('out/exp1/log.txt', 'w').close()\n",
            "failed on out/exp1, which run 1 had made",
        ),
        ("import os\nos.mkdir('exp')\n", "failed on exp, which run 1 had made"),
        (
            "import os\nif os.path.exists('done'): raise SystemExit('been here')\nopen('done', 'w').close()\n",
            "had left: done",
        ),
    ],
)
def test_a_run_that_fails_on_what_the_run_before_it_left(
    workdir: Path, script: str, named: str
) -> None:
    (workdir / "train.py").write_text(script + TRAINS)
    why, command = advised(workdir, "train.py")
    assert named in why and "its own copy of the folder" in why
    assert "--workdir copy" in command
    assert sorted(path.name for path in workdir.iterdir()) == ["reports", "train.py"], (
        "the leftover is out of the way"
    )
    assert_it_helps(command, workdir)
