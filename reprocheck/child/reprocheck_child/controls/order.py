"""The control `file-order`: folders are listed in the order of the file names.

Under the variation of that name they are listed in the opposite order of the file system, or in one
that a number decides. It also acts on functions that list folders through `os`: walk, glob,
pathlib, shutil. A call is counted if the file system's order was different and the script asks, not
for a search for modules.
"""

from __future__ import annotations

import os

from ..recorder.hooking import replace
from .entropy import stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator

    from .active_controls import Active

NAME = "file-order"
_COLLECTIONS = ("supports_fd", "supports_dir_fd", "supports_follow_symlinks")


def install(active: Active) -> None:
    """Sort what `os.listdir` and `os.scandir` return."""
    for name, make in (("listdir", _listdir), ("scandir", _scandir)):
        real = getattr(os, name)
        replace(os, name, lambda real, make=make: make(active, real))
        for collection in _COLLECTIONS:
            collected: set[Any] = getattr(os, collection, set())
            if real in collected:
                collected.add(getattr(os, name))


def _listdir(active: Active, real: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    def listdir(path: Any = None) -> list[Any]:
        names = real(path)
        ordered = _in_order(active, names, _itself)
        if ordered != names and not active.for_imports():
            active.touched(NAME, "os.listdir")
        return ordered

    return listdir


def _scandir(active: Active, real: Callable[..., Any]) -> Callable[..., Any]:
    def scandir(path: Any = None) -> Any:
        with real(path) as entries:
            listed = list(entries)
        ordered = _in_order(active, listed, _name)
        if ordered != listed and not active.for_imports():
            active.touched(NAME, "os.scandir")
        return _Entries(ordered)

    return scandir


def _in_order(active: Active, entries: list[Any], name: Callable[[Any], Any]) -> list[Any]:
    if not active.varies(NAME):
        return sorted(entries, key=name)
    if not active.point:
        return entries[::-1]
    return sorted(entries, key=lambda entry: stream(repr((active.point, name(entry))).encode(), 8))


def _name(entry: Any) -> Any:
    return entry.name


def _itself(entry: Any) -> Any:
    return entry


class _Entries:
    """The iterator that `os.scandir` returns, which can be closed."""

    def __init__(self, entries: list[Any]) -> None:
        self._rest: Iterator[Any] = iter(entries)

    def __iter__(self) -> _Entries:
        return self

    def __next__(self) -> Any:
        return next(self._rest)

    def close(self) -> None:
        """Drop the remaining entries, so that the iterator ends."""
        self._rest = iter(())

    def __enter__(self) -> _Entries:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
