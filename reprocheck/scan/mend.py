"""Writing what patches say: the difference as text, and files in place, in their own encoding."""

from __future__ import annotations

import difflib
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from reprocheck.atomic import replacing
from reprocheck.errors import UsageError
from reprocheck.scan.files import shown
from reprocheck.scan.source import decode, encoding


def difference(changed: Mapping[Path, str]) -> str:
    """A unified difference of all files, which `patch -p1` and `git apply` take."""
    rows: list[str] = []
    for path, after in sorted(changed.items()):
        before = decode(path.read_bytes())
        name = shown(path)
        for row in difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{name}", f"b/{name}"):
            rows.append(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n")
    return "".join(rows)


def write(changed: Mapping[Path, str]) -> None:
    """Writes the files, each at once or not at all. Raises UsageError."""
    for path, text in changed.items():
        try:
            target = path.resolve()
            data = text.encode(encoding(target.read_bytes()))
            with replacing(target, mode=target.stat().st_mode) as file:
                file.write(data)
        except (OSError, UnicodeEncodeError) as error:
            raise UsageError(f"{shown(path)} cannot be written: {error}.", "Nothing was changed in it.") from None


def dirty(paths: Iterable[Path]) -> str | None:
    """A file with changes that are not committed, in a git tree that one of these files lies in; None where there is none."""
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
