"""The early stop: output is flushed, then the process ends at once.

An exception would be swallowed by a bare `except`, and would make another rank abort in a collective; `os._exit` does neither. With
several ranks on this machine each leaves a mark and waits (bounded) until all have, so that none leaves a collective half done.
"""

from __future__ import annotations

import os
import sys
from time import monotonic, sleep

_exit, _kill, _listdir, _open, _close = os._exit, os.kill, os.listdir, os.open, os.close
_MARK = "stopped-"


def leave(folder: str, world: tuple[int | None, int], wait: float) -> None:
    """End this process with status 0 once every rank of this machine has come to its stop, or after `wait` seconds."""
    rank, size = world
    local = os.environ.get("LOCAL_WORLD_SIZE", "")
    ranks = int(local) if local.isdigit() else size
    if rank is not None and ranks > 1:
        mark(folder, rank)
        deadline = monotonic() + wait
        while sum(name.startswith(_MARK) for name in _listdir(folder)) < ranks and monotonic() < deadline:
            sleep(0.005)
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()  # type: ignore[union-attr]
        except Exception:
            pass
    _end_workers()
    _exit(0)


def mark(folder: str, rank: int | None) -> None:
    """Tell the other ranks that this one has come to its stop or its end."""
    try:
        _close(_open(os.path.join(folder, _MARK + str(rank)), os.O_WRONLY | os.O_CREAT, 0o644))
    except OSError:
        pass


def _end_workers() -> None:
    """Data workers would outlive this process for seconds: end those that `multiprocessing` knows, without their tracebacks."""
    processes = sys.modules.get("multiprocessing.process")
    for child in list(getattr(processes, "_children", ())):
        try:
            _kill(child.pid, 9)
        except Exception:
            pass
