"""Stops the process early: output is flushed, then the process ends at once.

An exception would be swallowed by a bare `except`, and would make another rank abort in a
collective; `os._exit` does neither. With several ranks each leaves a mark when it begins to train
and one at its stop, and waits (bounded) until all that train on this machine have come to theirs,
so that none leaves a collective half done. Ranks of other machines leave their marks elsewhere: for
them it waits a second.
"""

from __future__ import annotations

import os
import sys
from time import monotonic, sleep

from ..process import origin

_exit, _kill, _listdir, _open, _read, _close, _getpid = (
    os._exit,
    os.kill,
    os.listdir,
    os.open,
    os.read,
    os.close,
    os.getpid,
)
_TRAINS, _MARK = "training-", "stopped-"
_LONGEST, _READ = 300, 4096
_ELSEWHERE = 1.0
"""Seconds for ranks of other machines: each stops at the same iteration, and may have a part of its
last collective before it.
"""


def leave(folder: str, world: tuple[int | None, int], wait: float) -> None:
    """End this process with status 0 once every rank of this machine has reached its stop.

    wait  seconds to wait for the other ranks at most
    """
    rank, size = world
    if rank is not None and size > 1:
        mark(folder, rank)
        _wait_for_others(folder, size, monotonic() + wait)
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()  # type: ignore[union-attr]
        except Exception:
            pass
    # they would outlive this process for seconds, and their tracebacks say nothing
    processes = sys.modules.get("multiprocessing.process")
    for child in list(getattr(processes, "_children", ())):
        try:
            _kill(child.pid, 9)
        except Exception:
            pass
    _exit(0)


def trains(folder: str, world: tuple[int | None, int]) -> None:
    """Tell the other ranks that this rank has begun to train, so that they wait for it."""
    if world[0] is not None and world[1] > 1:
        leave_mark(os.path.join(folder, "%s%d-%d" % (_TRAINS, world[0], _getpid())))


def mark(folder: str, rank: int | None) -> None:
    """Tell the other ranks that this rank has reached its stop or its end."""
    leave_mark(os.path.join(folder, _MARK + str(rank)))


def uncaught() -> BaseException | None:
    """Return the exception that ended the script; None for a normal end or a `SystemExit`."""
    # `last_exc` is new in Python 3.12, which still sets the older name, too
    return getattr(sys, "last_value", None)


def in_one_line(error: BaseException) -> str:
    """Return the name of an exception and the first line of its message."""
    name = type(error).__name__
    try:
        line = name + ": " + str(error).strip().partition("\n")[0]
    except Exception:
        return name
    return line[:_READ].removesuffix(": ")


def cut(text: str) -> str:
    """Return a text shortened to the length that a report quotes, with a sign at the cut."""
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _wait_for_others(folder: str, size: int, deadline: float) -> None:
    here = origin.ranks_here()
    while monotonic() < deadline:
        try:
            names = _listdir(folder)
        except OSError:
            return
        arrived = set(_after(_MARK, names))
        training = [name.partition("-") for name in _after(_TRAINS, names)]
        dead = {rank for rank, _, pid in training if rank not in arrived and not _alive(pid)}
        gone = arrived | dead
        if len(gone) >= here and gone.issuperset(rank for rank, _, _ in training):
            if len(arrived) < size:
                sleep(min(_ELSEWHERE, max(0.0, deadline - monotonic())))
            return
        sleep(0.005)


def _after(mark: str, names: list[str]) -> list[str]:
    """Return the rest of the names of files that begin with a mark."""
    return [name[len(mark) :] for name in names if name.startswith(mark)]


def _alive(pid: str) -> bool:
    """Return whether a process of this machine still runs.

    A process that has ended does not, even before its parent process has waited for it.
    """
    try:
        descriptor = _open("/proc/%s/stat" % pid, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return _read(descriptor, 4096).rpartition(b")")[2].split()[0] not in (b"Z", b"X")
        finally:
            _close(descriptor)
    except (OSError, IndexError):
        return False


def leave_mark(path: str) -> None:
    """Make an empty marker file; ignore a failure."""
    try:
        _close(_open(path, os.O_WRONLY | os.O_CREAT, 0o644))
    except OSError:
        pass
