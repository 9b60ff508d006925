"""Reads the memory of tensors as Python does."""

import ctypes
from typing import Any

_view = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int)(
    ("PyMemoryView_FromMemory", ctypes.pythonapi)
)


def memory(address: int, size: int) -> Any:
    """Return `size` bytes at the address `address`, without a copy.

    The result must be dropped before the tensor that owns the memory.
    """
    return _view(address, size, 0x100) if size else b""  # PyBUF_READ
