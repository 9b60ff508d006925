"""Cache what earlier scans found.

An outline for each file's content, and the findings for each group of files that import one
another.

The cache folder is named after a hash of the scan's source and the catalogue, so that a new version
starts with an empty cache.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Sequence
from functools import cache as remembered
from pathlib import Path
from typing import Any

import msgspec

from reprocheck.files.atomic import replacing
from reprocheck.scan.finding import Finding, Unreadable
from reprocheck.scan.source import Outline

KEPT_DAYS = 30


class Found(msgspec.Struct, frozen=True):
    """The findings in a group of files, and what could not be read."""

    findings: list[Finding]
    problems: list[Unreadable]


def default_folder() -> Path:
    """Return the cache folder: `$XDG_CACHE_HOME/reprocheck/scan`, else below `~/.cache`."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    home = os.path.expanduser("~")  # noqa: PTH111
    root = Path(base)
    if not root.is_absolute():
        root = Path(home) / ".cache"
    return root / "reprocheck" / "scan"


@remembered
def version() -> str:
    """Return a hash of the sources of scan, patches and rules, on which all findings depend."""
    package = Path(__file__).parents[1]
    digest = hashlib.blake2b(sys.version.encode(), digest_size=8)
    for folder in ("scan", "fixes", "rules"):
        for path in sorted(package.joinpath(folder).rglob("*")):
            if path.suffix in (".py", ".toml"):
                digest.update(path.read_bytes())
    return digest.hexdigest()


class Cache:
    """A folder with cached outlines and findings.

    A file that cannot be read or decoded counts as missing.
    """

    def __init__(self, folder: Path | None, *, extra: Sequence[tuple[str, str]] = ()) -> None:
        """Open a cache; `extra` are settings of the project on which findings depend as well."""
        self._folder = folder
        self._extra = hashlib.blake2b(repr(tuple(extra)).encode(), digest_size=4).hexdigest()
        if folder is not None:
            self._folder = folder / version()

    def outline(self, digest: str) -> Outline | None:
        """Return the cached outline of a file by its content's digest; None without one."""
        found: Outline | None = self._read(f"o-{digest}", Outline)
        return found

    def keep_outline(self, digest: str, outline: Outline) -> None:
        """Save the outline of a file under the digest of its content."""
        self._write(f"o-{digest}", outline)

    def found(self, key: str) -> Found | None:
        """Return the cached findings of a group of files by its key; None if there are none."""
        found: Found | None = self._read(f"f-{key}{self._extra}", Found)
        return found

    def keep_found(self, key: str, found: Found) -> None:
        """Save the findings of a group of files under its key."""
        self._write(f"f-{key}{self._extra}", found)

    def prune(self) -> None:
        """Remove files of older versions, and files that were not used for a month."""
        if self._folder is None or not self._folder.is_dir():
            return
        limit = time.time() - KEPT_DAYS * 86_400
        try:
            for path in self._folder.parent.glob("*/*/*"):
                if path.parent.parent != self._folder or path.stat().st_mtime < limit:
                    path.unlink(missing_ok=True)
            for folder in [*self._folder.parent.glob("*/*"), *self._folder.parent.glob("*")]:
                if self._folder not in (folder, folder.parent):
                    folder.rmdir()
        except OSError:
            return

    def _path(self, name: str) -> Path | None:
        if self._folder is None:
            return None
        return self._folder / name[2:4] / f"{name}.json"

    def _read(self, name: str, kind: Any) -> Any:
        path = self._path(name)
        if path is None:
            return None
        try:
            read = msgspec.json.decode(path.read_bytes(), type=kind)
            os.utime(path)
        except (OSError, msgspec.DecodeError, msgspec.ValidationError):
            return None
        return read

    def _write(self, name: str, value: object) -> None:
        path = self._path(name)
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path, mode=0o600) as file:
                file.write(msgspec.json.encode(value))
        except (OSError, UnicodeEncodeError):
            self._folder = None
