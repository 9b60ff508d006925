"""Samples of the clock and of memory, at ever rarer iterations of a process.

A training of 1,000 iterations has 44 of them: what one costs is nothing beside the training.
"""

from __future__ import annotations

import sys
from posix import O_CLOEXEC, O_RDONLY, close, open as _open, read
from time import perf_counter

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any

_EACH = 8
"""So many of the first iterations are all sampled, and one of an eighth more from there on."""
_BACKENDS = ("cuda", "npu")
_MEMORY = {b"VmRSS:": "m", b"VmHWM:": "p"}


def after(iteration: int) -> int:
    """Return the next iteration that is sampled."""
    return iteration + 1 + iteration // _EACH


def sample(iteration: int) -> dict[str, Any]:
    """Return the event of a sample: the clock, memory now and at most, that of the device.

    iteration  the one that ends now; 0 at the end of the process, whose time is no iteration's
    """
    event: dict[str, Any] = {"e": "sample", "i": iteration}
    if iteration:
        event["t"] = perf_counter()
    try:
        event.update(_of_process())
        event.update(_of_device())
    except Exception:  # no /proc, no descriptor left, a framework that is half imported
        pass
    return event


def _of_process() -> dict[str, int]:
    descriptor = _open("/proc/self/status", O_RDONLY | O_CLOEXEC)
    try:
        content = read(descriptor, 4096)
    finally:
        close(descriptor)
    found = {}
    for line in content.splitlines():
        name, _, size = line.partition(b"\t")
        if name in _MEMORY:
            found[_MEMORY[name]] = 1024 * int(size.split()[0])
    return found


def _of_device() -> dict[str, int]:
    """Return the most memory that torch had of its device; its counter asks no device."""
    torch = sys.modules.get("torch")
    for name in _BACKENDS:
        backend = getattr(torch, name, None)
        if backend is not None and backend.is_initialized():
            return {"d": int(backend.max_memory_allocated())}
    return {}
