"""What stood in the working directory before some runs, kept so that it can be put back.

The kept contents lie in the folder of the check under `snapshot/`, with an index, until they have
been put back: a check that is killed loses nothing (the next command of reprocheck in that folder
puts back what it left).

Only what the runs themselves wrote is put back, and nothing is replaced without a copy. A file that
changed in any other way was changed by somebody else: it stays as it is, and how it stood before is
kept, too.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from reprocheck.files.atomic import replacing
from reprocheck.launch.file_events import FileEvents
from reprocheck.launch.pack import Pack, unpacked
from reprocheck.launch.tree import Entry, Tree, entry_of
from reprocheck.launch.writers import open_for_writing, own_output
from reprocheck.model import FilesAfter

COPY_LIMIT = 256 << 20
"""Bytes that are copied at most, where the file system cannot share them."""
FICLONE = 0x40049409
_AT_ONCE = 1 << 20

INDEX, OWNER, PACK = "index.json", "owner.json", "pack"


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """An entry and where its content is: at an offset in `pack`, or in a file of its own, which has
    this number.

    `aside`: the file itself was moved into the store, so that it stands in the working directory no
    more.
    """

    entry: Entry
    packed: int | None = None
    number: int | None = None
    aside: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Ours:
    """What the runs did. `left`: the tree as they left it, None where it is not known; then what
    changed later than `until` is not theirs.

    until   Unix seconds; None where nobody can have changed anything since the runs ended
    """

    events: FileEvents
    left: Tree | None = None
    until: float | None = None

    def stands_as_left(self, path: str, root: Path, now: Entry | None) -> bool:
        """Whether what stands at a path is what the runs left there."""
        # the tree has nothing of files elsewhere
        if self.left is not None and self.left.complete and not path.startswith("/"):
            return self.left.entries.get(path) == now
        if self.until is None or now is None:
            return True
        return (root / path).lstat().st_ctime <= self.until


@dataclass(frozen=True, kw_only=True, slots=True)
class Aside:
    """Folders that take what is replaced, and how files stood before that somebody else changed."""

    left: Path
    before: Path

    def of_left(self, path: str) -> Path:
        """Where what is replaced at a path goes."""
        return self.left / _inside(path)

    def of_before(self, path: str) -> Path:
        """Where what stood at a path before goes."""
        return self.before / _inside(path)


def keep(
    root: Path,
    tree: Tree,
    store: Path,
    limit: int = COPY_LIMIT,
    *,
    aside: Collection[str] = (),
    runs: str = "",
) -> tuple[str, ...]:
    """Keeps the contents of a tree in `store`, smaller files first.

    Returns the paths of those too large, the largest first.

    What reprocheck itself prints to (`> log`) is not kept: it is never to be put back. `aside`:
    paths that `move_aside` is to move. `runs`: the folder of the runs that follow, from that of the
    check on.
    """
    store.mkdir(parents=True)
    owner = {
        "workdir": str(root),
        "pid": os.getpid(),
        "started": started(os.getpid()),
        "runs": runs,
    }
    with replacing(store / OWNER) as file:
        file.write(json.dumps(owner).encode())
    ours = _entries_of(own_output(), root, tree)
    kept = {
        path: Kept(entry=entry, aside=path in aside)
        for path, entry in tree.entries.items()
        if path not in ours
    }
    files = sorted(
        (entry.size, path)
        for path, entry in tree.entries.items()
        if entry.kind == "file" and path not in ours
    )
    left_out: list[str] = []
    with (store / PACK).open("wb", buffering=0) as file:
        pack = Pack(file, limit)
        for number, (size, path) in enumerate(files):
            entry = tree.entries[path]
            if path in aside:
                kept[path] = Kept(entry=entry, number=number, aside=True)
                continue
            offset = None
            with contextlib.suppress(OSError):
                offset = pack.add(root / path, size)
            if offset is None:
                left_out.append(path)
            kept[path] = Kept(entry=entry, packed=offset)
    lines = {
        path: [*astuple(item.entry), item.packed, item.number, item.aside]
        for path, item in kept.items()
    }
    with replacing(store / INDEX) as index:
        index.write(json.dumps(lines).encode())
    return tuple(reversed(left_out))


def move_aside(store: Path, paths: Collection[str]) -> tuple[str, ...]:
    """Takes `paths`, which `keep` was told of, out of the working directory until `restore`.

    Returns those that could not be taken.
    """
    root, index = _read(store)
    missed: list[str] = []
    for path in (
        path for path, kept in index.items() if path in paths and kept.entry.kind != "folder"
    ):
        number = index[path].number
        try:
            if number is None:
                (root / path).unlink()
            else:
                move(root / path, store / str(number))
        except OSError:
            missed.append(path)
    for path in sorted(
        (path for path, kept in index.items() if path in paths and kept.entry.kind == "folder"),
        reverse=True,
    ):
        with contextlib.suppress(OSError):  # not empty: a cache that is not watched, a pipe
            (root / path).rmdir()
    return tuple(missed)


def move(source: Path, target: Path) -> None:
    """Moves a file or link, also to another file system; whoever is stopped half-way leaves the
    source whole.
    """
    try:
        source.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        draft = target.with_name(f".{target.name[:200]}.reprocheck")
        try:
            shutil.copy2(source, draft, follow_symlinks=False)
            draft.replace(target)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        source.unlink()


def restore(store: Path, ours: Ours, aside: Aside) -> FilesAfter:
    """Puts back what the runs overwrote, removed or touched, and removes the store if nothing was
    lost.

    What the runs had written in its place goes to `aside.left`. What somebody else changed stays,
    and goes to `aside.before` as it was. What has been created since stays, and so does what
    somebody is writing (`| tee log`).
    A store without index (killed while it was filled) is removed: nothing had been started.
    """
    if not (store / INDEX).exists():
        shutil.rmtree(store, ignore_errors=True)
        return FilesAfter()
    with _locked(store):
        if not (store / INDEX).exists():  # somebody else has put them back meanwhile
            return FilesAfter()
        return _restored(store, ours, aside)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Compared:
    """A snapshot beside what stands in the working directory now.

    mine     files that the runs changed, to be put back
    theirs   files that somebody else changed, which stay
    folders  folders that are not as they were, and are ours or needed by a file of ours
    """

    root: Path
    store: Path
    index: Mapping[str, Kept]
    now: Mapping[str, Entry | None]
    mine: Sequence[str]
    theirs: Sequence[str]
    folders: Sequence[str]


def _restored(store: Path, ours: Ours, aside: Aside) -> FilesAfter:
    found = _compared(store, ours)
    for path in found.folders:
        with contextlib.suppress(OSError):  # a file that needs it is then named as lost
            _put_back_folder(found.root / path, found.index[path].entry, ours.events.wrote(path))
    replaced, lost = _put_back_files(found, aside)
    kept = [
        path
        for path in found.theirs
        if _keep_as_before(aside.of_before(path), found.index[path], store)
    ]
    if lost:
        os.utime(store / OWNER)  # up to now all that the runs wrote is theirs
    else:
        shutil.rmtree(store, ignore_errors=True)
    return FilesAfter(
        put_back=tuple(path for path in found.mine if path not in lost),
        replaced=tuple(replaced),
        left=str(aside.left) if replaced else "",
        others=tuple(found.theirs),
        kept=tuple(kept),
        before=str(aside.before) if kept else "",
        lost=tuple(lost),
    )


def _compared(store: Path, ours: Ours) -> _Compared:
    root, index = _read(store)
    now = {path: entry_of(root / path) for path in index}
    other = [path for path, kept in index.items() if now[path] != kept.entry]
    written = open_for_writing(root, other)
    mine: list[str] = []
    theirs: list[str] = []
    for path in other:
        if path in written or index[path].entry.kind == "folder":
            continue
        if _is_ours(path, index[path], now[path], root, ours):
            mine.append(path)
        elif not _same_bytes(root / path, now[path], index[path], store):
            theirs.append(path)
    needed = {str(parent) for path in mine for parent in PurePosixPath(path).parents}
    folders = [path for path in other if index[path].entry.kind == "folder"]
    return _Compared(
        root=root,
        store=store,
        index=index,
        now=now,
        mine=mine,
        theirs=theirs,
        folders=[
            path
            for path in folders
            if path in needed or ours.events.wrote(path) or index[path].aside
        ],
    )


def _put_back_files(found: _Compared, aside: Aside) -> tuple[list[str], list[str]]:
    """Puts back the files that the runs changed: those of which what stood there was kept aside,
    and those that could not be put back.
    """
    replaced: list[str] = []
    lost: list[str] = []
    for path in found.mine:
        place, kept = found.root / path, found.index[path]
        try:
            left = aside.of_left(path)
            if _keep_what_is_replaced(place, found.now[path], kept, found.store, left):
                replaced.append(path)
            _put_back(place, kept, found.store)
        except OSError:
            lost.append(path)
    return replaced, lost


def _inside(path: str) -> Path:
    """A path as a place below a folder; those of files elsewhere are whole."""
    if path.startswith("/"):
        return Path("elsewhere", path.lstrip("/"))
    return Path(path)


def _is_ours(path: str, kept: Kept, now: Entry | None, root: Path, ours: Ours) -> bool:
    """Whether the runs made a path what it is now.

    What was moved aside for them was theirs before.
    """
    return (kept.aside or ours.events.wrote(path)) and ours.stands_as_left(path, root, now)


def _keep_what_is_replaced(
    path: Path, now: Entry | None, kept: Kept, store: Path, target: Path
) -> bool:
    """Keeps what stands at a path, where it is not what is put there; False where there is nothing
    to keep.
    """
    if now is None or now.kind == "folder" or _same_bytes(path, now, kept, store):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(path, target, follow_symlinks=False)
    except OSError:  # another file system, or one without links
        shutil.copy2(path, target, follow_symlinks=False)
    return True


def _keep_as_before(target: Path, kept: Kept, store: Path) -> bool:
    """Writes what a path held before to `target`; False where that was not kept."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        if kept.entry.kind == "link":
            target.symlink_to(kept.entry.target or "")
            return True
        _write_content(target, kept, store)
        target.chmod(kept.entry.mode)
        os.utime(target, ns=(kept.entry.mtime, kept.entry.mtime))
    except OSError:
        return False
    return True


def _same_bytes(path: Path, now: Entry | None, kept: Kept, store: Path) -> bool:
    """Whether a file holds what it held before, or a link leads where it led."""
    if now is None or (now.kind, now.size, now.target) != (
        kept.entry.kind,
        kept.entry.size,
        kept.entry.target,
    ):
        return False
    if now.kind == "link":
        return True
    try:
        with path.open("rb") as one, _content(kept, store) as other:
            left = kept.entry.size
            while left > 0:
                part = one.read(min(left, _AT_ONCE))
                if not part or part != other.read(len(part)):
                    return False
                left -= len(part)
    except OSError:
        return False
    return True


def _content(kept: Kept, store: Path) -> BinaryIO:
    """The kept content of a file, open at its first byte."""
    if kept.packed is not None:
        pack = (store / PACK).open("rb")
        pack.seek(kept.packed)
        return pack
    if kept.number is None:
        raise FileNotFoundError(store)
    return (store / str(kept.number)).open("rb")


@contextlib.contextmanager
def _locked(store: Path) -> Iterator[None]:
    """One process at a time puts back what a store holds: the guard of a killed check, or the next
    command.
    """
    import fcntl

    with (store / OWNER).open("rb") as owner:
        fcntl.flock(owner, fcntl.LOCK_EX)
        yield


def _read(store: Path) -> tuple[Path, dict[str, Kept]]:
    """The working directory that a store is of, and its index."""
    root = Path(json.loads((store / OWNER).read_text())["workdir"])
    index = {}
    for path, fields in json.loads((store / INDEX).read_text()).items():
        *facts, packed, number, aside = fields
        index[path] = Kept(entry=Entry(*facts), packed=packed, number=number, aside=aside)
    return root, index


def runs_of(store: Path) -> str:
    """The folder of the runs that a store was filled for, from that of the check on."""
    try:
        return str(json.loads((store / OWNER).read_text()).get("runs", ""))
    except (OSError, ValueError):
        return ""


def started(pid: int) -> str:
    """When a process began, in ticks since the start of the system; empty where there is no such
    process.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return ""


def clone(source: Path, target: Path) -> bool:
    """Makes `target` share the blocks of `source` (reflink); False where the file system cannot.
    OSError if unreadable.
    """
    from fcntl import ioctl

    with source.open("rb") as read, target.open("wb") as write:
        try:
            ioctl(write.fileno(), FICLONE, read.fileno())
        except OSError:
            target.unlink()
            return False
    return True


def summary(paths: Sequence[str], most: int = 3) -> str:
    """`a, b, c and 4 more`."""
    named = ", ".join(paths[:most])
    if len(paths) <= most:
        return named
    return f"{named} and {len(paths) - most} more"


def _entries_of(identities: frozenset[tuple[int, int]], root: Path, tree: Tree) -> frozenset[str]:
    """Paths of the files of a tree that have one of these (device, inode) pairs."""
    inodes = {inode for _, inode in identities}
    found = set()
    for path, entry in tree.entries.items():
        if entry.kind == "file" and entry.inode in inodes:
            with contextlib.suppress(OSError):
                if ((root / path).stat().st_dev, entry.inode) in identities:
                    found.add(path)
    return frozenset(found)


def _put_back_folder(path: Path, entry: Entry, changed: bool) -> None:
    missing = not path.is_dir() or path.is_symlink()
    if missing:
        path.mkdir(parents=True)
    if missing or changed:
        path.chmod(entry.mode)


def _put_back(path: Path, kept: Kept, store: Path) -> None:
    entry, now = kept.entry, entry_of(path)
    if now is not None and now.kind == entry.kind == "file" and _same_content(now, entry):
        path.chmod(entry.mode)
        return
    if kept.aside and (store / str(kept.number)).exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        move(store / str(kept.number), path)
        return
    new = path.with_name(f".{path.name[:200]}.reprocheck")
    try:
        _make_beside(new, kept, store)
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def _make_beside(new: Path, kept: Kept, store: Path) -> None:
    """Makes what stood there before, to be moved to its place."""
    entry = kept.entry
    if entry.kind == "link":
        new.unlink(missing_ok=True)
        new.symlink_to(entry.target or "")
    else:
        _write_content(new, kept, store)
        new.chmod(entry.mode)
    with contextlib.suppress(OSError):
        os.chown(new, entry.uid, entry.gid, follow_symlinks=False)
    os.utime(new, ns=(entry.mtime, entry.mtime), follow_symlinks=False)


def _write_content(target: Path, kept: Kept, store: Path) -> None:
    if kept.packed is not None:
        unpacked(store / PACK, kept.packed, kept.entry.size, target)
    elif kept.number is not None:
        source = store / str(kept.number)
        if not clone(source, target):
            shutil.copyfile(source, target)
    else:
        raise FileNotFoundError(target)


def _same_content(now: Entry, before: Entry) -> bool:
    return (now.size, now.mtime, now.inode) == (before.size, before.mtime, before.inode)
