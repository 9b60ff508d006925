"""The file that a process writes its trace to: one `os.write` a line at first, a shared mapping once it trains.

A line in a shared mapping is in the file as soon as it is copied: it survives the process however that ends, without a system call (a write
costs a training step 40 µs when the caches are cold) and without a descriptor that the script could close. The file grows by
blocks that are allocated beforehand, so a full disk is an error here and never a fault in the script; what is not used
yet are zero bytes, which readers stop at and `close` cuts off. Where a file system has no shared mappings, lines are written.
"""

from __future__ import annotations

import fcntl
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DESCRIPTOR_FROM = 700
"""File descriptors of traces start here, so that the script's own get the numbers that they get without a recorder."""
BLOCK = 1 << 16
PAGE = 4096
PROT_READ_WRITE, MAP_SHARED = 3, 1

_open, _write, _close, _fstat, _truncate, _allocate = os.open, os.write, os.close, os.fstat, os.truncate, os.posix_fallocate
_control = fcntl.fcntl


class TraceFile:
    """Appends lines to `path`, which is made with the first of them. Not safe in threads by itself."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._length = 0  # bytes before the mapping
        self._view: Any = None  # the mapping, `_size` bytes of which `_used` hold lines
        self._size = self._used = 0
        self._address = 0
        self._map: Any = None  # (mmap, munmap) of the C library once lines are mapped
        self._file = (-1, -1, -1)  # descriptor, device, inode

    def write(self, line: bytes) -> None:
        """Append a line; raises OSError where the disk is full or the folder is gone."""
        end = self._used + len(line)
        if end <= self._size:
            self._view[self._used : end] = line
            self._used = end
        elif self._map is None or not self._grow(len(line)):
            _write(self._descriptor(), line)
            self._length += len(line)
        else:
            self.write(line)

    def map(self) -> None:
        """From now on, lines go into a shared mapping."""
        if self._map is None:
            import ctypes

            library = ctypes.CDLL(None, use_errno=True)
            library.mmap.restype = ctypes.c_void_p
            library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
            library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
            self._map = (library.mmap, library.munmap, ctypes.c_char)

    def close(self) -> None:
        """Cut off what was allocated and not used; later lines are written, not mapped."""
        if self._size:
            self._unmap()
        self._map = None

    def _grow(self, needed: int) -> bool:
        """Map the next blocks of the file; False, for good, where that cannot be done."""
        mmap, _, char = self._map
        try:
            self._unmap()
            base = self._length // BLOCK * BLOCK
            size = (self._length - base + needed) // BLOCK * BLOCK + BLOCK
            descriptor = _open(self.path, os.O_RDWR | os.O_CLOEXEC)
            try:
                _allocate(descriptor, base, size)
                address = mmap(None, size, PROT_READ_WRITE, MAP_SHARED, descriptor, base)
            finally:
                _close(descriptor)
            if not address or address % PAGE:
                raise OSError("no shared mapping")
            self._view = memoryview((char * size).from_address(address)).cast("B")
            self._address, self._size, self._used = address, size, self._length - base
            self._length = base
            return True
        except OSError:
            self.close()
            return False

    def _unmap(self) -> None:
        if self._size:
            self._length += self._used
            self._map[1](self._address, self._size)
            self._view, self._size, self._used = None, 0, 0
        if self._length:
            _truncate(self.path, self._length)

    def _descriptor(self) -> int:
        """The descriptor for writing; opened again where a daemon closed it or its number now names another file."""
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
