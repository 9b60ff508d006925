"""Whether what a target names is there. A night goes on without it; other commands say so."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from reprocheck.errors import SettingsError
from reprocheck.suite.target import Target


def missing(target: Target) -> SettingsError | None:
    """Return a file or folder that the target needs and this machine lacks; None if nothing is
    missing.

    Modules after `-m` are not checked, because only the interpreter that runs them can find them.
    """
    place = f"{target.file}: target {target.name!r}"
    if not target.workdir.is_dir():
        return SettingsError(
            f"{place}: there is no folder {target.workdir}.",
            "Correct `folder` (it starts from the settings file), or make the folder.",
        )
    first, *rest = target.words
    if first == "--":
        if _program(rest[0], target):
            return None
        return SettingsError(
            f"{place}: there is no program {rest[0]!r}.",
            "Check its name and PATH; a night that cron starts has another PATH than your shell.",
        )
    if first.startswith("-m") or (target.workdir / first).exists():
        return None
    fix = f"Correct `run`: the script starts from {target.workdir}."
    if _program(first, target):
        fix = f'{first} is a program. Write it after --: run = "-- {" ".join(target.words)}".'
    return SettingsError(f"{place}: there is no script {first}.", fix)


def _program(name: str, target: Target) -> bool:
    if os.sep in name:
        return Path(target.workdir / name).exists()
    return shutil.which(name, path=target.environment.get("PATH")) is not None
