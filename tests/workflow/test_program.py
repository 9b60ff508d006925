"""The script is what runs as `__main__` in the process that trains, however it was started: lines,
hints and scan begin there.
"""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from reprocheck.workflow import replay
from tests.conftest import check

TRAIN = """\
import reprocheck

from shop import data


def main():
    for step in range(4):
        reprocheck.log_loss(10 * data.draw())


if __name__ == "__main__":
    main()
"""
DATA = """\
from .generators import rng


def draw():
    return rng.random()
"""
GENERATORS = """\
import random

rng = random.Random()
"""
LINE = {"file": "lib/shop/generators.py", "line": 3}
PYTHON = sys.executable


@pytest.fixture
def project(workdir: Path) -> Path:
    """A package whose generator nobody seeds, two imports away from the script; the package lies in
    a folder of its own.
    """
    package = workdir / "lib" / "shop"
    package.mkdir(parents=True)
    files = {"__init__.py": "", "train.py": TRAIN, "data.py": DATA, "generators.py": GENERATORS}
    for name, text in files.items():
        (package / name).write_text(text)
    (workdir / "train.sh").write_text(f"set -e\ncd lib\n{PYTHON} -m shop.train\n")
    (workdir / "Makefile").write_text(f"train:\n\tcd lib && {PYTHON} -m shop.train\n")
    (workdir / "launch.py").write_text(
        'import runpy\nrunpy.run_module("shop.train", run_name="__main__", alter_sys=True)\n'
    )
    return workdir


COMMANDS = [
    ("-m", "shop.train"),
    ("--", "bash", "train.sh"),
    ("--", "make", "-s", "train"),
    ("launch.py",),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_line_is_found_however_the_script_is_started(
    command: tuple[str, ...], project: Path
) -> None:
    outcome = check(
        "--explain",
        *command,
        cwd=project,
        own_process="-m" in command,  # the module is looked for where PYTHONPATH has it
        PYTHONPATH=str(project / "lib"),
    )
    assert outcome.title == "NOT REPRODUCIBLE (forward)", outcome.stderr
    assert outcome.folder is not None
    assert [trace.process.program for trace in replay.judged(outcome.folder).runs[0].traces] == [
        "lib/shop/train.py"
    ]
    assert outcome.report["causes"][0]["source"] == LINE
    assert [
        (found["code"], found["source"]["line"]) for found in outcome.report["scan"]["findings"]
    ] == [("RC407", 3)]


def test_a_command_that_calls_the_code_in_its_own_process_is_not_the_script(
    project: Path, tmp_path: Path
) -> None:
    """A console script of an installed package lies in no folder of the user's; here it is put
    where libraries lie.
    """
    command = tmp_path / "site-packages" / "shop-train"
    command.parent.mkdir()
    command.write_text(f"#!{PYTHON}\nfrom shop.train import main\nmain()\n")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    outcome = check("--explain", "--", command, cwd=project, PYTHONPATH=str(project / "lib"))
    assert outcome.folder is not None
    assert [trace.process.program for trace in replay.judged(outcome.folder).runs[0].traces] == [
        "lib/shop/train.py"
    ]
    assert outcome.report["causes"][0]["source"] == LINE


def test_a_script_above_the_working_directory_has_a_plain_path(project: Path) -> None:
    here = project / "runs"
    here.mkdir()
    outcome = check("--explain", "../lib/shop/train.py", cwd=here, PYTHONPATH=str(project / "lib"))
    assert outcome.report["causes"][0]["source"]["file"] == f"{project}/lib/shop/generators.py"
    assert outcome.folder is not None
    assert "/../" not in (outcome.folder / "sources.json").read_text()
