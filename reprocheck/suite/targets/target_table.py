"""The table of targets that `reprocheck suite init` writes, and the file it goes to."""

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
from reprocheck.suite.target import Target
from reprocheck.suite.targets import selection
from reprocheck.suite.targets.scripts import Script
from reprocheck.suite.targets.suite import FOLDER, KEEP, NoSuiteError, Suite, load

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
#   needs = { cpus = 4, gpus = 1 }     what one check takes
#   matrix = { lr = [0.1, 0.2] }       with {lr} in `run`: one target for each value
#   resume = true                      checks besides whether it resumes from its checkpoint
#   owner = "@ada"                     who is named in notices of it
#   quarantine = "an open race"        why it comes and goes: it is shown and fails no night
#   known_issue = { why = "...", until = "2027-01-31" }
# [PREFIXsuite] may have baselines = "baselines.json" (accepted curves in the repository),
# webhooks = "$VARIABLE" and owners = { "@ada" = "$VARIABLE" } (who gets notices).
# Keys that all targets share stand in a table of their own: [PREFIXsuite.defaults]
"""
_UNFIT = re.compile(r"[^\w.+]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """Hold a script, and the name that its target gets."""

    name: str
    script: Script


def named(scripts: Iterable[Script], folder: Path, taken: Iterable[str]) -> list[Named]:
    """Return the scripts with unused target names.

    The names are their paths relative to `folder`, with dashes.
    """
    used = set(taken)
    found = []
    for script in scripts:
        # `vision-train` of `vision/train.py`, with a number behind it where that is used
        joined = "-".join(script.path.relative_to(folder).with_suffix("").parts)
        stem = _UNFIT.sub("-", joined).strip("-.+")[-selection.LONGEST + 10 :] or "training"
        name, number = stem, 1
        while name in used:
            number += 1
            name = f"{stem}-{number}"
        used.add(name)
        found.append(Named(name=name, script=script))
    return found


def tables(targets: Sequence[Named], file: Path, *, with_suite: bool) -> str:
    """Return the text to append to a settings file.

    It is the table of the suite if `with_suite`, and a table for each target.
    """
    prefix = ""
    if file.name == "pyproject.toml":
        prefix = OF_PYPROJECT
    head = ""
    if with_suite:
        head = (
            _COMMENT.replace("PREFIX", prefix)
            + f'\n[{prefix}suite]\nfolder = "{FOLDER}"  # nights, their reports, the history\n'
            + f"keep = {KEEP}  # nights whose reports stay; the history has all\n\n"
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
    """Return a text as a TOML basic string, which has the escapes of JSON."""
    return json.dumps(text, ensure_ascii=False)


def append(text: str, file: Path) -> None:
    """Append the tables to a settings file, which is made if it does not exist.

    Its existing content stays as it is, byte for byte. Raises SettingsError, and leaves the file
    unchanged, if the result would be invalid TOML or the file cannot be written.
    """
    try:
        before = file.read_bytes()
    except FileNotFoundError:
        before = b""
    except OSError as error:
        raise _unwritable(file, error) from None
    gap = b""
    if before:
        gap = b"\n" if before.endswith(b"\n") else b"\n\n"
    whole = before + gap + text.encode()
    _refuse_if_broken(whole, file)
    try:
        mode = file.stat().st_mode & 0o777 if before else None
        with replacing(file.resolve(), mode=mode) as opened:
            opened.write(whole)
    except OSError as error:
        raise _unwritable(file, error) from None


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


def of_new_targets(cwd: Path) -> tuple[Path, Suite | None]:
    """Return the settings file for new targets, and the suite that it names.

    This is the file of the nearest suite; else an existing reprocheck.toml in `cwd`; else the
    nearest pyproject.toml with `[tool.reprocheck]`; else a new reprocheck.toml. Raises
    SettingsError.
    """
    try:
        suite = load(cwd)
    except NoSuiteError:
        own = cwd / "reprocheck.toml"
        if own.exists():
            return own, None
        for folder in (cwd, *cwd.parents):
            if settings.pyproject_table(folder / "pyproject.toml") is not None:
                return folder / "pyproject.toml", None
        return own, None
    return suite.file, suite


def without_target(found: Iterable[Script], targets: Iterable[Target]) -> list[Script]:
    """Return the scripts that no target starts yet."""
    started = {target.script.resolve() for target in targets if target.script is not None}
    return [script for script in found if script.path.resolve() not in started]
