"""Records the files that a process opens and writes, from the interpreter's audit events.

An audit hook sees every file that Python opens, even if a script has imported `open` before or
replaced it. Files that C++ code opens are not seen, unless an adapter reports them.

Recorded is every file of the working directory that is read. Files elsewhere, and modules, are
recorded only if they changed since the first run of the pair began, because other data and
libraries are no state that a run can leave behind.
"""

from __future__ import annotations

import os
import sys
from time import time_ns

from ..process.own_variables import OwnVariables
from ..recorder.hooking import guarded
from .file_copies import Copies
from .input_hashes import CODE, Inputs

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, Mapping

_listdir, _readlink = os.listdir, os.readlink
"""Ours: a script may replace them before the end of its process."""
LIMIT = 10_000
IGNORED_NAMES = frozenset({"__pycache__", ".git"})
NO_FILES = ("/dev/", "/proc/", "/sys/")
LATE = 0.05
"""Seconds by which the clock of a file system may be late."""
NOWHERE = -1
"""A descriptor that an event does not have, and its place, behind all arguments: the path starts
from the working directory of the process.
"""
HOW = {"os.rename": "rename"}
"""What the trace says of an event, where that is not `change`."""
WRITES = {
    "os.chmod": ((0, 2, False),),
    "os.chown": ((0, 3, False),),
    "os.link": ((1, 3, False),),
    "os.mkdir": ((0, 2, False),),
    "os.remove": ((0, 1, True),),
    "os.rename": ((0, 2, False), (1, 3, True)),
    "os.rmdir": ((0, 1, False),),
    "os.symlink": ((1, 2, False),),
    "os.truncate": ((0, NOWHERE, True),),
    "os.utime": ((0, 3, False),),
}
"""Events that change what stands in a folder: the places of the paths in their arguments, those of
the folders that these start from, and whether the content that stands there is lost.
"""
FOLLOWING = frozenset({"os.chmod", "os.chown", "os.truncate", "os.utime"})
"""Those of them that follow a link to the file itself."""
WRITING = frozenset("wxa+")
"""Letters of a mode of `open` with which a file can be written to."""
ANEW = frozenset("wx")
"""Those with which it is empty at first."""
SQLITE_FILES = ("", "-journal", "-wal", "-shm")
"""What SQLite, which opens files by itself, writes to beside a database: the ends of their
names.
"""

WATCHED: Files | None = None
ON_OPENING: list[Callable[[Any, str], object]] = []
"""Called with each path that C++ or Rust code is about to open, as adapters tell, and the mode."""


def watch(recorder: Any, settings: Mapping[str, Any]) -> None:
    """Emit `open` for each file and mode, and `wrote` for each path, the first time.

    Up to LIMIT events are emitted.
    """
    global WATCHED
    workdir = settings.get("workdir")
    if workdir:
        WATCHED = Files(
            recorder,
            str(workdir),
            str(settings.get("output") or recorder.folder),
            float(settings.get("since") or 0),
            float(settings.get("began") or "inf"),
        )
        WATCHED.held_open()
        recorder.on_end.append(WATCHED.held_open)
        sys.addaudithook(_hook(WATCHED))


def wrote(path: Any, how: str = "open", new: bool | None = None) -> None:
    """Record a path that C++ code writes to; adapters call this. Never raises.

    new  whether C++ code has already made the file
    """
    if how == "open" and new is None:
        _about_to_open(path, "w")
    if WATCHED is None:
        return
    take = WATCHED.written_through if how == "open" else WATCHED.written
    WATCHED.quietly(take, path, how, new)


def opened(path: Any, mode: str) -> None:
    """Record a file that C++ code is about to open; adapters call this. Never raises.

    The mode `r+` reads the file and writes to it.
    """
    _about_to_open(path, mode)
    if WATCHED is None:
        return
    if mode == "r+":
        WATCHED.quietly(WATCHED.opened, path, "r", 0)
    WATCHED.quietly(WATCHED.opened, path, mode, 0)


def _about_to_open(path: Any, mode: str) -> None:
    for callback in ON_OPENING:
        callback(path, mode)


class Files:
    """Record the files of a process, each path once.

    since  start of the first run of the pair, in Unix seconds
    began  start of this run, in Unix seconds; infinite if nobody else works in the folder
    """

    def __init__(
        self, recorder: Any, workdir: str, output: str, since: float, began: float
    ) -> None:
        self.recorder = recorder
        self.inside = os.path.join(workdir, "")
        # as a path says it that is opened, and as it is without links
        own = {os.path.normpath(output), os.path.realpath(output)}
        self.own = tuple(os.path.join(folder, "") for folder in own)
        self.no_files: tuple[str, ...] = NO_FILES
        if os.environ.get("TMPDIR"):  # emptied between the runs
            self.no_files += (os.path.join(os.environ["TMPDIR"], ""),)
        self.since = since - LATE
        copies = os.path.join(recorder.folder, "overwritten")
        self.copies = Copies(copies, self.inside, self.own, began)
        self.told_read: dict[tuple[str, str], None] = {}
        self.told_written: dict[tuple[str, str], None] = {}
        self.busy: set[int] = set()
        self.thread = recorder.thread
        self.inputs = Inputs(recorder)

    def quietly(self, take: Any, *arguments: Any) -> None:
        """Call `take` and ignore audit events meanwhile; record errors instead of raising them."""
        me = self.thread()
        if me in self.busy:
            return
        self.busy.add(me)
        try:
            take(*arguments)
        except Exception as error:
            self.recorder.problem("watching files", error)
        finally:
            self.busy.discard(me)

    @guarded("looking at open files")
    def held_open(self) -> None:
        """Record the files that the process has open for writing.

        At the start of the process they are those that it was given: `python train.py > log` gives
        one. At the end they include those that a library opened unseen.
        """
        for path in held_for_writing():
            if path.startswith("/") and os.path.lexists(path):
                self.written(path)

    def written(
        self, path: Any, how: str = "open", new: bool | None = None, *, loses: bool = True
    ) -> None:
        """Record a path that is about to be written to, made, moved or removed.

        how    how the path changes, such as `open` or `rename`
        new    whether no file stood there before; None: find out
        loses  whether the present content of the file is lost
        """
        path = absolute(path)
        if not path:
            return
        copy = self.copies.copy(path) if loses else None
        if not _first(self.told_written, path, how) and not copy:
            return
        path = without_links(path)
        name = self._name(path)
        if not name:
            return
        event: dict[str, Any] = {"e": "wrote", "p": name, "m": how}
        line = self.inputs.line()
        if line:
            event["l"] = line
        if copy is not None:
            event["copy"] = copy
        if new is None:
            new = not os.path.lexists(path)
        if new:
            event["new"] = True
        self.recorder.emit(event)

    def written_through(
        self, path: Any, how: str = "open", new: bool | None = None, *, loses: bool = True
    ) -> None:
        """Record a path that is about to be written to, and the target if the path is a link."""
        self.written(path, how, new, loses=loses)
        if os.path.islink(path):
            self.written(os.path.realpath(path), how, new, loses=loses)

    def opened(self, path: Any, mode: Any, flags: Any) -> None:
        """Handle an audit event `open`."""
        path = absolute(path)
        if path.endswith(".pyc"):
            # that the interpreter keeps what it compiled is nothing that the script writes
            path, mode = _source(path), "r"
        if not path:
            return
        if writes(mode, flags):
            self.written_through(path)
        kind = _mode(mode, flags)
        if kind == "r":
            self._read(path)
        is_data = path.startswith(self.inside) and not path.endswith(".py")
        if not is_data:
            if kind == "r" and not self._recent(path):
                return
            path = without_links(path)
        self._tell(path, kind)
        if self.recorder.boundaries is not None:
            # a checkpoint that is read by way of a link such as `latest` is known by its own name
            self._tell(os.path.realpath(path), kind)

    def _tell(self, path: str, kind: str) -> None:
        name = self._name(path)
        if name and _first(self.told_read, name, kind):
            event = {"e": "open", "p": name, "m": kind, "time": time_ns() / 1e9}
            if self.recorder.boundaries is not None and self.recorder.deep is not None:
                event["l"] = self.recorder.deep.source()  # the line that reads a checkpoint
            self.recorder.emit(event)

    def _read(self, path: str) -> None:
        """Record a file that is read as an input, unless it is code."""
        name = self._name(path)
        if name and not path.endswith(CODE):
            self.inputs.read(path, name)

    def changed(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Handle an audit event of the table `WRITES`, such as `os.rename`."""
        how = HOW.get(event, "change")
        places = (*arguments, NOWHERE)
        for place, start, loses in WRITES[event]:
            path = absolute(places[place], places[start])
            if event in FOLLOWING:
                self.written_through(path, how, loses=loses)
            else:
                self.written(path, how, loses=loses)
        if event == "os.rename":
            self.copies.rename(
                absolute(arguments[0], arguments[2]), absolute(arguments[1], arguments[3])
            )

    def database(self, path: Any) -> None:
        """Handle the opening of a database, which is read and may be written to."""
        path = os.fsdecode(path)
        if path.startswith("file:"):
            path = path[len("file:") :].partition("?")[0]
        if not path or ":memory:" in path:
            return
        self.opened(path, "r", 0)
        for end in SQLITE_FILES:
            self.written(path + end)

    def _name(self, path: str) -> str:
        """Return the name of a path in a trace; "" for a path that no other run can find again.

        The name is relative to the working directory, or the whole path with names masked.
        """
        if path.startswith(self.own):
            return ""
        if path.startswith(self.inside):
            return _unless_ignored(path[len(self.inside) :])
        if path.startswith(self.no_files):
            return ""
        return str(self.recorder.masked(_unless_ignored(path)))

    def _recent(self, path: str) -> bool:
        """Return whether a file or its metadata changed since the first run of the pair began."""
        try:
            return os.stat(path).st_ctime >= self.since > 0
        except OSError:
            return False


def held_for_writing() -> Iterator[str]:
    """Yield the paths of the files that this process has open for writing."""
    import fcntl

    if not os.path.isdir("/proc/self/fd"):
        return
    for number in map(int, _listdir("/proc/self/fd")):
        try:
            path = _readlink("/proc/self/fd/%d" % number)
            access = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE
        except OSError:  # closed meanwhile, as that of the folder itself
            continue
        if access != os.O_RDONLY:
            yield path


def _hook(files: Files) -> Any:
    """Return the audit hook.

    The hook runs for each `id()` of the script, too: an irrelevant event costs one look into a
    table.
    """

    def changed(event: str) -> Any:
        return lambda *arguments: files.changed(event, arguments)

    takers = {
        "open": files.opened,
        "sqlite3.connect": files.database,
        **{event: changed(event) for event in WRITES},
        "os.putenv": OwnVariables(files.recorder).written,
    }
    find, quietly = takers.get, files.quietly

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        take = find(event)
        if take is not None:
            quietly(take, *arguments)

    return hook


def _first(events: dict[tuple[str, str], None], path: str, kind: str) -> bool:
    if (path, kind) in events or len(events) >= LIMIT:
        return False
    events[(path, kind)] = None
    return True


def _unless_ignored(name: str) -> str:
    if IGNORED_NAMES.isdisjoint(name.split("/")):
        return name
    return ""


def without_links(path: str) -> str:
    """Return a path whose folders are no links; the file itself may be one.

    "" gives "".
    """
    if not path:
        return ""
    parent, name = os.path.split(path)
    return os.path.join(os.path.realpath(parent), name)


def _source(path: str) -> str:
    """Return the module that a bytecode file was compiled from; "" outside of `__pycache__`.

    A process that imports the bytecode reads the content of the module's source.
    """
    folder, name = os.path.split(path)
    parent, cache = os.path.split(folder)
    if cache != "__pycache__":
        return ""
    return os.path.join(parent, name.partition(".")[0] + ".py")


def writes(mode: Any, flags: Any) -> bool:
    """Return whether an `open` audit event opens a file so that it can be written to."""
    if isinstance(mode, str):
        return not WRITING.isdisjoint(mode)
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))


def absolute(path: Any, folder: Any = NOWHERE) -> str:
    """Return the full path that an audit event names; "" for an empty name.

    folder  descriptor of the folder that a relative path starts from
    """
    if isinstance(path, int):
        path = os.readlink("/proc/self/fd/%d" % path)
    name: str = os.fsdecode(path)
    if not name:
        return ""
    if not name.startswith("/"):
        in_folder = isinstance(folder, int) and folder >= 0
        start = os.readlink("/proc/self/fd/%d" % folder) if in_folder else os.getcwd()
        name = os.path.join(start, name)
    if "/../" in name:  # behind a link, `..` leads elsewhere than its text says
        parent, last = os.path.split(name)
        name = os.path.join(os.path.realpath(parent), last)
    return os.path.normpath(name)


def _mode(mode: Any, flags: Any) -> str:
    """Return `r`, `w` or `a` of an `open` audit event; a file opened for update counts as read."""
    if isinstance(mode, str):
        if "a" in mode:
            return "a"
        return "r" if ANEW.isdisjoint(mode) else "w"
    if flags & os.O_APPEND:
        return "a"
    empties = flags & (os.O_TRUNC | os.O_EXCL)
    if empties or (flags & os.O_ACCMODE) == os.O_WRONLY:
        return "w"
    return "r"
