"""Finds the checkpoints that a training saves on disk between two updates.

The files of the working directory are compared between two iterations: a checkpoint shows as new or
changed files, whatever program or language wrote it. The audit events of this process and the known
savers also tell who wrote the files, on which line, and after which update.

Loaded only in a run that is to be resumed later.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from contextlib import suppress
from fnmatch import fnmatch

from ..files_seen.opened_files import (
    NO_FILES,
    ON_OPENING,
    absolute,
    held_for_writing,
    without_links,
    writes,
)
from ..process import user_files
from ..recorder import import_hook
from ..recorder.hooking import around, guarded
from ..shared.variables import fixed_start
from .archives import Save

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator

    State = tuple[int, int, int]

SUFFIXES = (
    ".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".distcp", ".pkl", ".pickle", ".npz", ".h5",
    ".hdf5", ".keras", ".msgpack", ".tar", ".index", ".metadata", ".ocdbt", ".orbax",
)  # fmt: skip
"""Ends of names that checkpoints have."""
NAMES = ("ckpt", "checkpoint", "state", "resume", "snapshot", "latest", "last", "model", "weights")
"""In the name of a text file that may be a checkpoint."""
NO_CHECKPOINT = (
    "loss", "metric", "history", "log", "pred", "sample", "embed", "image", "plot", "curve", "eval",
    "result", "score", "events.out", "profile", "trace",
)  # fmt: skip
"""In the name of a file that holds what a training reports, in whatever format."""
TEXTS = (".json", ".yaml", ".yml", ".toml", ".txt")
OF_ARRAYS = (*TEXTS, ".npy", ".npz", ".pkl", ".pickle")
"""Ends of names of files that are as often reports as checkpoints."""
MAGIC = (
    b"PK\x03\x04",  # zip: torch, npz, keras
    b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05",  # pickle
    b"\x93NUMPY", b"\x89HDF", b"\x1f\x8b", b"\x28\xb5\x2f\xfd",
)  # fmt: skip
ORBAX_DRAFT = ".orbax-checkpoint-tmp"
"""In the name of the folder of a checkpoint of orbax, until that is whole."""
DRAFT = re.compile(re.escape(ORBAX_DRAFT) + r"[^/]*|\.(?:tmp|temp|part)(?=/|$)")
"""What is taken from the name of a draft when it is whole."""
SKIPPED = frozenset((".git", "__pycache__", "node_modules", ".hg", ".svn", "wandb", "mlruns"))
MOST_FILES = 100_000
"""Files of a working directory up to which all of them are looked at between two iterations."""
STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system")
"""Events after which another process may write."""
POOL = "concurrent.futures.thread"
OF_STATE = frozenset(("weights", "module", "optimizer", "schedule", "generator", "loader"))
"""Kinds of what a saver is given without which a file is not the whole checkpoint."""
AS_FOLDERS = ("torch.distributed", "transformers", "Accelerator", "orbax")
"""Savers that write a folder: how their names begin."""
PREFIX = re.compile(r"\.(?:index|data-\d+-of-\d+)$")
"""How files of one checkpoint of TensorFlow end, which is known by what stands before."""
BUILT_IN = ("tensorflow", "tensorstore", "mindspore")
"""Libraries that write files without an event."""


class Found:
    """Describe a checkpoint that was found between two iterations.

    paths   files of the checkpoint
    beside  other files that were written at the same time, such as a copy
    target  what names the checkpoint: its file, its folder, or the common beginning of its files;
            ""
            if there is no such name
    save    the call of a saver that wrote the checkpoint
    """

    def __init__(self, paths: list[str], beside: list[str], target: str, save: Save) -> None:
        self.paths = paths
        self.beside = beside
        self.target = target
        self.save = save
        self.size = 0


class Checkpoints:
    """Track the files in the working directory, and who wrote them since the last search.

    pattern  how the user says that a checkpoint is called; "" if that is to be found out
    outside  called before a checkpoint is written outside of the working directory
    """

    def __init__(self, recorder: Any, pattern: str, outside: Callable[[str], None]) -> None:
        self._recorder = recorder
        self._root = os.path.realpath(recorder.workdir)
        self._pattern = pattern
        # the fixed start of the paths of a pattern outside of the working directory
        self._allowed = fixed_start(pattern) if pattern.startswith("/") else ""
        self._outside = outside
        self._foreign = user_files.foreign_folders()
        self._inside = user_files.folder_of(recorder)
        self._own = os.path.join(os.path.realpath(recorder.folder), "")
        self._temporary = os.path.join(os.path.realpath(os.environ.get("TMPDIR", "/tmp")), "")
        self._stood: dict[str, State] = {}
        self._now: dict[str, State] = {}
        self._written: dict[str, Save] = {}
        self._copied: dict[str, None] = {}  # files that were made as a copy of another one
        self._saved: Save | None = None  # the last that was, since the last look
        self._touched = True  # something may have been written since the last look
        self._is_wide = False  # there are too many files to look at all of them
        self._others = False  # a process of another program may write
        self._begun: dict[int, int] = {}  # id of a thread -> updates when it was started
        self._passed_over: set[int] = set()  # tasks that do not end
        self._tasks: list[Any] = []  # threads and futures since the last look
        self._new_folders: list[str] = []  # in the order in which they were made
        self.ignored: dict[str, None] = {}
        """Files that were written between two updates and taken for no checkpoint."""
        self.temporary: dict[str, Save] = {}
        """Files of checkpoints in the folder for temporary files, which each run has anew."""
        self.removed: dict[str, None] = {}
        """Files of savers that were gone again at the next look."""

    def install(self) -> None:
        """Start to watch the savers, threads and files of this process."""
        savers = self._recorder.savers
        savers.make = lambda by: Save(by, self._line(), self._updates())
        savers.on_end.append(self._ended_save)
        around(threading.Thread, "start", "watching threads", before=self._started_thread)
        import_hook.when_imported(POOL, self._watch_pool)
        takers: dict[str, Callable[..., None]] = {
            "open": self._opened,
            "os.rename": self._renamed,
            "os.mkdir": self._made,
            "shutil.copyfile": self._about_to_copy,
        }
        takers.update(dict.fromkeys(STARTS, self._started_process))
        find = takers.get

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            take = find(event)
            if take is not None:
                take(*arguments)

        sys.addaudithook(hook)
        ON_OPENING.append(self._opened)

    def tasks(self) -> list[Any]:
        """Return threads, futures and processes that may be writing a checkpoint.

        They were started since the last search for a checkpoint.
        """
        processes = sys.modules.get("multiprocessing.process")
        children = [child for child in getattr(processes, "_children", ()) if not child.daemon]
        return [child for child in (*self._tasks, *children) if id(child) not in self._passed_over]

    def pass_over(self, tasks: list[Any]) -> None:
        """Ignore tasks that do not end, such as a loader's thread, because they are no savers."""
        self._passed_over.update(map(id, tasks))

    def under_way(self, tasks: list[Any]) -> list[Any]:
        """Return those of the given tasks that have not ended."""
        return [task for task in tasks if _is_under_way(task)]

    def is_written_to(self, paths: list[str]) -> bool:
        """Return whether this process has one of the files `paths` open for writing."""
        wanted = {os.path.join(self._root, path) for path in paths}
        return not wanted.isdisjoint(held_for_writing())

    def told(self) -> dict[str, Any]:
        """Return what this rank wrote since the last search, as a report for rank 0."""
        report = {
            "touched": self._touched,
            "others": self._others,
            "saved": self._saved and vars(self._saved),
            "written": {path: vars(written) for path, written in self._written.items()},
        }
        self._forget()
        return report

    def take(self, report: dict[str, Any]) -> None:
        """Take over the report of another rank about what it wrote."""
        self._touched = self._touched or report["touched"]
        self._others = self._others or report["others"]
        if report["saved"] and self._saved is None:
            self._saved = Save(**report["saved"])
        for path, written in report["written"].items():
            self._written.setdefault(path, Save(**written))

    def begin(self) -> None:
        """Note the files that exist before the first iteration.

        They are no checkpoints of this training.
        """
        self._stood = self._tree()
        self._forget()

    def found(self, updates: int) -> Found | None:
        """Return the checkpoint that was written since the last search; None if there is none.

        updates  number of updates so far
        """
        if not (self._touched or self._others or not sys.modules.keys().isdisjoint(BUILT_IN)):
            return None
        now = self._tree()
        changed = [path for path, state in now.items() if self._stood.get(path) != state]
        self.removed.update(
            (path, None)
            for path, written in self._written.items()
            if path not in now and (written.by or path.endswith(SUFFIXES))
        )
        self._now = now
        checkpoint = self._checkpoint(changed, updates)
        self._stood = now
        self._forget()
        return checkpoint

    def _forget(self) -> None:
        self._written.clear()
        self._copied.clear()
        self._saved, self._touched = None, False
        self._tasks = [task for task in self._tasks if _is_under_way(task)]

    def _checkpoint(self, changed: list[str], updates: int) -> Found | None:
        files = [path for path in changed if self._is_kept(path)]
        if not files and not self._pattern:
            files = [path for path in changed if _is_named_text(path)]
        self.ignored.update((path, None) for path in changed if path not in files)
        if not files:
            return None
        every = sorted(files if self._pattern else {*files, *self._beside(files, changed)})
        written = filter(None, map(self._written.get, every))
        first = min(written, key=lambda save: save.updates, default=None)
        save = self._saved or first or Save("", "", updates)
        if self._pattern:
            stamps = {self._matched(path): self._stamp(path) for path in every}
            target = max(stamps, key=lambda path: stamps[path])
        else:
            target, save = self._newest(every, save)
        paths = [path for path in every if _is_of(target, path)] or every
        checkpoint = Found(paths, [path for path in every if path not in paths], target, save)
        checkpoint.size = sum(map(self._size, paths))
        return checkpoint

    def _beside(self, files: list[str], changed: list[str]) -> Iterator[str]:
        """Yield the changed files in the folders of these files, without those that stay open.

        A checkpoint would never be complete if the log of a training were waited for.
        """
        folders = {os.path.dirname(path) for path in files} - {""}
        open_files = {os.path.relpath(path, self._root) for path in held_for_writing()}
        streams = open_files - self._written.keys()
        for path in changed:
            if os.path.dirname(path) in folders and path not in streams:
                yield path

    def _newest(self, paths: list[str], otherwise: Save) -> tuple[str, Save]:
        """Return the path to give to a resuming script, and the save that wrote it.

        The path is the newest complete file, or the folder that holds its parts. A copy of a file
        does not count as a save.

        paths      changed files that belong to checkpoints
        otherwise  the save to return if no complete one is known
        """
        files: dict[int, list[str]] = {}
        saves: dict[int, Save] = {}
        for path in paths:
            save = self._written.get(path)
            if save is not None and path not in self._copied:
                files.setdefault(save.number, []).append(path)
                saves[save.number] = save
        saves = _those(saves, lambda save: bool(OF_STATE.intersection(save.holds)))
        saves = _those(saves, lambda save: bool(save.by))
        kinds = {number: self._held(save, files[number]) for number, save in saves.items()}
        complete = [n for n, kind in kinds.items() if all(kind >= less for less in kinds.values())]
        if not complete:
            return (paths[0] if len(paths) == 1 else _common(paths)), otherwise
        save = saves[max(complete)]
        own = files[save.number]
        if save.by.startswith("orbax"):  # C++ code writes the rest
            own += [path for path in paths if path not in self._written]
        prefixes = {PREFIX.sub("", path) for path in own}
        if len(prefixes) == 1 and not save.by.startswith(AS_FOLDERS):
            return prefixes.pop(), save
        return _common(own), save

    def _held(self, save: Save, paths: list[str]) -> set[Any]:
        """Return the kinds of state that a save holds, such as `optimizer`.

        If the kinds are not known, the result is the size of the files.
        """
        return {*OF_STATE.intersection(save.holds)} or {sum(map(self._size, paths))}

    def _matched(self, path: str) -> str:
        """Return the folder of a file, or the file itself, whichever the user's pattern matches."""
        count = self._pattern.count("/") + 1
        folder = "/".join(path.split("/")[:count])
        return folder if self._matches(folder) else path

    def _stamp(self, path: str) -> tuple[int, int]:
        """Return a key that sorts files by the time when they were written."""
        save = self._written.get(path)
        number = save.number if save is not None and path not in self._copied else 0
        return number, self._now.get(path, (0,))[0]

    def _size(self, path: str) -> int:
        try:
            return os.path.getsize(os.path.join(self._root, path))
        except OSError:  # removed meanwhile
            return 0

    def _is_kept(self, path: str) -> bool:
        """Return whether a changed file belongs to a checkpoint."""
        if self._pattern:
            return self._matches(path)
        name = os.path.basename(path).lower()
        if _holds_reports(name):
            return False
        written = self._written.get(path)
        if written is not None and written.by:
            return True
        return name.endswith(SUFFIXES) or _looks_saved(os.path.join(self._root, path))

    def _matches(self, path: str) -> bool:
        return fnmatch(path, self._pattern) or fnmatch(os.path.basename(path), self._pattern)

    def _tree(self) -> dict[str, State]:
        """Return the state of every file in the working directory, by path.

        If there are too many files, only those are returned that this process was seen to write.
        Files outside of the working directory are added if they match the user's pattern.
        """
        if self._is_wide:
            return self._own_files()
        files: dict[str, State] = {}
        for start in {"", self._allowed}:
            files.update(self._below(os.path.dirname(start), start))
        if len(files) > MOST_FILES:
            self._is_wide = True
            return self._own_files()
        return {path: files[path] for path in files if path[0] != "/" or self._matches(path)}

    def _below(self, top: str, start: str) -> dict[str, State]:
        """Return the files below the folder `top` whose paths begin with `start`, up to a limit."""
        files: dict[str, State] = {}
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            for entry in _entries(os.path.join(self._root, folder)):
                path = os.path.join(folder, entry.name)
                if not path.startswith(start):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED:
                        waiting.append(path)
                elif entry.is_file(follow_symlinks=False):
                    state = entry.stat(follow_symlinks=False)
                    files[path] = (state.st_mtime_ns, state.st_size, state.st_ino)
            if len(files) > MOST_FILES:
                break
        return files

    def _own_files(self) -> dict[str, State]:
        files = {}
        for path in self._written:
            try:
                state = os.stat(os.path.join(self._root, path), follow_symlinks=False)
            except OSError:  # gone again
                continue
            files[path] = (state.st_mtime_ns, state.st_size, state.st_ino)
        return files

    def _ended_save(self, save: Save, returned: Any) -> None:
        self._touched = True
        if self._saved is None or threading.current_thread() is threading.main_thread():
            self._saved = save  # in another thread it may be a part of that one
        if hasattr(returned, "add_done_callback"):
            self._tasks.append(returned)

    @guarded("watching what is kept on disk")
    def _about_to_copy(self, _: Any, target: Any) -> None:
        name = self._name(without_links(absolute(target)))
        if name:
            self._copied[name] = None

    @guarded("watching what is kept on disk")
    def _opened(self, path: Any, mode: Any, flags: Any = 0) -> None:
        if not isinstance(path, int) and writes(mode, flags):
            self._note(without_links(absolute(path)), self._in_saver())

    @guarded("watching what is kept on disk")
    def _made(self, path: Any, _: Any, start: Any) -> None:
        """Handle a folder that is about to be made.

        In the folder of a draft of orbax, C++ code will write a checkpoint unseen.
        """
        location = without_links(absolute(path, start))
        if os.path.lexists(location):
            return
        first = os.path.join(location, "_METADATA")
        if ORBAX_DRAFT in location and not self._name(first):
            self._recorder.savers.number += 1
            number = self._recorder.savers.number
            self._note(first, Save("orbax.checkpoint", self._line(), self._updates(), number))
        self._new_folders.append(location)

    @guarded("watching what is kept on disk")
    def _renamed(self, source: Any, target: Any, *_: Any) -> None:
        old, new = (without_links(absolute(path)) for path in (source, target))
        was, is_kept = self._name(old), bool(self._name(new))
        self._touched = self._touched or is_kept
        moved = [*_taken_out(self._written, was), *_taken_out(self.temporary, old)]
        for rest, written in moved:
            self._note(new + rest, written)
        if not moved and not (was and is_kept):
            self._note(new, self._in_saver())

    def _note(self, path: str, written: Save) -> None:
        """Note a file that is about to be written, under its final name or that of a draft."""
        if not path or path.startswith((self._own, *NO_FILES)):
            return
        name = self._name(path)
        if name:
            self._touched = True
            self._written[name] = written
        elif not self._is_out_of_place(path, written.by):
            return
        elif path.startswith(self._temporary):
            self.temporary[path] = written
        else:
            # the next run might take a new empty folder for a checkpoint
            for folder in reversed(self._new_folders):
                with suppress(OSError):  # something is in it
                    os.rmdir(folder)
            self._outside(self._recorder.masked(DRAFT.sub("", path)))

    def _name(self, path: str) -> str:
        """Return the name of a path in the snapshot; "" for a path outside of the snapshot."""
        if path.startswith(os.path.join(self._root, "")):
            return os.path.relpath(path, self._root)
        if self._allowed and (self._matches(path) or self._matches(DRAFT.sub("", path))):
            return path
        return ""

    def _in_saver(self) -> Save:
        """Note that a file is written now, by a saver if one is running."""
        savers = self._recorder.savers
        inside: Save | None = savers.under_way()
        if inside is None:
            savers.number += 1
            return Save("", self._line(), self._updates(), savers.number)
        inside.line = inside.line or self._line()
        return inside

    def _is_out_of_place(self, path: str, by: str) -> bool:
        """Return whether a path is that of a checkpoint outside of what a snapshot holds."""
        return bool(self._recorder.iteration) and (bool(by) or _has_suffix(path.lower()))

    def _started_process(self, *_: Any) -> None:
        self._others = self._touched = True

    def _started_thread(self, thread: Any) -> None:
        self._begun[id(thread)] = self._recorder.updated
        self._passed_over.discard(id(thread))
        # private: what the thread runs; gone once it has ended
        target = getattr(thread, "_target", None)
        if getattr(target, "__module__", "") != POOL:  # of a worker, what it is given is awaited
            self._tasks.append(thread)

    def _watch_pool(self, module: Any) -> None:
        def submitted(future: Any, *_: Any, **__: Any) -> None:
            self._tasks.append(future)

        around(module.ThreadPoolExecutor, "submit", "watching a pool", after=submitted)

    def _updates(self) -> int:
        """Return the number of updates before the calling thread was given what it writes.

        That is the number when the thread was started, except for a thread that gets work
        repeatedly.
        """
        now = int(self._recorder.updated)
        begun = self._begun.get(id(threading.current_thread()), now)
        return begun if begun >= now - 1 else now

    def _line(self) -> str:
        """Return `file:line` of the innermost frame of the user's code; "" for none."""
        frame, masked = sys._getframe(2), self._recorder.masked
        return user_files.innermost_line(frame, self._inside, self._foreign, masked)


def _entries(folder: str) -> Iterator[Any]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:  # removed meanwhile
        return


def _is_under_way(task: Any) -> bool:
    """Return whether a thread, a process or a future has not ended yet."""
    if hasattr(task, "is_alive"):
        return bool(task.is_alive())
    return not task.done()


def _is_named_text(path: str) -> bool:
    name = os.path.basename(path).lower()
    if _holds_reports(name):
        return False
    return name.endswith(TEXTS) and any(word in name for word in NAMES)


def _has_suffix(path: str) -> bool:
    """Return whether a name ends as that of a checkpoint, or as a draft of one: `a.pt.tmp`."""
    name = os.path.basename(path) + "."
    return any(suffix + "." in name for suffix in SUFFIXES)


def _taken_out(known: dict[str, Save], old: str) -> Iterator[tuple[str, Save]]:
    """Remove a path and all paths below it from a dictionary; yield the removed entries.

    Each is yielded under the rest of its path.
    """
    for path in list(known):
        if old and (path + "/").startswith(old + "/"):
            yield path[len(old) :], known.pop(path)


def _holds_reports(name: str) -> bool:
    """Return whether a file's name says that it holds metrics, images or logs.

    For a format of checkpoints only the start of the name counts: `model-loss-0.1.pt` is a
    checkpoint.
    """
    if name.endswith(OF_ARRAYS):
        return any(word in name for word in NO_CHECKPOINT)
    return name.startswith(NO_CHECKPOINT)


def _common(paths: list[str]) -> str:
    """Return the folder in which all files lie; "" for the working directory.

    The result is "" also if some files lie outside of the working directory.
    """
    try:
        return os.path.commonpath([os.path.dirname(path) for path in paths])
    except ValueError:  # some of them outside of the working directory
        return ""


def _those(saves: dict[int, Save], matters: Callable[[Save], bool]) -> dict[int, Save]:
    """Return the saves that matter; all of them if none does."""
    return {number: save for number, save in saves.items() if matters(save)} or saves


def _is_of(target: str, path: str) -> bool:
    """Return whether a file is the checkpoint's target, or lies in it."""
    return target in (path, PREFIX.sub("", path)) or (path + "/").startswith(target + "/")


def _looks_saved(path: str) -> bool:
    """Return whether a file begins as a known format of tensors or objects does, such as zip."""
    try:
        with open(path, "rb") as file:
            head = file.read(9)
            size = os.fstat(file.fileno()).st_size
    except OSError:
        return False
    if head.startswith(MAGIC):
        return True
    # safetensors: the length of a header in JSON, and the header
    return head[8:] == b"{" and int.from_bytes(head[:8], "little") < size
