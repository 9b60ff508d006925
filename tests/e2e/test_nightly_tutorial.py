"""`docs/nightly.md`, followed: its commands are typed one after the other, and print what the page
says that they print.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT, clean_environment

PAGE = (ROOT / "docs" / "nightly.md").read_text(encoding="utf-8")
NIGHT = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-[0-9a-f]{4}")
COMMITTER = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
}


@dataclass(frozen=True)
class Step:
    """Commands of the page, and what it says that they print: parts, in this order."""

    commands: str
    prints: tuple[str, ...]


def steps() -> Iterator[Step]:
    blocks = re.findall(r"```(sh|text)\n(.*?)```", PAGE, re.DOTALL)
    for place, (kind, text) in enumerate(blocks):
        if kind == "sh":
            following = blocks[place + 1 : place + 2]
            printed = "".join(shown for kind_of_it, shown in following if kind_of_it == "text")
            parts = (flat(part) for part in printed.split("…"))
            yield Step(text, tuple(part for part in parts if part))


def flat(text: str) -> str:
    """Without what depends on the width of a terminal."""
    return " ".join(text.split())


def in_this_order(parts: tuple[str, ...], text: str) -> bool:
    return re.search(".*".join(map(re.escape, parts)), text) is not None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("tutorial")
    program = top / "bin" / "reprocheck"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m reprocheck "$@"\n')
    program.chmod(0o755)
    return top


def typed(commands: str, folder: Path) -> str:
    """What a shell prints that is given the commands; their exit codes are not looked at."""
    environment = clean_environment(
        PATH=f"{folder / 'bin'}:/usr/bin:/bin",
        PYTHONPATH=str(ROOT),
        REPROCHECK_DRAW="false",
        COLUMNS="80",
        **COMMITTER,
    )
    at = folder / "trainings"
    done = subprocess.run(
        ["bash", "-c", commands],
        cwd=at if at.exists() else folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_what_the_tutorial_types_prints_what_it_shows(folder: Path) -> None:
    of_the_page = list(dict.fromkeys(NIGHT.findall(PAGE)))
    for step in steps():
        nights = sorted(path.name for path in folder.glob("trainings/nightly/nights/*"))
        commands = step.commands
        for night, shown in zip(nights, of_the_page, strict=False):
            commands = commands.replace(shown, night)
        printed = typed(commands, folder)
        nights = sorted(path.name for path in folder.glob("trainings/nightly/nights/*"))
        for night, shown in zip(nights, of_the_page, strict=False):
            printed = printed.replace(night, shown)
        assert in_this_order(step.prints, flat(printed)), f"{step.commands}\n{printed}"
    assert len(nights) == len(of_the_page)
