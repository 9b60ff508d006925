"""Records the size, time and hash of each file that a process reads, at its first opening.

With these, the inputs of two runs of a pair can be compared. The hash of a large file is that of
some blocks, spread over the file, because weights that were made anew differ everywhere. Only a
limited number of files and bytes is read, to keep the cost low.
"""

from __future__ import annotations

import os
import stat
import sys

from ..process import user_files

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

MOST_FILES, SMALL, MOST_HASHED = 400, 1 << 18, 1 << 24
"""Files that are told of; bytes of one above which blocks of it are hashed, and of all together."""
BLOCKS, BLOCK = 16, 1 << 12
"""Blocks of a large file that are hashed, the first and the last among them, and the bytes of
one.
"""
CODE = (".py", ".pyc", ".so", ".pth", ".egg-link")
SYSTEM = ("/etc/", "/usr/", "/lib/", "/lib64/", "/bin/", "/run/", "/var/lib/")

_open, _read, _pread, _close, _stat = os.open, os.read, os.pread, os.close, os.stat


class Inputs:
    """The files that a process has read, each recorded once."""

    def __init__(self, recorder: Any) -> None:
        self._recorder = recorder
        self._seen: set[str] = set()
        self._left = MOST_HASHED
        library = os.path.dirname(os.path.abspath(os.__file__))
        self._foreign = (*SYSTEM, *(os.path.join(folder, "") for folder in (library, sys.prefix)))
        own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        self._not_users = (*self._foreign, os.path.join(own, ""))
        self._inside = user_files.folder_of(recorder)

    def read(self, path: str, name: str) -> None:
        """Record a file at `path` that is opened to be read; `name` is its name in the trace."""
        if path in self._seen or len(self._seen) >= MOST_FILES or self._is_foreign(path):
            return
        self._seen.add(path)
        try:
            state = _stat(path)
        except OSError:
            return
        if not stat.S_ISREG(state.st_mode):
            return  # a pipe would give what it holds to us
        size, time = state.st_size, state.st_mtime_ns / 1e9
        event: dict[str, Any] = {"e": "input", "p": name, "s": size, "t": time}
        line = self.line()
        if line:
            event["l"] = line
        if user_files.imports_a_library(*self._asking()):
            event["i"] = True
        blocks, cost = _whole, size
        if size > SMALL:
            blocks, cost = _spread, BLOCKS * BLOCK
        if cost <= self._left:
            self._left -= cost
            event["h"] = _hash(path, blocks)
        self._recorder.emit(event)

    def line(self) -> str:
        """Return `file:line` of the innermost frame of the user's code; "" where there is none."""
        return user_files.innermost_line(*self._asking())

    def _asking(self) -> Any:
        """Return the arguments of `user_files.innermost_line`, for the present frame."""
        return sys._getframe(2), self._inside, self._not_users, self._recorder.masked

    def _is_foreign(self, path: str) -> bool:
        if path.endswith(CODE) or path.startswith(self._foreign):
            return True
        return any(part in path for part in user_files.INSTALLED)


def _hash(path: str, blocks: Callable[[int], Iterator[bytes]]) -> str:
    """Return the hash of the blocks of a file that `blocks` yields."""
    from hashlib import blake2b

    digest = blake2b(digest_size=16)
    number = _open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for block in blocks(number):
            digest.update(block)
    finally:
        _close(number)
    return digest.hexdigest()


def _whole(number: int) -> Iterator[bytes]:
    """Yield all blocks of a small file."""
    return iter(lambda: _read(number, 1 << 16), b"")


def _spread(number: int) -> Iterator[bytes]:
    """Yield blocks at equal distances in a large file."""
    size = os.fstat(number).st_size
    for block in range(BLOCKS):
        yield _pread(number, BLOCK, (size - BLOCK) * block // (BLOCKS - 1))
