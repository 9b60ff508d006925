"""Processes that carry a mark in their environment, whatever session or parent they have: what is
left of something that was started with it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

LOOK_AGAIN = 0.02


def marked(name: str, value: str) -> Iterator[int]:
    """The living processes whose environment holds `NAME=VALUE`."""
    wanted = f"{name}={value}".encode()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and wanted in _read(folder.name, "environ").split(b"\0"):
            yield int(folder.name)


def left_after(name: str, value: str, patience: float) -> tuple[str, ...]:
    """The command lines of those that are still there after so many seconds; () as soon as there is
    none.
    """
    end = time.monotonic() + patience
    while alive := list(marked(name, value)):
        if time.monotonic() > end:
            return tuple(map(command_line, alive))
        time.sleep(LOOK_AGAIN)
    return ()


def command_line(number: int) -> str:
    """The words of a process, as one text; "" where it is gone."""
    return _read(str(number), "cmdline").replace(b"\0", b" ").decode("utf-8", "replace").strip()


def state_of(number: int) -> str:
    """The state of a process, one letter: T is stopped, Z has ended; "" where it is gone."""
    fields = _read(str(number), "stat").rpartition(b")")[2].split()
    if not fields:
        return ""
    return fields[0].decode()


def _read(entry: str, name: str) -> bytes:
    try:
        return Path("/proc", entry, name).read_bytes()
    except OSError:
        return b""
