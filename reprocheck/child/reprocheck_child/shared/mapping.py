"""Maps blocks of a file into shared memory, so that stored values outlive the process.

Storing a value needs no system call.

The mapping is made through the C library, because the module `mmap` would keep a descriptor open.
Blocks are allocated beforehand, so that a full disk is an error here and never a fault in the
script.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BLOCK = 1 << 16
"""Blocks begin at multiples of it, and are as long or some times as long."""
_PAGE = 4096
_READ_WRITE, _SHARED = 3, 1
_made: list[Any] = []

_open, _close, _allocate, _truncate = os.open, os.close, os.posix_fallocate, os.truncate


def cut_off(path: str, length: int) -> None:
    """Cut a file to its first `length` bytes.

    If the script removed the file, there is nothing to cut, and readers stop at zero bytes anyway.
    """
    try:
        _truncate(path, length)
    except OSError:
        pass


def _library() -> Any:
    """Return the C library with the types of the called functions, made once.

    `functools.cache` is not used, because the script would find one more module imported.
    """
    import ctypes

    if _made:
        return _made[0]
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        *[ctypes.c_int] * 3,
        ctypes.c_long,
    ]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    _made.append(library)
    return library


class Block:
    """Map a part of a file: `size` bytes from the offset `base` on, as the memory view `bytes`.

    Raises OSError if the part cannot be mapped.
    """

    def __init__(self, path: str, base: int, size: int) -> None:
        import ctypes

        library = _library()
        descriptor = _open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            _allocate(descriptor, base, size)
            address = library.mmap(None, size, _READ_WRITE, _SHARED, descriptor, base)
        finally:
            _close(descriptor)
        if not address or address % _PAGE:
            raise OSError("no shared mapping")
        self._unmap, self._address, self.size = library.munmap, address, size
        self.bytes: Any = memoryview((ctypes.c_char * size).from_address(address)).cast("B")

    def release(self) -> None:
        """Unmap the block, when nothing holds a view of its memory any longer."""
        self.bytes = None
        self._unmap(self._address, self.size)
