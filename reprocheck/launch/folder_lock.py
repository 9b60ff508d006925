"""Allow one check at a time in a folder of the user's.

Of two whose runs overwrite the same file, the one that ends last would put back what the other
one's runs had written.

The claim is a lock on the folder itself. The guards of the runs hold it too, so that it lasts until
the files are put back, also where this process is killed.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reprocheck.launch.run.variables import TRACE

_held: list[int] = []


def held() -> tuple[int, ...]:
    """Return the descriptors of the claims of this process."""
    return tuple(_held)


@contextmanager
def alone_in(folder: Path, *, shared: bool, waits: Callable[[], object]) -> Iterator[None]:
    """Lock a folder; wait if another check is under way in it.

    Its runs would change the same files.

    shared  whether the lock may be shared with checks whose runs each work in a copy, too
    waits   called before waiting
    A check started by a run of another check does not wait, nor does one on a file system without
    locks.
    """
    if TRACE in os.environ:
        yield
        return
    how = fcntl.LOCK_EX
    if shared:
        how = fcntl.LOCK_SH
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # OSError where the file system has no locks
        with suppress(OSError):
            try:
                fcntl.flock(descriptor, how | fcntl.LOCK_NB)
            except BlockingIOError:
                waits()
                fcntl.flock(descriptor, how)
        _held.append(descriptor)
        yield
    finally:
        _held[:] = [other for other in _held if other != descriptor]
        os.close(descriptor)
