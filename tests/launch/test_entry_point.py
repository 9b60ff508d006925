"""From the command line to the command; mistakes are named before anything starts."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

import pytest

from reprocheck import launch
from reprocheck.errors import EntryPointError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("pass\n")
    return tmp_path


def test_script_module_and_command() -> None:
    script = launch.entry_point(script="train.py", args=["--runs", "3"])
    assert script.command == (sys.executable, "train.py", "--runs", "3")
    assert (script.kind, script.name) == ("script", "train")
    module = launch.entry_point(module="json.tool", args=["-h"])
    assert module.command == (sys.executable, "-m", "json.tool", "-h")
    assert (module.kind, module.name) == ("module", "tool")
    assert launch.entry_point(module="train").command[2] == "train"
    command = launch.entry_point(command=["sh", "-c", "exit 3"])
    assert command.command == ("sh", "-c", "exit 3")
    assert command.name == "sh"
    assert launch.entry_point(command=["env", "python", "some/train.py", "-x"]).name == "train"


def test_another_interpreter_keeps_its_path(here: Path) -> None:
    (here / "bin").mkdir()
    (here / "bin" / "python").symlink_to(sys.executable)
    entry = launch.entry_point(script="train.py", python="bin/python")
    assert entry.command[0] == str(here / "bin" / "python")


def test_a_folder_and_an_archive_with_main_are_scripts(here: Path) -> None:
    (here / "app").mkdir()
    (here / "app" / "__main__.py").touch()
    assert launch.entry_point(script="app").name == "app"
    with zipfile.ZipFile(here / "app.pyz", "w") as archive:
        archive.writestr("__main__.py", "pass")
    assert launch.entry_point(script="app.pyz").command[1] == "app.pyz"


@pytest.mark.parametrize(
    ("name", "content", "message", "fix"),
    [
        ("none.py", None, "There is no script none.py", "Check"),
        ("train", None, "There is no script train", "Did you mean train.py"),
        ("folder", "folder", "is a folder", "__main__.py"),
        ("binary.py", b"\x7fELF\0\1\2", "binary data", "after `--`"),
        ("broken.py", b"x = 1\nif x\n", "broken.py:2: expected ':'", "Correct"),
        ("latin.py", b"x = '\xe9'\n", "latin.py", "Correct"),
        ("train.sh", b"#!/bin/bash\nif true; then echo; fi\n", "train.sh:2", "`-- bash train.sh`"),
        ("book.ipynb", b"{}", "is not a notebook", "Jupyter"),
        ("-", None, "standard input", "file"),
    ],
)
def test_mistakes_with_scripts(
    here: Path, name: str, content: bytes | str | None, message: str, fix: str
) -> None:
    if content == "folder":
        (here / name).mkdir()
    elif isinstance(content, bytes):
        (here / name).write_bytes(content)
    with pytest.raises(EntryPointError) as caught:
        launch.entry_point(script=name)
    assert message in caught.value.message
    assert fix in caught.value.fix
    assert caught.value.exit_code == 2


def test_a_script_for_another_interpreter_is_not_compiled_here(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "later.py").write_text("print 'other syntax'\n")
    (here / "other").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (here / "other").chmod(0o755)
    assert launch.entry_point(script="later.py", python="./other").command[0] == str(here / "other")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"module": "no_such_module.x"}, "There is no module"),
        ({"module": "train.py"}, "has no .py"),
        ({"module": "a-b"}, "not the name of a module"),
        ({"command": ["no-such-program"]}, "There is no program"),
        ({"command": ["train.py"]}, "There is no program"),
        ({"command": ["./train.py"]}, "cannot be executed"),
        ({"script": "train.py", "python": "no/python"}, "no such interpreter"),
        ({"script": "train.py", "python": "./train.py"}, "is not a program"),
        ({"script": "train.py", "python": "/bin/true"}, "is not a Python interpreter"),
        ({"command": ["sh"], "python": "python3"}, "cannot be used"),
        ({}, "nothing to run"),
    ],
)
def test_other_mistakes(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(EntryPointError, match=message):
        launch.entry_point(**arguments)  # type: ignore[arg-type]


def test_finding_a_module_imports_nothing(here: Path) -> None:
    (here / "package").mkdir()
    (here / "package" / "__init__.py").write_text("raise SystemExit('imported')")
    before = set(sys.modules)
    assert launch.entry_point(module="package.train").name == "train"
    assert "package" not in set(sys.modules) - before
    assert os.getcwd() == str(here)
