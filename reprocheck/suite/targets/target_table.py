"""The table of targets that `reprocheck suite init` writes."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reprocheck import settings
from reprocheck.errors import SettingsError
from reprocheck.files.atomic import replacing
from reprocheck.suite.targets import names
from reprocheck.suite.targets.scripts import Script
from reprocheck.suite.targets.suite import FOLDER

OF_PYPROJECT = "tool.reprocheck."
"""What stands before the names of our tables in pyproject.toml."""
_COMMENT = """\
# Targets of `reprocheck suite`. Each has a name and `run`, what stands behind `reprocheck run`.
# It may have more:
#   folder = "vision"                  where it starts, from the folder of this file
#   environment = { DATA = "/data" }   variables
#   steps = 20                         and every other setting that `reprocheck config` lists
#   expect = "not_reproducible"        the verdict that counts as good
#   allow = "tolerance"                how far from the baseline: bits, noise-floor or tolerance
#   tags = ["vision"]                  for `--tag vision`
#   resources = { cpus = 4, gpus = 1 } what one check takes of a machine
#   matrix = { lr = [0.1, 0.2] }       with {lr} in `run`: one target for each value
#   resume = true                      checks besides whether it resumes from its checkpoint
# Keys that all targets share stand in a table of their own: [PREFIXsuite.defaults]
"""
_UNFIT = re.compile(r"[^\w.+]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """A script, and the name that its target gets."""

    name: str
    script: Script


def named(scripts: Iterable[Script], folder: Path, taken: Iterable[str]) -> list[Named]:
    """Return the scripts with names that no target has: their paths from `folder` on, with
    dashes.
    """
    used = set(taken)
    found = []
    for script in scripts:
        name = _free(_name(script.path.relative_to(folder)), used)
        used.add(name)
        found.append(Named(name=name, script=script))
    return found


def _name(path: Path) -> str:
    """`vision-train` of `vision/train.py`."""
    joined = "-".join(path.with_suffix("").parts)
    return _UNFIT.sub("-", joined).strip("-.+")[-names.LONGEST + 10 :] or "training"


def _free(name: str, used: set[str]) -> str:
    """Return the name, with a number behind it where it is used."""
    numbered = (f"{name}-{number}" for number in range(2, len(used) + 3))
    return next(one for one in (name, *numbered) if one not in used)


def tables(targets: Sequence[Named], file: Path, *, with_suite: bool) -> str:
    """Return the text for the end of a settings file: the table of the suite, where it has none
    yet, and a table a target.
    """
    prefix = ""
    if file.name == "pyproject.toml":
        prefix = OF_PYPROJECT
    head = ""
    if with_suite:
        head = (
            _COMMENT.replace("PREFIX", prefix)
            + f'\n[{prefix}suite]\nfolder = "{FOLDER}"  # nights, their reports, the history\n\n'
        )
    return head + "\n".join(_table(target, file, prefix) for target in targets)


def _table(target: Named, file: Path, prefix: str) -> str:
    words = [word.replace("{", "{{").replace("}", "}}") for word in target.script.words]
    rows = [
        f"[[{prefix}target]]",
        f"name = {_quoted(target.name)}",
        f"run = {_quoted(shlex.join(words))}",
    ]
    if target.script.folder != file.parent:
        rows.append(f"folder = {_quoted(os.path.relpath(target.script.folder, file.parent))}")
    return "\n".join(rows) + "\n"


def _quoted(text: str) -> str:
    """Return a text as a basic string of TOML, which has the escapes of JSON."""
    return json.dumps(text, ensure_ascii=False)


def append(text: str, file: Path) -> None:
    """Write the tables to the end of a settings file, which is made where it is not there.

    What stands in it stays as it is, byte for byte. Raises SettingsError where the file would not
    be TOML, or cannot be written; it is as it was then.
    """
    try:
        before = file.read_bytes()
    except FileNotFoundError:
        before = b""
    except OSError as error:
        raise _unwritable(file, error) from None
    whole = before + _gap(before) + text.encode()
    _refuse_if_broken(whole, file)
    try:
        mode = file.stat().st_mode & 0o777 if before else None
        with replacing(file.resolve(), mode=mode) as opened:
            opened.write(whole)
    except OSError as error:
        raise _unwritable(file, error) from None


def _gap(before: bytes) -> bytes:
    """Return the line ends between what stands there and what follows."""
    if not before:
        return b""
    if before.endswith(b"\n"):
        return b"\n"
    return b"\n\n"


def _refuse_if_broken(whole: bytes, file: Path) -> None:
    import tomllib

    try:
        tomllib.loads(whole.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        if file.exists():
            settings.toml(file)  # says what was wrong before
        raise SettingsError(
            f"{file} has a form to which tables cannot be added at its end.",
            "`reprocheck suite init --dry-run` prints them; add them by hand.",
        ) from None


def _unwritable(file: Path, error: OSError) -> SettingsError:
    return SettingsError(
        f"{file} cannot be written: {error.strerror or error}.",
        "Make it writable, or take what `reprocheck suite init --dry-run` prints.",
    )
