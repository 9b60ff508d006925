"""Make the command that is started from what the user typed.

Mistakes that can be seen before the start are refused.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path

from reprocheck.errors import EntryPointError
from reprocheck.launch.entry import notebook
from reprocheck.model import EntryPoint

LONGEST_NAME = 60
CALL = "reprocheck_child.call"
"""The module that calls a function in each run, which only runs can import."""
_ASK = "import sys; print('python', *sys.version_info[:2])"


def entry_point(
    *,
    script: str | None = None,
    module: str | None = None,
    command: Sequence[str] = (),
    args: Sequence[str] = (),
    python: str | None = None,
    cwd: Path | None = None,
) -> EntryPoint:
    """Return the entry point of `script ARGS`, `-m module ARGS` or a whole command.

    Exactly one of the three is given.

    `python`: path or name of the interpreter for script and module; without it, the one that runs
    reprocheck.
    Raises EntryPointError where it cannot be started.
    """
    here = cwd or Path.cwd()
    if command:
        return _from_command(tuple(command), python, here)
    interpreter = find_python(python, here)
    ours = python is None or os.path.realpath(interpreter) == os.path.realpath(sys.executable)
    if module is not None:
        _check_module(module, here, ours=ours)
        words = (interpreter, "-m", module, *args)
        named = module.rpartition(".")[2]
        if module == CALL and len(args) > 1:
            named = args[1]
        return EntryPoint(command=words, kind="module", name=safe_name(named))
    if script is None:
        raise EntryPointError(
            "There is nothing to run.", "Name a script, `-m MODULE`, or a command after `--`."
        )
    _check_script(script, here, ours=ours)
    name = safe_name((here / script).resolve().stem)
    return EntryPoint(command=(interpreter, script, *args), kind="script", name=name)


def _program(name: str, cwd: Path) -> Path | None:
    """Return the program that a shell would start by this name; None if there is none."""
    path = shutil.which(name)
    if os.sep in name:
        path = str(cwd / name)
    if path is None or not Path(path).exists():
        return None
    return Path(path)


def _can_be_executed(program: Path) -> bool:
    return not program.is_dir() and os.access(program, os.X_OK)


def find_python(python: str | None, cwd: Path) -> str:
    """Return the absolute path of an interpreter, with links kept.

    Raises EntryPointError if it is no interpreter, or older than Python 3.9.
    """
    if python is None:
        return sys.executable
    fix = "Name an interpreter with --python, such as --python .venv/bin/python."
    program = _program(os.path.expanduser(python), cwd)  # noqa: PTH111, pathlib drops a leading `./`
    if program is None:
        raise EntryPointError(f"--python {python}: there is no such interpreter.", fix)
    if not _can_be_executed(program):
        raise EntryPointError(f"--python {python} is not a program.", fix)
    path = os.path.normpath(cwd / program)
    version = _version(path)
    if version is None:
        raise EntryPointError(f"--python {python} is not a Python interpreter.", fix)
    major, minor = version
    if version < (3, 9):
        raise EntryPointError(
            f"--python {python} is Python {major}.{minor}; the recorder needs 3.9 or later.",
            fix,
        )
    return path


def _version(interpreter: str) -> tuple[int, int] | None:
    """Return the version that an interpreter reports; None if it is no Python."""
    with contextlib.suppress(OSError, subprocess.SubprocessError, ValueError):
        answer = subprocess.run(
            [interpreter, "-I", "-S", "-c", _ASK],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
        )
        word, major, minor = answer.stdout.split()
        if word == "python":
            return int(major), int(minor)
    return None


def _from_command(command: tuple[str, ...], python: str | None, cwd: Path) -> EntryPoint:
    program = command[0]
    if python is not None:
        raise EntryPointError(
            "--python cannot be used with a command after `--`.",
            "Name the interpreter in the command itself.",
        )
    path = _program(program, cwd)
    if path is None:
        hint = "Check its name and PATH."
        if program.endswith(".py"):
            hint = f"Did you mean `reprocheck run {program}`?"
        raise EntryPointError(f"There is no program {program!r}.", hint)
    if not _can_be_executed(path):
        fix = f"Start it with its interpreter: `-- {_interpreter_for(program)} {program}`."
        raise EntryPointError(f"{program} cannot be executed.", fix)
    script = next((word for word in command if word.endswith(".py")), program)
    return EntryPoint(command=command, kind="command", name=safe_name(Path(script).stem))


def _interpreter_for(program: str) -> str:
    if program.endswith((".sh", ".bash")):
        return "bash"
    return "python"


def _check_script(script: str, cwd: Path, *, ours: bool) -> None:
    path = cwd / script
    if script == "-":
        raise EntryPointError(
            "A script from standard input cannot be run twice.", "Write it to a file."
        )
    if not path.exists():
        from difflib import get_close_matches

        hint = "Check the path."
        name = path.name if path.suffix else f"{path.name}.py"
        scripts = [one.name for one in path.parent.glob("*.py")]
        meant = next(iter(get_close_matches(name, scripts, n=1)), "")
        if meant:
            hint = f"Did you mean {Path(script).with_name(meant)}?"
        raise EntryPointError(f"There is no script {script}.", hint)
    if path.is_dir():
        if not (path / "__main__.py").exists():
            raise EntryPointError(
                f"{script} is a folder.", "Name the script in it, or give it a __main__.py."
            )
        return
    if notebook.is_notebook(script):
        notebook.refuse(path, script, ours=ours)
        return
    if path.suffix == ".pyc":
        return
    try:
        source = path.read_bytes()
    except OSError as error:
        raise EntryPointError(
            f"{script} cannot be read: {error.strerror}.", "Name a script that can be read."
        ) from None
    if b"\0" in source:
        if not zipfile.is_zipfile(path):
            raise EntryPointError(
                f"{script} is not a Python script: it holds binary data.",
                "To start a program, write it after `--`.",
            )
        return
    if ours and not zipfile.is_zipfile(path):
        _check_syntax(script, source)


def _check_syntax(script: str, source: bytes) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, script, "exec", dont_inherit=True)
    except SyntaxError as error:
        place = script
        if error.lineno:
            place = f"{script}:{error.lineno}"
        message = f"{place}: {error.msg}.  {(error.text or '').strip()}".rstrip()
        first = source[:80].split(b"\n", 1)[0]
        fix = "Correct the line, or name the interpreter that it is written for with --python."
        if first.startswith(b"#!") and b"python" not in first:
            fix = (
                "To start a script in another language, write it after `--`: `--"
                f" {_interpreter_for(script)} {script}`."
            )
        raise EntryPointError(message, fix) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise EntryPointError(
            f"{script} is not a Python script: {error}.", "Name a Python script."
        ) from None


def _check_module(module: str, cwd: Path, *, ours: bool) -> None:
    if not all(part.isidentifier() for part in module.split(".")):
        raise EntryPointError(
            f"-m {module}: that is not the name of a module.",
            "Name it as in an import: -m package.module.",
        )
    path = cwd.joinpath(*module.split("."))
    if module.endswith(".py") and path.parent.with_suffix(".py").exists():
        raise EntryPointError(
            f"-m {module}: a module's name has no .py.",
            f"Use `-m {module[:-3]}`, or `reprocheck run {module}`.",
        )
    if ours and module != CALL and not _exists(module.partition(".")[0], cwd):
        raise EntryPointError(
            f"There is no module {module}.",
            "Check its name, and that it can be imported from here.",
        )


def _exists(top: str, cwd: Path) -> bool:
    """Return whether a top-level module can be found from `cwd`, without importing anything."""
    from importlib.machinery import PathFinder
    from importlib.util import find_spec

    try:
        return PathFinder.find_spec(top, [str(cwd)]) is not None or find_spec(top) is not None
    except (ImportError, ValueError):
        return True


def safe_name(stem: str) -> str:
    """Return a name for the report folder: letters, digits, dot, dash and underscore."""
    return re.sub(r"[^\w.-]+", "-", stem).strip("-.")[:LONGEST_NAME] or "check"
