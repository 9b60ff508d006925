"""Paths below a folder that no link leads out of it.

A script can put a link where a folder of the user's stood; whoever then writes to `folder/file` by
its name writes somewhere else. Here each folder on the way is opened for itself, without following
a link, and the last one is reached through its descriptor (`/proc/self/fd/N`), whatever takes its
place by name meanwhile.
"""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_NO_FOLDER = (errno.ENOTDIR, errno.ELOOP)


class Anchor:
    """A folder by its descriptor; a context manager that closes it.

    clear  whether a link or a file that stands where a folder is to be made is renamed (`name.2`);
           else it is an error
    Raises OSError where the folder cannot be opened.
    """

    def __init__(self, folder: Path, *, clear: bool = False, flags: int = 0) -> None:
        self._clear = clear
        self._descriptor = os.open(folder, _FOLDER | flags)

    @classmethod
    def without_links(cls, folder: Path, *, clear: bool = False) -> Anchor:
        """Open an absolute folder, none of whose parts may be a link; only the last one is made
        where it is missing.
        """
        with cls(Path("/")) as top, top.path(str(folder)) as location:
            with suppress(FileExistsError):
                location.mkdir()
            return cls(location, clear=clear, flags=os.O_NOFOLLOW)

    @contextmanager
    def path(self, name: str, *, make: bool = False) -> Iterator[Path]:
        """Yield the path of `name`, which starts from the folder; it is valid within the block.

        make  whether missing folders on the way are made
        Raises OSError (ENOTDIR or ELOOP) where a folder on the way is a link or a file.
        """
        *folders, last = PurePosixPath(name.lstrip("/")).parts
        descriptor = self._descend(tuple(folders), make=make)
        try:
            yield Path(f"/proc/self/fd/{descriptor}", last)
        finally:
            os.close(descriptor)

    def __enter__(self) -> Anchor:
        return self

    def __exit__(self, *raised: object) -> None:
        os.close(self._descriptor)

    def _descend(self, folders: tuple[str, ...], *, make: bool) -> int:
        current = os.dup(self._descriptor)
        for name in folders:
            try:
                below = self._step(current, name, make=make)
            finally:
                os.close(current)
            current = below
        return current

    def _step(self, parent: int, name: str, *, make: bool) -> int:
        try:
            return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=parent)
        except FileNotFoundError:
            if not make:
                raise
        except OSError as error:
            if error.errno not in _NO_FOLDER or not (make and self._clear):
                raise
            obstacle = Path(f"/proc/self/fd/{parent}", name)
            obstacle.rename(free_name(obstacle))
        os.mkdir(name, dir_fd=parent)
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=parent)


def free_name(path: Path) -> Path:
    """Return `path`, or the first of `path.2`, `path.3`… at which nothing stands."""
    names = (path.with_name(f"{path.name}.{number}") for number in itertools.count(2))
    return next(name for name in itertools.chain((path,), names) if not os.path.lexists(name))
