"""Read the versions of packages that a project asks for.

In `setup.py`, `setup.cfg`, `pyproject.toml`, requirements files and conda environments.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path

from reprocheck.files.source_text import UnreadableError
from reprocheck.scan.files import project_root
from reprocheck.scan.source import decode, read

Version = tuple[int, ...]
Pins = Mapping[str, tuple[Version, ...]]
"""The versions that a project stays below, by the names of packages."""

_FILES = (
    *("setup.py", "setup.cfg", "pyproject.toml", "requirements*.txt", "requirements/*.txt"),
    *("environment*.yml", "environment*.yaml", "conda*.yml", "conda*.yaml", "Pipfile"),
)
_PIN = re.compile(
    r"(?<![\w./-])([a-z]\w*(?:[-_.]\w+)*)(?:\[[^\]]*\])?[\"']?\s*(?:=\s*\{\s*version\s*|:\s*[\"'])?"
    r"((?:[\s,(]*[<>=!~]{1,3}\s*[\"']?[\^~<>=]*\s*\d[\w.*]*)+)",
    re.IGNORECASE,
)
"""A package, its extras, and what is asked of its version."""
_CLAUSE = re.compile(r"([<>=!~^]+)\s*(\d+(?:\.\d+)*)")
_VARIANTS = re.compile(r"-(cpu|gpu|intel|macos|rocm)$")


@cache
def pins(folder: Path) -> Pins:
    """Return for each package the versions below which a project stays; files near `folder` win."""
    top = project_root(folder) or folder
    found: dict[str, tuple[Version, ...]] = {}
    for around in (folder, *folder.parents):
        found = {**_in_folder(around), **found}
        if around == top:
            break
    return found


def forget() -> None:
    """Clear the caches, because files may have changed since the last scan of this process."""
    pins.cache_clear()
    _in_folder.cache_clear()


@cache
def _in_folder(folder: Path) -> Pins:
    files = chain.from_iterable(sorted(folder.glob(pattern)) for pattern in _FILES)
    found: defaultdict[str, list[Version]] = defaultdict(list)
    for name, version in chain.from_iterable(map(_in_file, files)):
        found[name].append(version)
    return {name: tuple(versions) for name, versions in found.items()}


def _in_file(path: Path) -> Iterator[tuple[str, Version]]:
    """Yield the packages that a file names, each with the version below which it must stay."""
    try:
        lines = decode(read(path)).splitlines()
    except UnreadableError:
        return
    without_comments = (line.partition("#")[0] for line in lines)
    for name, asked in chain.from_iterable(map(_PIN.findall, without_comments)):
        package = _VARIANTS.sub("", re.sub("[_.]", "-", name).lower())
        for operator, number in _CLAUSE.findall(re.sub(r"[\"'\s]", "", asked)):
            version = _below(operator, tuple(map(int, number.split("."))))
            if version:
                yield package, version


def _below(operator: str, version: Version) -> Version:
    """Return the version below which a requirement stays; empty if it has no upper limit."""
    if operator == "<":
        return version
    if operator == "<=":
        return (*version, 0)
    if operator.endswith("^"):
        return _next(version[:1])
    if operator == "~=":
        return _next(version[:-1] or version)
    if operator.endswith("~"):
        return _next(version[:2])
    if operator in ("=", "==", "==="):
        return _next(version)
    return ()


def _next(version: Version) -> Version:
    *first, last = version
    return (*first, last + 1)
