"""The contracts on imports that keep raw values from what draws: each breaks where a module takes them."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]
RENDERERS = (
    "Renderers come to no raw argument, variable or log: these are read elsewhere, and redacted"
)
GATES = "What draws is called by what redacts, and by nothing else"
TARGETS = "A target with its values is known to what runs it, and to the one module that makes of it what may be shown"  # fmt: skip
NIGHTLY = "The nightly stands on report.json, recorded series and `suite.surface`; beside it are data, options, utilities and what draws"  # fmt: skip
MASKS = "One place masks"
LEAKS = {
    "report/command.py": ("from reprocheck.launch import environment", RENDERERS),
    "report/variables.py": ("import os", RENDERERS),
    "bundle/log.py": ("from reprocheck.files.limits import open_regular", RENDERERS),
    "resume/report/recorded.py": ("from reprocheck.recording import record", RENDERERS),
    "suite/pages/words_of.py": ("from reprocheck.suite.target import Target", RENDERERS),
    "suite/pages/table.py": ("from reprocheck.suite.targets import load", RENDERERS),
    "suite/execution/traces.py": ("from reprocheck.trace import read_run", NIGHTLY),
    "suite/changes/ladders.py": ("from reprocheck.workflow import replay", NIGHTLY),
    "suite/history/drawn.py": ("from reprocheck.report import markdown", NIGHTLY),
    "cli/pasted.py": ("from reprocheck.report import markdown", GATES),
    "cli/suite/pasted.py": ("from reprocheck.suite.pages import notices", GATES),
    "cli/suite/typed.py": ("from reprocheck.suite.target import Target", TARGETS),
    "workflow/names.py": (
        "from reprocheck.child.reprocheck_child.shared.masking import mask",
        MASKS,
    ),
}
"""A module that is not there -> what it would import, and the contract that forbids it."""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What is said of the package with these modules in it."""
    copy = tmp_path_factory.mktemp("leaking")
    shutil.copytree(
        ROOT / "reprocheck", copy / "reprocheck", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "pyproject.toml", copy)
    for name, (line, _) in LEAKS.items():
        (copy / "reprocheck" / name).write_text(f"{line}\n")
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=copy,
        env={"PYTHONPATH": str(copy), "COLUMNS": "300"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", LEAKS)
def test_a_module_that_takes_raw_values_breaks_its_contract(name: str, said: str) -> None:
    contract = LEAKS[name][1]
    module = "reprocheck." + name.removesuffix(".py").replace("/", ".")
    about = said[said.index(f"\n{contract}\n---") + 1 :]
    others = (about.find(f"\n{one['name']}\n---") for one in CONTRACTS)
    about = about[: min((place for place in others if place > 0), default=None)]
    assert re.search(rf"{re.escape(module)}\b", about), about[:3000]


def test_what_draws_takes_no_raw_value_for_its_types_either() -> None:
    contract = next(one for one in CONTRACTS if one["name"] == RENDERERS)
    forbidden = tuple(one for one in contract["forbidden_modules"] if "." in one)
    taken = []
    for source in contract["source_modules"]:
        path = ROOT / source.replace(".", "/")
        for file in path.rglob("*.py") if path.is_dir() else [path.with_suffix(".py")]:
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(forbidden):
                    taken.append((file.name, node.module))
    assert taken == [("links.py", "reprocheck.suite.targets.selection")]
