"""Writing what patches say: the difference as text, and files in place, in their own encoding."""

from __future__ import annotations

import difflib
import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from reprocheck.errors import UsageError
from reprocheck.files.atomic import replacing
from reprocheck.scan.files import shown
from reprocheck.scan.source import decode, encoding


def difference(
    changed: Mapping[Path, str], given: Mapping[Path, bytes] = MappingProxyType({})
) -> str:
    """Return a unified diff of all files for `patch -p1` and `git apply` in the working directory.

    If a file lies outside of it, the first line of the diff says in which folder to apply it.
    `given` is the content of files that differs from the content on disk.
    """
    folder = patch_folder(changed)
    rows: list[str] = []
    if folder != Path.cwd():
        rows.append(f"Apply it in {os.path.relpath(folder)} with `patch -p1`.\n")
    for path, after in sorted(changed.items()):
        data = given.get(path)
        if data is None:
            data = path.read_bytes()
        before = decode(data)
        name = _absolute(path).relative_to(folder).as_posix()
        rows.append(unified(name, before, after))
    return "".join(rows)


def unified(name: str, before: str, after: str, *, context: int = 3) -> str:
    """Return the unified difference of two texts of a file.

    It has what `patch` wants below the last line of a text without a line end.
    """
    old, new = before.splitlines(True), after.splitlines(True)
    rows = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", n=context)
    ended = (
        row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows
    )
    return "".join(ended)


def patch_folder(paths: Iterable[Path]) -> Path:
    """Return the folder that the names in a patch are relative to.

    The working directory, or the common parent of all files outside of it.
    """
    files = [_absolute(path) for path in paths]
    here = Path.cwd()
    if all(file.is_relative_to(here) for file in files):
        return here
    return Path(os.path.commonpath([file.parent for file in files]))


def _absolute(path: Path) -> Path:
    """Return the absolute path, without `..`, of a file.

    A file that is itself a link is resolved, because `patch` changes no link.
    """
    place = Path(os.path.normpath(Path.cwd() / path))
    if place.is_symlink():
        return place.resolve()
    return place


def write(changed: Mapping[Path, str]) -> None:
    """Write the files, each at once or not at all. Raises UsageError."""
    for path, text in changed.items():
        try:
            target = path.resolve()
            data = encoded(target, text)
            with replacing(target, mode=target.stat().st_mode) as file:
                file.write(data)
        except (OSError, UnicodeEncodeError) as error:
            raise UsageError(
                f"{shown(path)} cannot be written: {error}.", "Nothing was changed in it."
            ) from None


def encoded(path: Path, text: str) -> bytes:
    """Return the new text of a file in the encoding of the file.

    Raises OSError, and UnicodeEncodeError if the encoding lacks a character.
    """
    return text.encode(encoding(path.read_bytes()))


def dirty(paths: Iterable[Path]) -> str | None:
    """Return a file with uncommitted changes in a git tree that contains one of these files.

    None if there is none.
    """
    for folder in {path.resolve().parent for path in paths}:
        try:
            done = subprocess.run(
                ["git", "status", "--porcelain", "--untracked-files=no"],
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=60,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0 and done.stdout.strip():
            return done.stdout.splitlines()[0][3:]
    return None
