"""Opens paths below a folder in such a way that no link leads out of the folder.

A script can replace a folder of the user by a link; whoever then writes to `folder/file` by name
writes somewhere else. In this module each folder on the way is opened without following a link, and
the last folder is reached through its descriptor (`/proc/self/fd/N`), even if another file takes
its name meanwhile.
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
    """Hold a folder by its descriptor; as a context manager it closes the descriptor.

    Raises OSError if the folder cannot be opened.

    clear  whether a link or file in the place of a folder that is to be made is renamed to
           `name.2`; if
           not, an error is raised
    """

    def __init__(self, folder: Path, *, clear: bool = False, flags: int = 0) -> None:
        self._clear = clear
        self._descriptor = os.open(folder, _FOLDER | flags)

    @classmethod
    def without_links(cls, folder: Path, *, clear: bool = False) -> Anchor:
        """Open an absolute folder, no part of whose path may be a link.

        The last folder of the path is made if it is missing.
        """
        with cls(Path("/")) as top, top.path(str(folder)) as location:
            with suppress(FileExistsError):
                location.mkdir()
            return cls(location, clear=clear, flags=os.O_NOFOLLOW)

    @contextmanager
    def path(self, name: str, *, make: bool = False) -> Iterator[Path]:
        """Yield a path to the file `name` in the folder, for use only within the `with` block.

        Raises OSError (ENOTDIR or ELOOP) if a folder on the way is a link or a file.

        make  whether missing folders on the way are made
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
    """Return `path`, or the first of `path.2`, `path.3`… that does not exist yet."""
    names = (path.with_name(f"{path.name}.{number}") for number in itertools.count(2))
    return next(name for name in itertools.chain((path,), names) if not os.path.lexists(name))
