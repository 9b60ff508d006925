"""Contents of files, one after the other in one file: what stood in the working directory."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

SMALL = 1 << 16
"""Files up to this size are copied, also where the file system could share their blocks."""
FICLONERANGE = 0x4020940D
_AT_ONCE = 1 << 20


class Pack:
    """A file without a buffer, to whose end contents are added.

    limit  bytes that are copied at most, if the file system cannot share them
    """

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._file = file
        self._left = limit
        self._can_share = True
        self._block = os.fstatvfs(file.fileno()).f_bsize

    def add(self, path: Path, size: int) -> int | None:
        """Append a regular file and return the offset of its content.

        None if it is too large to be copied.

        Raises OSError if it cannot be read, its size has changed, or there is no space.
        """
        with _opened(path) as source:
            if self._can_share and (size > SMALL or size > self._left):
                offset = self._shared(source, size)
                if offset is not None:
                    return offset
                self._can_share = False
            if size > self._left:
                return None
            self._left -= size
            return self._copied(source, size)

    def _shared(self, source: BinaryIO, size: int) -> int | None:
        """Share the blocks of a file; return None if the file system cannot."""
        from fcntl import ioctl
        from struct import pack

        end = self._file.seek(0, os.SEEK_END)
        offset = -(-end // self._block) * self._block
        try:
            ioctl(self._file.fileno(), FICLONERANGE, pack("qQQQ", source.fileno(), 0, 0, offset))
        except OSError:
            return None
        if self._file.seek(0, os.SEEK_END) != offset + size:
            self._file.truncate(end)
            raise OSError("the file is being written")
        return offset

    def _copied(self, source: BinaryIO, size: int) -> int:
        offset = self._file.seek(0, os.SEEK_END)
        try:
            copy_part(source, self._file, 0, size)
            if os.pread(source.fileno(), 1, size):
                raise OSError("the file is being written")
        except OSError:
            self._file.truncate(offset)
            raise
        return offset


def copy_part(source: BinaryIO, target: BinaryIO, offset: int, size: int) -> None:
    """Append a part of a file to another one; both are open without a buffer.

    File systems that can share blocks do so for whole ones. OSError where `source` is too short, or
    the part cannot be written.
    """
    done = 0
    while done < size:
        try:
            copied = os.copy_file_range(
                source.fileno(), target.fileno(), size - done, offset_src=offset + done
            )
        except OSError:  # not between these two; where the disk is full, writing says so as well
            copied = 0
        if not copied:
            data = os.pread(source.fileno(), min(size - done, _AT_ONCE), offset + done)
            copied = os.write(target.fileno(), data)
        if not copied:
            raise OSError("the file is being written")
        done += copied


def _opened(path: Path) -> BinaryIO:
    """Open a regular file; raise OSError if something else has taken its place."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is no regular file")
    return open(descriptor, "rb", buffering=0)  # noqa: PTH123 - a descriptor has no path
