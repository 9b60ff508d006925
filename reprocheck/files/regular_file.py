"""Files of a run are read only where they are regular files. A script can put a pipe in their
place, which would be waited for for ever; whoever sends a recording can put a link there, and what
it leads to on this machine would stand in a report.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


class NotRegularError(OSError):
    """A folder, link, pipe, socket or device stands where a file is to be read."""


def open_regular(path: Path, *, buffer: int = -1) -> BinaryIO:
    """Open a regular file for reading; `buffer`: bytes that are read at once.

    NotRegularError where it is none, OSError where it cannot be opened.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotRegularError(errno.ELOOP, "It is a link", str(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegularError(errno.EINVAL, "It is no regular file", str(path))
    return open(descriptor, "rb", buffering=buffer)  # noqa: PTH123 - a descriptor has no path
