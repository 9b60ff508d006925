"""What a script, its user or another program does to files, as data: histories are made of it."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal[
    "write",
    "append",
    "replace",
    "remove",
    "mkdir",
    "rename",
    "hard link",
    "link outside",
    "link inside",
    "folder instead",
    "file instead",
    "mode",
    "touch",
    "plant",
]
PATHS = ("a", "b", "n\udcff", "d", "d/x", "d/e", "d/e/y", "new", "d/new", "l")


@dataclass(frozen=True)
class Action:
    """One of them; `other` is the second path of those that have two."""

    kind: Kind
    path: str
    other: str = "new"


def fill(root: Path) -> None:
    """The working directory, and what lies beside it."""
    for path in ("a", "b", "n\udcff", "d/x", "d/e/y"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"mine: {os.fsencode(path)!r}")
    os.link(root / "a", root / "d" / "also a")
    (root / "l").symlink_to("b")
    outside = root.parent / "else"
    (outside / "e").mkdir(parents=True)
    for path in ("x", "y", "e/y", "inner"):
        (outside / path).write_text(f"outside: {path}")


def perform(action: Action, root: Path, content: str, report: Path | None = None) -> None:
    """Does it with the functions that a training has; what cannot be done is passed over, and so is
    what would lead outside.
    """
    with suppress(OSError, ValueError):
        path, other = os.path.join(root, action.path), os.path.join(root, action.other)
        if _leads_outside(path, root) or _leads_outside(other, root):
            return
        if action.kind == "plant":
            _plant(root, report)
        else:
            _perform(action.kind, path, other, content, str(root.parent / "else"))


def _plant(root: Path, report: Path | None) -> None:
    """Puts links in the place of the folders that take files of the user's."""
    if report is not None:
        for name in ("left", "before", "meanwhile"):
            if not os.path.lexists(report / name):
                (report / name).symlink_to(root.parent / "else")


def _perform(kind: Kind, path: str, other: str, content: str, outside: str) -> None:
    if kind in ("write", "append"):
        with open(path, kind[0]) as file:
            file.write(content)
    elif kind == "replace":
        with open(path + ".tmp", "w") as file:
            file.write(content)
        try:
            os.replace(path + ".tmp", path)
        except OSError:
            os.remove(path + ".tmp")
    elif kind == "remove":
        _remove(path)
    elif kind == "mkdir":
        os.mkdir(path)
    elif kind == "rename":
        os.rename(path, other)
    elif kind == "hard link":
        os.link(path, other)
    elif kind == "link outside":
        _remove(path)
        os.symlink(outside, path)
    elif kind == "link inside":
        _remove(path)
        os.symlink(other, path)
    elif kind == "folder instead":
        _remove(path)
        os.mkdir(path)
        with open(os.path.join(path, "inner"), "w") as file:
            file.write(content)
    elif kind == "file instead":
        _remove(path)
        with open(path, "x") as file:
            file.write(content)
    elif kind == "mode":
        os.chmod(path, 0o700 if os.path.isdir(path) else 0o600)
    elif kind == "touch" and os.path.isfile(path):
        os.utime(path)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def _leads_outside(path: str, root: Path) -> bool:
    """Whether an action there would be one on files outside: then it is the actor's own."""
    return not os.path.realpath(path).startswith(os.path.realpath(root) + os.sep)


def contents(root: Path, leave_out: str = "reports") -> dict[str, str]:
    """Each file below a folder and what it holds, each link and where it leads."""
    found = {}
    for folder, folders, files in os.walk(root):
        if folder == str(root) and leave_out in folders:
            folders.remove(leave_out)
        for name in (*files, *folders):
            path = os.path.join(folder, name)
            if os.path.islink(path):
                found[os.path.relpath(path, root)] = "-> " + os.readlink(path)
            elif os.path.isfile(path):
                found[os.path.relpath(path, root)] = Path(path).read_text(errors="surrogateescape")
    return found
