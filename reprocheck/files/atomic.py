"""Writes a file in one step: a reader sees the old content or the new content, never a part."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path, *, mode: int | None = None) -> Iterator[BinaryIO]:
    """Yield a binary file that replaces `path` when the `with` block ends.

    If the block raises, `path` is as before and no temporary file is left. The file gets the given
    permissions, or those that the user's umask leaves. Raises OSError.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.absolute().parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        if mode is None:
            mode = 0o666 & ~_umask()
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def put(path: Path, data: bytes) -> None:
    """Write a file that the user has named, in one step and with the permissions of the old file.

    A path that is no regular file (`/dev/stdout`, a pipe) or is a link is written into directly.
    Raises OSError.
    """
    in_one_step = not path.is_symlink() and (path.is_file() or not path.exists())
    if not in_one_step or not os.access(path.absolute().parent, os.W_OK):
        path.write_bytes(data)
        return
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    with replacing(path, mode=mode) as file:
        file.write(data)


def try_to_put(path: Path) -> None:
    """Check that `put` will be able to write a file, and leave no trace. Raises OSError."""
    is_new = not path.exists() and not path.is_symlink()
    with path.open("ab"):
        pass
    if is_new:
        path.unlink()


def _umask() -> int:
    """Return the umask of this process.

    The umask is read from /proc, because the system call can only read the umask by setting it,
    which other threads would notice. Without /proc the system call is used.
    """
    with suppress(OSError, ValueError, IndexError):
        status = Path("/proc/self/status").read_text()
        return int(status.partition("\nUmask:")[2].split()[0], 8)
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
