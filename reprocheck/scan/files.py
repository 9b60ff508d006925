"""Find the files to scan: those below the given paths, and the user's modules that they import."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from types import MappingProxyType

from reprocheck.scan.finding import Unreadable
from reprocheck.scan.vocabulary import names, words

SUFFIXES = (".py", ".pyw", ".ipynb")
LEFT_OUT = words("folders", "left_out")
INSTALLED = frozenset({"site-packages", "dist-packages"})
_STANDARD_LIBRARY = Path(os.__file__).parent
_ROOTS = names("folders", "roots")
_TOPS = names("folders", "tops")


@dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """A file to scan.

    asked    the folder that the user asked for and that contains the file; None for an import
    single   whether the user named the file itself
    data     content that replaces that on disk, as an editor holds it; None to read the file
    """

    path: Path
    asked: Path | None = None
    single: bool = False
    data: bytes | None = None


def find(
    paths: Iterable[Path],
    exclude: Iterable[str] = (),
    given: Mapping[Path, bytes] = MappingProxyType({}),
) -> tuple[list[File], list[Unreadable]]:
    """Return the files below the paths, each once, and the paths that cannot be read.

    Symbolic links are followed once. `given` maps paths to contents that replace those on disk.
    """
    files: dict[str, File] = {}
    problems: list[Unreadable] = []
    patterns = tuple(exclude)
    for path in paths:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - links stay as they were written
        if absolute.is_dir():
            for found in _below(absolute, patterns, problems):
                file = File(path=found, asked=absolute)
                files.setdefault(os.path.realpath(found), file)
        else:
            key = os.path.realpath(absolute)
            files[key] = _single(absolute)
    for path, data in given.items():
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - as above
        key = os.path.realpath(absolute)
        files[key] = _single(absolute, data)
    return list(files.values()), problems


def _single(path: Path, data: bytes | None = None) -> File:
    """Return a file that the user named itself, with its folder or package as asked for."""
    asked = package_root(path.parent)
    if not asked.is_relative_to(_here()):
        asked = path.parent
    return File(path=path, asked=asked, single=True, data=data)


def _below(folder: Path, exclude: tuple[str, ...], problems: list[Unreadable]) -> Iterator[Path]:
    seen: set[tuple[int, int]] = set()

    def failed(error: OSError) -> None:
        path = shown(Path(error.filename or folder))
        problems.append(Unreadable(path=path, reason=f"cannot be listed: {error.strerror}"))

    for top, folders, inside in os.walk(folder, followlinks=True, onerror=failed):
        try:
            status = Path(top).stat()
        except OSError as error:
            failed(error)
            folders.clear()
            continue
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if not _is_left_out(Path(top, name), exclude))
        for name in sorted(inside):
            path = Path(top, name)
            if name.endswith(SUFFIXES) and not _matches(path, exclude):
                yield path


def _is_left_out(folder: Path, exclude: tuple[str, ...]) -> bool:
    name = folder.name
    if name.startswith(".") or name in LEFT_OUT or _matches(folder, exclude):
        return True
    # the report of a check may hold sources of the user with a patch
    is_report = (folder / "record.json").is_file() and (folder / "run-1").is_dir()
    return is_report or (folder / "pyvenv.cfg").exists()


def _matches(path: Path, patterns: tuple[str, ...]) -> bool:
    return any(matches(shown(path), pattern) for pattern in patterns)


def matches(path: str, pattern: str) -> bool:
    """Return whether a pattern matches a path, its file name, or a folder that contains it."""
    name = path.rpartition("/")[2]
    if fnmatch(path, pattern) or fnmatch(name, pattern):
        return True
    return path.startswith(pattern.rstrip("/") + "/")


def shown(path: Path) -> str:
    """Return a path as it is printed, with forward slashes.

    Relative to the working directory if it lies there.
    """
    text = str(path)
    here = _here()
    if text.startswith(here + os.sep):
        text = text[len(here) + 1 :]
    return text.encode("utf-8", "replace").decode().replace(os.sep, "/")


def _here() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return os.sep


@cache
def package_root(folder: Path) -> Path:
    """Return the folder from which a file in `folder` is imported: the first without a package."""
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        folder = folder.parent
    return folder


@cache
def project_root(folder: Path) -> Path | None:
    """Return the folder of the project that contains `folder`; None if there is none.

    The nearest folder with a file such as `.git` or `setup.py` is the one, else the highest folder
    with a file such as `README.md`, which subfolders of a project may have, too.
    """
    around = (folder, *folder.parents)
    sure = (at for at in around if _has_one(at, _ROOTS))
    likely = (at for at in reversed(around) if _has_one(at, _TOPS))
    return next(sure, None) or next(likely, None)


def _has_one(folder: Path, names: Sequence[str]) -> bool:
    return any((folder / name).exists() for name in names)


def is_installed(path: Path) -> bool:
    """Return whether a file belongs to an installed package or to Python itself."""
    return not INSTALLED.isdisjoint(path.parts) or path.is_relative_to(_STANDARD_LIBRARY)
