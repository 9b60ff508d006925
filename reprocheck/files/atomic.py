"""Writing a file in one step: whoever reads sees the old content or the new one, never a part of
it.
"""

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
    """Open a binary file that takes the place of `path` when the block ends.

    It has these permissions or those that the user's umask leaves.

    Where the block raises, `path` is as it was and nothing is left beside it. Raises OSError.
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
    """Write a file that the user has named: its place is taken in one step, with the permissions
    that it has. What is no file (`/dev/stdout`, a pipe) or is reached by a link is written into.

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
    """Whether `put` can write it later, without a trace of having tried. Raises OSError."""
    is_new = not path.exists() and not path.is_symlink()
    with path.open("ab"):
        pass
    if is_new:
        path.unlink()


def _umask() -> int:
    """Return the umask of this process.

    It can be asked for only by setting it, which other threads would see, but where there is /proc.
    """
    with suppress(OSError, ValueError, IndexError):
        status = Path("/proc/self/status").read_text()
        return int(status.partition("\nUmask:")[2].split()[0], 8)
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
