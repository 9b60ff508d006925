"""Opens files of a run only if they are regular files.

A script can put a pipe in the place of a file, and reading would wait for ever. Somebody who sends
a recording can put a link there, and the file behind the link would be shown in a report.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


class NotRegularError(OSError):
    """Report a folder, link, pipe, socket or device in the place of a file that is to be read."""


def open_regular(path: Path, *, buffer: int = -1) -> BinaryIO:
    """Open a regular file for reading.

    Raises NotRegularError for any other kind of file, and OSError if the file cannot be opened.

    buffer  number of bytes that are read at once
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
