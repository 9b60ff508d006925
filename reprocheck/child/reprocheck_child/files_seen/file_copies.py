"""Copies files that the user changed during the run, before the script overwrites them.

So a user who saves a file while the training runs does not lose it.
"""

from __future__ import annotations

import os
from stat import S_ISLNK, S_ISREG

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Optional

_open, _read, _write, _close = os.open, os.read, os.write, os.close
_lstat, _readlink = os.lstat, os.readlink
"""Ours: a script may replace them."""
MOST_BYTES = 16 << 20
"""Of one file that is copied. What a person saves meanwhile is smaller."""
MOST_PATHS = 10_000
_AT_ONCE = 1 << 20
_PER_PROCESS = 1_000_000
"""More than the copies of one process: a copy is named by a number of its own."""


class Copies:
    """Make copies in `folder` of files that the script is about to overwrite.

    inside  the working directory: only files below it are copied
    own     folders of reprocheck, whose files are not copied
    began   start of the run, in Unix seconds; infinite if nobody else works in the folder
    """

    def __init__(self, folder: str, inside: str, own: tuple[str, ...], began: float) -> None:
        self.folder, self.inside, self.own, self.began = folder, inside, own, began
        self.asked: set[str] = set()
        self.count = 0

    def copy(self, path: str) -> Optional[int]:
        """Copy a file that is about to be written to, if somebody changed it during the run.

        Return the number of the copy, 0 if no copy is needed, and None if the path was asked for
        before.
        """
        if self.began == float("inf") or path in self.asked or len(self.asked) >= MOST_PATHS:
            return None
        self.asked.add(path)
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if not path.startswith(self.inside) or path.startswith(self.own):
            return None
        try:
            facts = _lstat(path)
            is_file = S_ISREG(facts.st_mode) and 0 < facts.st_size <= MOST_BYTES
            if facts.st_ctime < self.began or not (is_file or S_ISLNK(facts.st_mode)):
                return 0
            if not self.count:
                try:
                    os.mkdir(self.folder)
                except FileExistsError:  # another process of the run made it
                    pass
            self.count += 1
            number = os.getpid() * _PER_PROCESS + self.count
            target = os.path.join(self.folder, str(number))
            if is_file:
                _copy(path, target)
            else:
                os.symlink(_readlink(path), target)
        except OSError:  # nothing stands there; there is no space; the script removed our folder
            return 0
        return number

    def rename(self, source: str, target: str) -> None:
        """Note that a file is renamed, so that the new path may need a copy again."""
        if source not in self.asked:
            self.asked.discard(target)


def _copy(source: str, target: str) -> None:
    reading = _open(source, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        writing = _open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            data = _read(reading, _AT_ONCE)
            while data:
                _write(writing, data)
                data = _read(reading, _AT_ONCE)
        finally:
            _close(writing)
    finally:
        _close(reading)
