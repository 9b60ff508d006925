"""Which files of the working directory a process opens, from the interpreter's own audit events.

An audit hook sees every opening through Python, whoever imported `open` before and whatever a script replaces it with; it changes
neither. Files that C++ code opens by itself are not seen.
"""

from __future__ import annotations

import os
import sys
from time import time_ns

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Mapping

LIMIT = 10_000
_ignored_names = ("__pycache__", ".git")


def watch(recorder: Any, settings: Mapping[str, Any]) -> None:
    """Emit `open` for the first opening of each file below `settings["workdir"]` in each mode, up to LIMIT files."""
    workdir = settings.get("workdir")
    if workdir:
        sys.addaudithook(_hook(recorder, str(workdir), str(settings.get("output") or recorder.folder)))


def _hook(recorder: Any, workdir: str, output: str) -> Any:
    inside, own = os.path.join(workdir, ""), os.path.join(output, "")
    seen: dict[tuple[str, str], None] = {}
    busy: set[int] = set()
    now = time_ns
    getcwd, join, normalise, fspath, thread = os.getcwd, os.path.join, os.path.normpath, os.fspath, recorder.thread

    def record(path: Any, mode: Any, flags: Any) -> None:
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str) or path.endswith((".py", ".pyc")):
            return
        path = normalise(path if path.startswith("/") else join(getcwd(), fspath(path)))
        if not path.startswith(inside) or path.startswith(own):
            return
        kind = _mode(mode, flags)
        if (path, kind) in seen or len(seen) >= LIMIT:
            return
        seen[(path, kind)] = None
        relative = path[len(inside) :]
        if not any(part in _ignored_names for part in relative.split("/")):
            recorder.emit({"e": "open", "p": relative, "m": kind, "time": now() / 1e9})

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open":
            return
        me = thread()
        if me in busy:
            return
        busy.add(me)
        try:
            record(*arguments)
        except Exception as error:
            recorder.problem("watching files", error)
        finally:
            busy.discard(me)

    return hook


def _mode(mode: Any, flags: Any) -> str:
    """`r`, `w` or `a` from the arguments of an `open` audit event; a file opened for update counts as read."""
    if isinstance(mode, str):
        return "a" if "a" in mode else "w" if "w" in mode or "x" in mode else "r"
    if flags & os.O_APPEND:
        return "a"
    return "w" if flags & (os.O_TRUNC | os.O_EXCL) or (flags & os.O_ACCMODE) == os.O_WRONLY else "r"
