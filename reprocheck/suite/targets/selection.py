"""Names of targets, and which targets a command is about: by name, by tag."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
import shutil
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from reprocheck.errors import SettingsError, UsageError
from reprocheck.settings import nearest
from reprocheck.suite.target import Target

FEW = 8
"""Names that an error lists."""


def selected(
    targets: Sequence[Target], names: Sequence[str], tags: Sequence[str]
) -> tuple[Target, ...]:
    """Return the targets that have one of the names and one of the tags, sorted by name.

    names  exact, or patterns of a shell (`resnet*`); a name with brackets is taken as it is first.
           Of a matrix its name without values stands for all. None: all.

    Raises UsageError for a name or tag that no target has.
    """
    if not targets:
        raise SettingsError(
            "The suite has no targets.", "`reprocheck suite init` writes them from your scripts."
        )
    by_name = {target.name: target for target in targets}
    known = sorted(by_name)
    with_name = list(chain.from_iterable(_named(asked, known) for asked in names)) or known
    with_tag: list[str] = []
    for tag in tags:
        tagged = [target.name for target in targets if tag in target.tags]
        if not tagged:
            known_tags = sorted(set(chain.from_iterable(target.tags for target in targets)))
            raise UsageError(f"No target has the tag {tag!r}.", _instead(tag, known_tags, "tags"))
        with_tag += tagged
    wanted = sorted(set(with_name).intersection(with_tag or known))
    return tuple(by_name[name] for name in wanted)


def _named(asked: str, known: Sequence[str]) -> list[str]:
    """Return the names that `asked` stands for. Raises UsageError if there is none."""
    if asked in known:
        return [asked]
    of_a_matrix = fnmatch.filter(known, f"{asked}[[]*")
    found = [*fnmatch.filter(known, asked), *of_a_matrix]
    if not found:
        raise UsageError(f"There is no target {asked!r}.", _instead(asked, known, "targets"))
    return found


def _instead(asked: str, known: Sequence[str], what: str) -> str:
    """Suggest the known names nearest to a wrong one, else the first few."""
    meant = nearest(asked, known)
    if meant:
        return f"Did you mean {meant}? `reprocheck suite list` lists all."
    if not known:
        return f"There are no {what} in this suite."
    few = list(known[:FEW])
    if len(known) > FEW:
        few.append("…")
    return f"The {what} are {', '.join(few)}."


def missing(target: Target) -> SettingsError | None:
    """Return a file or folder that the target needs and this machine lacks.

    None if nothing is missing.

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


LONGEST = 100
"""Characters of a name as a settings file gives it; that of a matrix adds its values."""
ALLOWED = (
    f"up to {LONGEST} letters, digits, spaces and any of . _ - + / : @, a letter or digit first"
)
_NAME = re.compile(r"\w[\w .+/:@-]*")
_NOT_IN_A_FOLDER = re.compile(r"[^A-Za-z0-9_.=+-]+")
_LONGEST_FOLDER = 80
_RESUME = "resume"


def valid(name: str) -> bool:
    """Return whether a settings file may give a target this name.

    Brackets are left to the values of a matrix, and to the patterns of the command line.
    """
    return len(name) <= LONGEST and _NAME.fullmatch(name) is not None


def of_matrix(name: str, values: dict[str, str]) -> str:
    """Return the name of one target of a matrix: `resnet[lr=0.1,seed=2]`."""
    if not values:
        return name
    inside = ",".join(f"{axis}={value}" for axis, value in values.items())
    return f"{name}[{inside}]"


def of_resume(name: str) -> str:
    """Return the name of the target that checks how another one resumes.

    >>> of_resume("resnet"), of_resume("resnet[lr=0.1]")
    ('resnet[resume]', 'resnet[lr=0.1,resume]')
    """
    if name.endswith("]"):
        return f"{name[:-1]},{_RESUME}]"
    return f"{name}[{_RESUME}]"


def folder_name(name: str) -> str:
    """Return a target's name as the name of a folder: letters, digits and `. _ = + -`.

    Two names never share a folder: one that had to be changed ends in eight digits of its hash.

    >>> folder_name("resnet")
    'resnet'
    >>> folder_name("resnet[lr=0.1,seed=2]")
    'resnet-lr=0.1-seed=2-1d210bd7'
    """
    kept = _NOT_IN_A_FOLDER.sub("-", name).strip("-.")[:_LONGEST_FOLDER]
    if kept == name:
        return name
    return f"{kept}-{hashlib.sha256(name.encode()).hexdigest()[:8]}".lstrip("-")
