"""Limits how large the files of a recording may be.

A recording that a stranger made is read on the machine of whoever opens it. Each kind of file has a
limit, which is looked at before the file is read. In a zip a file may also not unpack to much more
than the file takes in the zip: real losses and facts hardly shrink to a tenth, while a zip bomb
shrinks to a thousandth.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
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


MIB = 1 << 20
FREE_WORK = MIB
VALUE, NO_EVENT = 8, 60
"""Bytes that a loss, and a line that is no event, are counted as: in a real trace a loss takes as
many, and an event of that size is read in the time of a line that is none.
"""
MOST_FILES = 40_000
"""In one recording: 1,024 ranks with data workers have about half as many traces."""
MOST_RANKS = 1 << 20
"""A world that says to be larger is not believed."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Describe a kind of file in a recording.

    most   bytes that one file may have, in a folder or unpacked from a zip
    free   bytes to which all files of this kind in a zip may unpack in any case
    ratio  further bytes to which the files may unpack, for each byte that they take in the zip
    """

    name: str
    pattern: re.Pattern[str]
    most: int
    free: int
    ratio: int


KINDS = (
    Kind("record", re.compile(r"(?:.*/)?(?:record|resume)\.json"), 64 * MIB, 4 * MIB, 20),
    Kind("source", re.compile(r"(?:.*/)?sources\.json"), 32 * MIB, 4 * MIB, 20),
    Kind("patch", re.compile(r"(?:.*/)?fix\.patch"), 16 * MIB, 4 * MIB, 20),
    Kind("settings", re.compile(r"(?:.*/)?recorder\.json"), MIB, 4 * MIB, 20),
    Kind("log", re.compile(r".*\.log"), 4096 * MIB, 64 * MIB, 100),
    Kind("losses", re.compile(r".*\.losses"), 1024 * MIB, 16 * MIB, 8),
    Kind("trace", re.compile(r".*\.jsonl"), 4096 * MIB, 16 * MIB, 25),
)
"""Losses are doubles, which hardly shrink; a column of one value is free up to two million of
them.
"""


class TooMuchError(OSError):
    """Report a file whose content takes more memory or time than its size explains.

    The rest of the file is not read.
    """


@dataclass(slots=True)
class Budget:
    """Count how much of a file may still be read, in bytes.

    The reader of a file counts each part with the bytes that such a part takes in a real recording.
    For a real file the sum is at most the size of the file; a hostile file with smaller parts is
    not read to its end.
    """

    name: str = ""
    left: int = FREE_WORK
    excess: str = ""
    """Of what there is too much; "" where nothing is."""

    def add(self, path: Path) -> None:
        """Allow as many further bytes as the file `path` has.

        Raises OSError if the file does not exist.
        """
        self.name = path.name
        self.left += path.stat().st_size

    def spend(self, count: int, cost: int, what: str) -> None:
        """Count parts that were read.

        count  number of parts
        cost   bytes of each part in a real recording
        what   what the parts are called in an error message, such as `losses`
        """
        self.left -= count * cost
        if self.left < 0:
            self.excess = self.excess or what

    def check(self) -> None:
        """Raise TooMuchError if more parts were counted than the sizes of the files explain."""
        if self.excess:
            raise TooMuchError(
                errno.EFBIG,
                f"{self.name} holds more {self.excess} than any recording of its size; the rest was"
                " not read. Do not use it, or ask whoever made it for another one",
            )


def kind_of(name: str) -> Kind | None:
    """Return the kind of a file by its name; None for a file that no recording holds."""
    return next((kind for kind in KINDS if kind.pattern.fullmatch(name)), None)


def too_large(path: Path) -> str:
    """Return a sentence that says why a file is too large to be read; "" if the file may be read.

    Raises OSError if the file does not exist.
    """
    kind = kind_of(path.name)
    size = path.stat().st_size
    if kind is None or size <= kind.most:
        return ""
    return (
        f"{path.name} has {size // MIB:,} MiB; a {kind.name} file of a recording has at most"
        f" {kind.most // MIB:,} MiB"
    )


def open_limited(path: Path, *, buffer: int = -1) -> BinaryIO:
    """Open a file of a recording, if it is a regular file and no larger than its kind allows.

    Raises OSError. `buffer` is the number of bytes that are read at once.
    """
    if why := too_large(path):
        raise OSError(errno.EFBIG, why)
    return open_regular(path, buffer=buffer)


def content(path: Path) -> bytes:
    """Return the content of a file of a recording.

    Raises OSError if the file is missing, is no regular file, or is larger than its kind allows.
    """
    with open_limited(path) as file:
        return file.read()


def whole(path: Path, most: int) -> bytes:
    """Return the content of a file. Raises OSError if the file has more than `most` bytes."""
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most // MIB:,} MiB")
    return content


def unpacked_too_large(files: Iterable[tuple[str, int, int]]) -> str:
    """Return a sentence that says why a zip is too large to be unpacked; "" if it may be unpacked.

    files  name, bytes when unpacked, and bytes in the zip of each file
    """
    unpacked = dict.fromkeys(KINDS, 0)
    packed = dict.fromkeys(KINDS, 0)
    for name, size, size_in_zip in files:
        kind = kind_of(name)
        if kind is None:
            continue
        if size > kind.most:
            return (
                f"{name} would unpack to {size // MIB:,} MiB; the limit is {kind.most // MIB:,} MiB"
            )
        unpacked[kind] += size
        packed[kind] += size_in_zip
    for kind in KINDS:
        allowed = kind.free + kind.ratio * packed[kind]
        if unpacked[kind] > allowed:
            sizes_text = (
                f"{unpacked[kind] // MIB:,} MiB of {kind.name} files from {packed[kind]:,} bytes"
            )
            return f"it would unpack to {sizes_text}, which no recording does"
    return ""
