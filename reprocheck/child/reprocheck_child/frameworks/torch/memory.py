"""Memory of tensors as Python reads it."""

import ctypes
from typing import Any

_READ = 0x100  # PyBUF_READ
_view = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int)(
    ("PyMemoryView_FromMemory", ctypes.pythonapi)
)


def memory(address: int, size: int) -> Any:
    """`size` bytes from an address on, without a copy. Drop it before the tensor."""
    return _view(address, size, _READ) if size else b""
