"""Report what a check was doing when the system refused something.

As an error for the user: what was done, to which file, and why not.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from reprocheck.errors import ReportError

_NO_SPACE = "Free some space there, or name another folder with --output."
_NO_PERMISSION = "Allow it to be read and written, or name another folder with --output."
_NO_DESCRIPTORS = "Allow more open files (`ulimit -n`), and start the check again."
_NO_PROCESSES = "The system has no room for another process. End some, or allow more (`ulimit -u`)."
_GONE = (
    "It was removed or replaced meanwhile: check whether the script does that, and start the check"
    " again."
)
_ELSE = "Start the check again; if it fails again, name another folder with --output."

ADVICE: Mapping[int, str] = {
    errno.ENOSPC: _NO_SPACE,
    errno.EDQUOT: _NO_SPACE,
    errno.EACCES: _NO_PERMISSION,
    errno.EPERM: _NO_PERMISSION,
    errno.EROFS: _NO_PERMISSION,
    errno.EMFILE: _NO_DESCRIPTORS,
    errno.ENFILE: _NO_DESCRIPTORS,
    errno.EAGAIN: _NO_PROCESSES,
    errno.ENOMEM: _NO_PROCESSES,
    errno.ENOENT: _GONE,
    errno.ENOTDIR: _GONE,
    errno.EISDIR: _GONE,
}


@contextmanager
def operation(doing: str) -> Iterator[None]:
    """Turn an OSError into a ReportError that names what was done, the file and the reason.

    `doing`: what is done in the `with` block, such as `starting run 1`.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        files = " and ".join(
            str(name) for name in (error.filename, error.filename2) if name is not None
        )
        where = f" ({files})" if files else ""
        message = f"The check failed while {doing}: {reason}{where}."
        raise ReportError(message, ADVICE.get(error.errno or 0, _ELSE)) from error
