"""The working directory as a list of entries, and what changed between two such lists."""

from __future__ import annotations

import os
import shlex
import stat
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from reprocheck.errors import UsageError
from reprocheck.model import EntryPoint, FileChanges

# Paths are text here: a tree may have a hundred thousand.
# ruff: noqa: PTH115, PTH116, PTH118


CACHES = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
SKIPPED_FOLDERS = CACHES | {".git", ".hg", ".svn", "node_modules"}
SUITE_MARK = ".reprocheck-suite"
"""Marks the folder of a suite: its nights are no files of the training."""
MARKS = frozenset({"pyvenv.cfg", "conda-meta", SUITE_MARK})
"""Files and folders that mark a folder that is passed over: a virtual environment, a suite."""
MOST_ENTRIES = 100_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, symbolic link (never followed) or folder.

    `size` in bytes, `mtime` in nanoseconds, `mode` the permission bits, `links` the number of hard
    links.
    """

    kind: Literal["file", "link", "folder"]
    size: int
    mtime: int
    inode: int
    mode: int
    uid: int
    gid: int
    target: str | None = None
    links: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Tree:
    """Entries by path relative to the root, nearest to the root first.

    `complete` is False where there were more than the limit.

    mounted   folders that are on another device than the root: what is in them is not listed
    """

    entries: Mapping[str, Entry]
    unreadable: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    mounted: tuple[str, ...] = ()
    complete: bool = True


def read_tree(root: Path, leave_out: Collection[Path] = (), limit: int = MOST_ENTRIES) -> Tree:
    """List everything below `root` that is part of the user's work.

    Not caches, version control, virtual environments, folders of suites, `leave_out` (absolute
    paths) and what is on another device.
    """
    entries: dict[str, Entry] = {}
    unreadable: list[str] = []
    skipped: list[str] = []
    mounted: list[str] = []
    device = _device(str(root))
    excluded = {str(path) for path in leave_out}
    waiting = deque([""])
    while waiting:
        folder = waiting.popleft()
        try:
            items = sorted(os.scandir(os.path.join(root, folder)), key=lambda item: item.name)
        except OSError:
            unreadable.append(folder or ".")
            continue
        if folder and not MARKS.isdisjoint(item.name for item in items):
            skipped.append(folder)
            del entries[folder]
            continue
        for item in items:
            path = os.path.join(folder, item.name)
            if os.path.join(root, path) in excluded:
                continue
            if len(entries) >= limit:
                return Tree(
                    entries, tuple(unreadable), tuple(skipped), tuple(mounted), complete=False
                )
            entry = entry_of(item)
            if entry is None:
                continue
            if entry.kind == "folder":
                if item.name in SKIPPED_FOLDERS:
                    skipped.append(path)
                    continue
                if _device(item.path) != device:
                    mounted.append(path)
                    continue
                waiting.append(path)
            entries[path] = entry
    return Tree(entries, tuple(unreadable), tuple(skipped), tuple(mounted))


def written_since(root: Path, moment: int) -> dict[str, Entry]:
    """Return the files and links below `root` that changed after a moment.

    In nanoseconds, by the clock of the file system; of however many there are. What `read_tree`
    passes over is passed over here.
    """
    written: dict[str, Entry] = {}
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            items = list(os.scandir(os.path.join(root, folder)))
        except OSError:  # removed meanwhile, or not to be read
            items = []
        if folder and not MARKS.isdisjoint(item.name for item in items):
            continue
        for item in items:
            path = os.path.join(folder, item.name)
            if item.is_dir(follow_symlinks=False):
                if item.name not in SKIPPED_FOLDERS:
                    waiting.append(path)
            elif item.stat(follow_symlinks=False).st_ctime_ns > moment:
                entry = entry_of(item)
                if entry is not None:
                    written[path] = entry
    return written


def _device(path: str) -> int | None:
    try:
        return os.stat(path, follow_symlinks=False).st_dev
    except OSError:
        return None


def entry_of(path: os.DirEntry[str] | Path) -> Entry | None:
    """Return the entry at a path; None if there is none, or a socket, pipe or device."""
    try:
        facts = path.stat(follow_symlinks=False)
        kind: Literal["file", "link", "folder"]
        target = None
        size = facts.st_size
        if stat.S_ISDIR(facts.st_mode):
            kind, size = "folder", 0
        elif stat.S_ISREG(facts.st_mode):
            kind = "file"
        elif stat.S_ISLNK(facts.st_mode):
            kind, target = "link", os.readlink(path)
        else:
            return None
    except OSError:
        return None
    return Entry(
        kind=kind,
        size=size,
        mtime=facts.st_mtime_ns,
        inode=facts.st_ino,
        mode=stat.S_IMODE(facts.st_mode),
        uid=facts.st_uid,
        gid=facts.st_gid,
        target=target,
        links=facts.st_nlink,
    )


def hard_links(entries: Iterable[tuple[str, Entry]]) -> dict[str, tuple[str, ...]]:
    """Return the paths of each file that has several of these paths."""
    paths: dict[int, set[str]] = {}
    for path, entry in entries:
        if entry.kind == "file" and entry.links > 1:
            paths.setdefault(entry.inode, set()).add(path)
    groups = (tuple(group) for group in paths.values() if len(group) > 1)
    return {path: group for group in groups for path in group}


def file_changes(before: Tree, after: Tree) -> FileChanges:
    """Return which files are new, changed or gone.

    If the tree was too large to list whole, only files listed before count.
    """
    old, new = dict(_files(before)), dict(_files(after))
    both = old.keys() & new.keys()
    changes = FileChanges(changed=tuple(sorted(path for path in both if old[path] != new[path])))
    if not before.complete or not after.complete:
        return changes
    folders = {path for path, entry in after.entries.items() if entry.kind == "folder"}
    return replace(
        changes,
        created=tuple(sorted(new.keys() - old.keys())),
        deleted=tuple(sorted(old.keys() - new.keys())),
        folders=tuple(sorted(folders - before.entries.keys())),
    )


def _files(tree: Tree) -> Iterator[tuple[str, Entry]]:
    return ((path, entry) for path, entry in tree.entries.items() if entry.kind != "folder")


MOVE = "Move the training into its own folder, and start reprocheck there."


def refuse_wide_folder(cwd: Path, entry: EntryPoint) -> None:
    """Raise UsageError where a check would have to keep a whole machine's files.

    Or all of the user's, so that the runs cannot cost them.
    """
    name = _wide(cwd)
    if name is None:
        return
    raise UsageError(
        f"The working directory is {name}: reprocheck keeps what stands there, and cannot keep all"
        " of it.",
        _advice(cwd, entry),
    )


def _wide(cwd: Path) -> str | None:
    if cwd == Path("/"):
        return "the root of the file system (/)"
    home = Path("~").expanduser()
    if home.is_dir() and cwd.samefile(home):
        return "your home folder"
    return None


def _advice(cwd: Path, entry: EntryPoint) -> str:
    """Return the command that starts the same script from its own folder."""
    if entry.kind != "script":
        return "Start from the folder of the training: cd FOLDER, and the same command again."
    _, script, *arguments = entry.command
    folder = (cwd / script).resolve().parent
    if _wide(folder) is not None:
        return MOVE
    command = shlex.join(["reprocheck", "run", Path(script).name, *arguments])
    return f"Start from the folder of the script: cd {shlex.quote(str(folder))} && {command}"
