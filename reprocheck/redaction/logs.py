"""The logs of runs: masked line by line, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from reprocheck.child.reprocheck_child.shared.masking import CREDENTIALS, mask
from reprocheck.child.reprocheck_child.shared.redaction import Redactor
from reprocheck.files.atomic import replacing
from reprocheck.files.regular_file import NotRegularError, open_regular

_LINE = 1 << 20
_BLOCK = 1 << 22
_SEAMS = (b" ", b"\r", b"\t", b",")
_NEAR = 4096
"""Bytes at the end of a line without end that are searched for a place to cut."""


def mask_log(path: Path, names: tuple[str, str, str], known: Sequence[str] = ()) -> int:
    """Take names and secrets out of a log, in place; `known` ones wherever they stand.

    Returns how many secrets were masked.
    """
    try:
        with open_regular(path) as source, replacing(path) as target:
            return mask_stream(source, target, *names, known)
    except (FileNotFoundError, NotADirectoryError, NotRegularError):
        # the script removed or replaced it
        return 0


def mask_stream(
    source: BinaryIO, target: BinaryIO, home: str, user: str, host: str, known: Iterable[str] = ()
) -> int:
    """Copy a log, masked line by line; a line of more than 1 MiB is taken in parts.

    Memory stays under 50 MB.

    `known`: secrets that are masked wherever they stand (`redaction.known_secrets`).
    Returns how many secrets and addresses were masked; names of home, user and host are not
    counted.
    """
    names = _as_latin(home, user, host)
    redactor = Redactor(_as_latin(*known))
    credentials = 0
    rest = b""
    while True:
        block = source.read(_BLOCK)
        data = rest + block
        cut = _whole_lines(data) if block else len(data)
        part, rest = data[:cut], data[cut:]
        before = part.count(CREDENTIALS.encode())
        hidden = mask(part.decode("latin-1"), *names)
        credentials += hidden.count(CREDENTIALS) - before
        target.write(redactor.text(hidden).encode("latin-1"))
        if not block:
            return redactor.count + credentials


def _whole_lines(data: bytes) -> int:
    """The end of the last line that is there to its end; within a line where that is too long."""
    end = data.rfind(b"\n") + 1
    if end or len(data) <= _LINE:
        return end
    # an endless line, such as a progress bar
    seam = max(data.rfind(mark, len(data) - _NEAR) for mark in _SEAMS)
    if seam < 0:
        return len(data)
    return seam + 1


def _as_latin(*names: str) -> tuple[str, ...]:
    """Names as they look in text that was decoded from UTF-8 bytes as Latin-1."""
    return tuple(name.encode("utf-8", "surrogateescape").decode("latin-1") for name in names)
