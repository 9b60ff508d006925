"""Which files of the working directory somebody is writing right now.

Somebody else: `reprocheck run train.py > log`, `| tee log`, another training. That is asked only
while no process of a run is alive, so whoever holds a file open for writing stands outside the
run's tree. Or a process of a run, whatever program it is: `| tee log` in a script.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

# Paths are text here: /proc may have a hundred thousand descriptors.
# ruff: noqa: PTH115, PTH116, PTH118, PTH123, PTH208


PROCESSES = "/proc"
"""Folder with an entry for each process."""


def open_for_writing(root: Path, paths: Collection[str]) -> frozenset[str]:
    """Return those of `paths` that a living process holds open for writing.

    Relative to `root`; this process counts, too.

    Processes that may not be looked at are passed over; where there is no /proc, nothing is found.
    """
    wanted: dict[tuple[int, int], set[str]] = {}
    for path in paths:
        identity = _identity(os.path.join(root, path))
        if identity is not None:
            wanted.setdefault(identity, set()).add(path)
    open_paths: set[str] = set()
    for descriptor in _written() if wanted else ():
        identity = _identity(descriptor, follow=True)
        if identity is not None:
            open_paths |= wanted.pop(identity, set())
            if not wanted:
                break
    return frozenset(open_paths)


def written_by(processes: Collection[int], root: Path) -> frozenset[str]:
    """Return paths below `root` that one of these processes holds open for writing.

    Relative to it, right now.
    """
    inside = os.path.join(root, "")
    paths = set()
    for process in processes:
        for number in _listed(f"/proc/{process}/fd"):
            try:
                target = os.readlink(f"/proc/{process}/fd/{number}")
                if target.startswith(inside) and _writes(f"/proc/{process}/fdinfo/{number}"):
                    paths.add(target[len(inside) :])
            except (OSError, ValueError, IndexError):
                continue
    return frozenset(paths)


def own_output() -> frozenset[tuple[int, int]]:
    """Return (device, inode) of what this process's stdout and stderr lead to."""
    targets = set()
    for descriptor in (1, 2):
        try:
            facts = os.fstat(descriptor)
        except OSError:
            continue
        targets.add((facts.st_dev, facts.st_ino))
    return frozenset(targets)


def _written() -> Iterator[str]:
    """Yield the descriptors that are open for writing on a path, as links in /proc.

    Of all processes.
    """
    for process in _listed(PROCESSES):
        if not process.isdigit():
            continue
        for number in _listed(f"/proc/{process}/fd"):
            descriptor = f"/proc/{process}/fd/{number}"
            try:
                target = os.readlink(descriptor)
                if (
                    target.startswith("/")
                    and not target.startswith("/dev/")
                    and _writes(f"/proc/{process}/fdinfo/{number}")
                ):
                    yield descriptor
            except (OSError, ValueError, IndexError):
                continue


def _writes(info: str) -> bool:
    """Return whether an entry of fdinfo says that its descriptor writes."""
    with open(info, "rb") as file:
        flags = file.read().split(b"flags:")[1].split()[0]
    return int(flags, 8) & os.O_ACCMODE in (os.O_WRONLY, os.O_RDWR)


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _identity(path: str, *, follow: bool = False) -> tuple[int, int] | None:
    try:
        facts = os.stat(path, follow_symlinks=follow)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino
