"""Pauses Python's garbage collector while many facts are read and compared.

The facts form no reference cycles, and the collector would visit them again and again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Pause the garbage collector within the `with` block; afterwards the collector is as
    before.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
