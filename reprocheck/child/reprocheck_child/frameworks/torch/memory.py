"""Reads the memory of tensors as Python does."""

import ctypes
from typing import Any

READ = 0x100  # PyBUF_READ
view = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int)(
    ("PyMemoryView_FromMemory", ctypes.pythonapi)
)
"""`view(address, size, READ)` is `memory` for those who are called with each tensor."""


def memory(address: int, size: int) -> Any:
    """Return `size` bytes at the address `address`, without a copy.

    The result must be dropped before the tensor that owns the memory.
    """
    return view(address, size, READ) if size else b""


LONG = 1 << 16
"""Bytes from which on a tensor is long: it is looked at before it is read again."""


def samples(address: int, size: int) -> bytes:
    """Return about 32 words, spread over the `size` bytes of a long tensor at `address`."""
    words: bytes = view(address, size & -8, READ).cast("Q")[:: size >> 8].tobytes()
    return words
