"""Each public name says what it takes, what it returns, what it raises, and shows it by an example
that is right.
"""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import reprocheck
from reprocheck.child.reprocheck_child import callbacks, trainer_callbacks
from tests.conftest import ROOT, clean_environment, reprocheck_here as run_cli

CALLBACKS = callbacks.NAMES
NAMES = [name for name in reprocheck.__all__ if not name.startswith("__")]
SECTION = re.compile(r"^(\w+):$", re.MULTILINE)
ENTRY = re.compile(r"^    (\w+): (.*(?:\n      .*)*)", re.MULTILINE)
RUN = ("Seeded", "check", "load", "compare", "log", "log_loss", "seed_all")
"""Names whose examples are run here, in this order: `load` reads what `check` has recorded. What the others show is run where they are tested: `explain`
beside this file, callbacks in `tests/child/callbacks` and with their trainers.
"""
TRAINING = """\
import os, reprocheck
for step in range(4):
    reprocheck.log_loss(float(os.environ["SCALE"]) / (step + 1))
"""


def public(name: str) -> Any:
    """The object behind a name; of a callback what it is before its trainer is imported."""
    return getattr(trainer_callbacks if name in CALLBACKS else reprocheck, name)


def sections(name: str) -> dict[str, str]:
    """The parts of a docstring, by heading."""
    parts = SECTION.split(inspect.getdoc(public(name)) or "")
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(section: str) -> set[str]:
    """The names that a section describes, in words."""
    return {name for name, text in ENTRY.findall(section) if len(text) > 5}


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_takes_returns_and_raises(name: str) -> None:
    found, what = sections(name), public(name)
    if inspect.isfunction(what):
        signature = inspect.signature(what)
        assert described(found["Args"]) == set(signature.parameters)
        untyped = [one for one in signature.parameters.values() if one.annotation is one.empty]
        assert untyped == [] and signature.return_annotation is not signature.empty
        assert len(found["Returns"].split()) >= 3
        assert described(found.get("Raises", "")) or "nothing is raised" in found["Returns"]
    elif name in CALLBACKS:
        assert described(found["Raises"]) == {"ImportError"}
    else:
        assert described(found["Attributes"]) == set(what.__annotations__)


@pytest.mark.parametrize("name", NAMES)
def test_its_example_is_python_that_uses_it(name: str) -> None:
    examples = doctest.DocTestParser().get_examples(sections(name)["Examples"])
    used = {
        node.attr
        for example in examples
        for node in ast.walk(ast.parse(example.source))
        if isinstance(node, ast.Attribute)
    }
    assert name in used | {"Seeded"}


def test_the_examples_print_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING)
    for name, scale in (("here.zip", "1"), ("there.zip", "1.1")):
        done = run_cli("record", "-o", name, "train.py", cwd=tmp_path, SCALE=scale)
        assert done.returncode == 0, done.stdout
    examples = [sections(name)["Examples"] for name in RUN]
    (tmp_path / "examples.txt").write_text("\n".join([">>> import reprocheck\n", *examples]))
    # in a process of its own: `seed_all` changes the whole process
    words = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "doctest",
        "-v",
        "-o",
        "ELLIPSIS",
        "examples.txt",
    ]
    environment = clean_environment(REPROCHECK_DRAW="false", SCALE="1")
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "12 passed" in done.stdout


def test_the_reference_shows_each_public_name() -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text()
    shown = re.findall(r"^::: reprocheck\.(?:[a-z_]+\.)*(\w+)$", page, re.MULTILINE)
    assert sorted(shown) == sorted(NAMES)
