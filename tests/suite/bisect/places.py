"""Repositories, packages and suites that the tests of the search are made of."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reprocheck.suite.bisect.change_search import Options, find
from reprocheck.suite.bisect.environments import Environments
from reprocheck.suite.bisect.plan import Candidate, Plan
from reprocheck.suite.bisect.result import Bisected, Checked
from reprocheck.suite.execution.local_executor import LocalExecutor
from reprocheck.suite.history import open_history
from reprocheck.suite.night import Options as NightOptions, run
from reprocheck.suite.targets import load
from tests.suite.here import checks_here

TRAINING = """\
import reprocheck
from {module} import SCALE

w = 1.0
for step in range(4):
    reprocheck.log_loss((w - 0.25) ** 2 * SCALE)
    w -= 0.2 * (w - 0.25)
"""
ONE_MORE_BIT = "1.0000000000000002"
"""1.0 and one unit in its last place."""
AUTHOR = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")


def git(folder: Path, *words: str) -> str:
    """What git answers."""
    done = subprocess.run(
        ["git", "-C", str(folder), *AUTHOR, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(folder: Path, subject: str, **files: str) -> str:
    """A commit with these modules; its hash."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", subject)
    return git(folder, "rev-parse", "HEAD")


def repository(folder: Path) -> Path:
    """An empty repository."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    return folder


def wheel(folder: Path, name: str, version: str, code: str, requires: Sequence[str] = ()) -> Path:
    """A wheel of a package that is one module."""
    file = folder / f"{name}-{version}-py3-none-any.whl"
    needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
    contents = {
        f"{name}/__init__.py": code,
        f"{name}-{version}.dist-info/METADATA": (
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
        ),
        f"{name}-{version}.dist-info/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
        f"{name}-{version}.dist-info/RECORD": "",
    }
    with zipfile.ZipFile(file, "w") as packed:
        for path, text in contents.items():
            packed.writestr(path, text)
    return file


@dataclass
class Index:
    """A package index in a folder, as the web has them, and a project that uv takes it for."""

    folder: Path
    yanked: set[str] = field(default_factory=set)

    def add(self, name: str, version: str, code: str = "", requires: Sequence[str] = ()) -> None:
        """Releases a version."""
        place = self.folder / name
        place.mkdir(parents=True, exist_ok=True)
        wheel(place, name, version, code, requires)
        rows = [self._row(file.name) for file in sorted(place.glob("*.whl"))]
        (place / "index.html").write_text(f"<html><body>{''.join(rows)}</body></html>")

    def use_in(self, project: Path) -> None:
        """Tells uv of it, and of no other index."""
        text = f'[[index]]\nurl = "{self.folder.as_uri()}"\ndefault = true\n'
        (project / "uv.toml").write_text(text)

    def _row(self, file: str) -> str:
        yanked = ' data-yanked="broken"' if file.split("-")[1] in self.yanked else ""
        return f'<a href="{file}"{yanked}>{file}</a>'


def uv(folder: Path, *words: str) -> str:
    """What uv answers, offline."""
    done = subprocess.run(
        [sys.executable, "-m", "uv", *words],
        cwd=folder,
        env={**os.environ, "UV_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


class Unheard:
    """Listens to nothing."""

    def __getattr__(self, name: str) -> object:
        return lambda *values, **named: None


class Heard:
    """Keeps what a search tells; raises KeyboardInterrupt before the check `interrupt_before`."""

    def __init__(self, interrupt_before: int = 0) -> None:
        self.said: list[str] = []
        self.checks = 0
        self._interrupt_before = interrupt_before

    def planned(self, found: Plan, most: int) -> None: ...
    def ended(self, checked: Checked, *, remembered: bool) -> None: ...

    def begins(self, number: int, candidate: Candidate) -> None:
        self.checks += 1
        if self.checks == self._interrupt_before:
            raise KeyboardInterrupt

    def say(self, text: str) -> None:
        self.said.append(text)


def night(project: Path) -> str:
    """A night of the suite of a project; its id."""
    suite = load(project)
    suite.folder.mkdir(parents=True, exist_ok=True)
    with checks_here(), open_history(suite.history) as history, LocalExecutor() as executor:
        return run(suite, history, executor, NightOptions(record=False), Unheard()).night.id  # type: ignore[arg-type]


def searched(
    project: Path,
    good: str,
    bad: str,
    *,
    observer: Heard | None = None,
    cache: Path | None = None,
    **options: object,
) -> Bisected:
    """A search for what changed the target `toy`."""
    suite = load(project)
    environments = Environments(folder=cache or project / "cache")
    asked = Options(good=good, bad=bad, environments=environments, **options)  # type: ignore[arg-type]
    with checks_here(), open_history(suite.history, create=False) as history:
        return find(suite, history, "toy", asked, observer or Heard())


def suite_of(project: Path, module: str, options: Mapping[str, str] | None = None) -> None:
    """The settings and the training of a project whose loss is scaled by a module's SCALE."""
    lines = ["draw = false", *(f"{name} = {value!r}" for name, value in (options or {}).items())]
    text = "\n".join(["[[target]]", 'name = "toy"', 'run = "train.py"', *lines])
    (project / "reprocheck.toml").write_text(text + "\n")
    (project / "train.py").write_text(TRAINING.format(module=module))
