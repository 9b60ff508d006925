"""The file that a process writes its trace to.

It takes one `os.write` a line at first, and is a shared mapping once the process trains.

A line in a shared mapping survives the process however that ends, without a system call (a write
costs a training step 40 µs when the caches are cold) and without a descriptor that the script could
close. What is not used yet are zero bytes, which readers stop at and `close` cuts off. Where a file
system has no shared mappings, lines are written.
"""

from __future__ import annotations

import fcntl
import os

from ..shared.mapping import BLOCK, Block, cut_off

DESCRIPTOR_FROM = 700
"""File descriptors of traces start here, so that the script's own get the numbers that they get
without a recorder.
"""

_open, _write, _close, _fstat = os.open, os.write, os.close, os.fstat
_control = fcntl.fcntl


class TraceFile:
    """Write lines to the file at `path`, which is made with the first line.

    Not safe in threads by itself.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._length = 0  # bytes before the mapping
        self._block: Block | None = None  # the mapping, the first `_used` bytes of which hold lines
        self._used = 0
        self._mapped = False
        self._file = (-1, -1, -1)  # descriptor, device, inode

    def write(self, line: bytes) -> None:
        """Append a line; raises OSError where the disk is full or the folder is gone."""
        end = self._used + len(line)
        if self._block is not None and end <= self._block.size:
            self._block.bytes[self._used : end] = line
            self._used = end
        elif self._mapped and self._grow(len(line)):
            self.write(line)
        else:
            descriptor, written = self._descriptor(), 0
            try:
                while written < len(line):
                    written += _write(descriptor, line[written:])
            except OSError:
                if written:
                    cut_off(self.path, self._length)
                raise
            self._length += written

    def map(self) -> None:
        """Write lines into a shared mapping from now on."""
        self._mapped = True

    def close(self) -> None:
        """Cut off the unused end of the file; later lines are written, not mapped."""
        self._unmap()
        self._mapped = False
        if self._length:
            cut_off(self.path, self._length)

    def _grow(self, needed: int) -> bool:
        """Map the next blocks of the file; return False, and never map again, if that fails."""
        try:
            # not cut off before: on a busy disk that takes as long as a step
            self._unmap()
            base = self._length // BLOCK * BLOCK
            self._block = Block(
                self.path, base, (self._length - base + needed) // BLOCK * BLOCK + BLOCK
            )
            self._used, self._length = self._length - base, base
            return True
        except OSError:
            self.close()
            return False

    def _unmap(self) -> None:
        if self._block is not None:
            self._length += self._used
            self._block.release()
            self._block, self._used = None, 0

    def _descriptor(self) -> int:
        """Return the descriptor for writing.

        It is opened again where a daemon closed it or its number now names another file.
        """
        descriptor, device, inode = self._file
        try:
            status = _fstat(descriptor)
            if status.st_ino == inode and status.st_dev == device:
                return descriptor
        except OSError:
            pass
        low = _open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            descriptor = int(_control(low, fcntl.F_DUPFD_CLOEXEC, DESCRIPTOR_FROM))
            _close(low)
        except OSError:
            descriptor = low
        status = _fstat(descriptor)
        self._file = (descriptor, status.st_dev, status.st_ino)
        return descriptor
