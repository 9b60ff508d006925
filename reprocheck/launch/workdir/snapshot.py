"""The store of a check: contents of the working directory, kept so that they can be put back.

They lie in the folder of the check under `snapshot/`, with an index, until they have been put back:
a check that is killed loses nothing (the next command of reprocheck in that folder puts back what
it left). `restoration` puts them back.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from reprocheck.files.atomic import replacing
from reprocheck.launch.workdir.pack import Pack, copy_part
from reprocheck.launch.workdir.tree import Entry, Tree, entry_of
from reprocheck.launch.workdir.writers import open_for_writing, own_output

COPY_LIMIT = 256 << 20
"""Bytes that are copied at most, where the file system cannot share them."""
OUTPUT_LIMIT, OUTPUT_FILE_LIMIT = 16 << 20, 1 << 20
"""Likewise of what a run was seen to write, together and for each file: somebody may have edited it
since. What people edit is small; checkpoints are not.
"""
FICLONE = 0x40049409
_AT_ONCE = 1 << 20

STORE = "snapshot"
"""Folder of the store in the report folder, as long as something is to be put back."""
INDEX, OWNER, PACK = "index.json", "owner.json", "pack"


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """An entry and where its content is.

    At an offset in `pack`, or in a file with this number; nowhere if the content could not be kept.

    aside  whether the file itself was moved into the store, so that the working directory no longer
           has it
    run    the run before which the entry was kept
    """

    entry: Entry
    packed: int | None = None
    number: int | None = None
    aside: bool = False
    run: int = 1

    @property
    def has_content(self) -> bool:
        """Return whether the entry can be restored."""
        return self.entry.kind != "file" or self.packed is not None or self.number is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Index:
    """The index of a store.

    root      the working directory
    kept      the entries to put back, by path
    versions  other contents that a path had before a later run, the oldest first
    """

    root: Path
    kept: dict[str, Kept] = field(default_factory=dict)
    versions: list[tuple[str, Kept]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True, slots=True)
class Unkept:
    """Paths whose contents were not kept, the largest first."""

    too_large: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


def keep(
    root: Path,
    tree: Tree,
    store: Path,
    limit: int = COPY_LIMIT,
    *,
    aside: Collection[str] = (),
    runs: str = "",
) -> Unkept:
    """Keep the contents of a tree in `store`, smaller files first.

    What reprocheck itself prints to (`> log`) is not kept: it is never to be put back. `aside`:
    paths that `move_aside` is to move. `runs`: the folder of the runs that follow, from that of the
    check on.
    """
    store.mkdir(parents=True)
    owner = {
        "workdir": str(root),
        "folder": str(store.parent.resolve()),
        "pid": os.getpid(),
        "started": started(os.getpid()),
        "runs": runs,
    }
    with replacing(store / OWNER) as file:
        file.write(json.dumps(owner).encode())
    own = _entries_of(own_output(), root, tree)
    index = Index(root=root)
    entries = {path: entry for path, entry in tree.entries.items() if path not in own}
    (store / PACK).touch()
    numbers = {path: number for number, path in enumerate(sorted(aside))}
    packed = {path: entry for path, entry in entries.items() if path not in numbers}
    contents, unkept = _pack(store, root, packed, limit)
    for path, entry in entries.items():
        number = numbers.get(path) if entry.kind == "file" else None
        index.kept[path] = contents.get(path) or Kept(
            entry=entry, number=number, aside=path in numbers
        )
    _write(store, index)
    return unkept


def extend(
    store: Path, *, left: Tree, now: Tree, run: int, wrote: Callable[[str], bool]
) -> tuple[frozenset[str], Unkept]:
    """Keep what stands in the working directory before a later run, as far as it is not kept yet.

    What changed since the run before it ended is somebody else's, and so is what no run was seen to
    write: it is put back from now on, and what the store held of it becomes a version. All else
    that is not as it was kept becomes a version.

    left   the tree as the run before left it; `now`: as it is
    wrote  whether a run was seen to write a path
    Returns the paths that somebody else changed, and those of them that could not be kept.
    """
    index = read(store)
    others = _changed_by_others(index, left, now, wrote)
    unkept = _keep_from_now_on(store, index, others, now, run)
    known = {path: kept.entry for path, kept in [*index.kept.items(), *index.versions]}
    new = {
        path: entry
        for path, entry in now.entries.items()
        if path not in others and entry.kind != "folder" and known.get(path) != entry
    }
    unseen = {path: entry for path, entry in new.items() if not wrote(path)}
    outputs = {path: new[path] for path in new.keys() - unseen.keys()}
    small = {path: entry for path, entry in outputs.items() if entry.size <= OUTPUT_FILE_LIMIT}
    versions, _ = _pack(store, index.root, unseen, COPY_LIMIT)
    of_outputs, _ = _pack(store, index.root, small, OUTPUT_LIMIT)
    for path, kept in (versions | of_outputs).items():
        if kept.has_content:
            index.versions.append((path, replace(kept, run=run)))
    _write(store, index)
    return others, unkept


def _changed_by_others(
    index: Index, left: Tree, now: Tree, wrote: Callable[[str], bool]
) -> frozenset[str]:
    """Return the paths that somebody else changed.

    But for what reprocheck itself prints to and what somebody is writing (`| tee log`): that grows
    all the time.
    """
    paths = left.entries.keys() | now.entries.keys()
    changed = {path for path in paths if left.entries.get(path) != now.entries.get(path)}
    for path, kept in index.kept.items():
        if kept.entry.kind == "folder" or kept.aside:
            continue
        if now.entries.get(path) != kept.entry and not wrote(path):
            changed.add(path)
    changed -= _entries_of(own_output(), index.root, now)
    return frozenset(changed - open_for_writing(index.root, changed))


def _keep_from_now_on(
    store: Path, index: Index, paths: Collection[str], now: Tree, run: int
) -> Unkept:
    """Keep the current contents of these paths; the contents kept before become versions."""
    entries = {path: entry for path, entry in now.entries.items() if path in paths}
    contents, unkept = _pack(store, index.root, entries, COPY_LIMIT)
    for path in paths:
        before = index.kept.pop(path, None)
        if before is not None and before.entry.kind != "folder":
            index.versions.append((path, before))
    for path, entry in entries.items():
        index.kept[path] = replace(contents.get(path) or Kept(entry=entry), run=run)
    return unkept


def _pack(
    store: Path, root: Path, entries: Mapping[str, Entry], limit: int
) -> tuple[dict[str, Kept], Unkept]:
    """Add the contents of files and links to the pack, smaller ones first."""
    kept = {path: Kept(entry=entry) for path, entry in entries.items() if entry.kind == "link"}
    too_large: list[str] = []
    unreadable: list[str] = []
    files = sorted((entry.size, path) for path, entry in entries.items() if entry.kind == "file")
    with (store / PACK).open("r+b", buffering=0) as file:
        pack = Pack(file, limit)
        for size, path in files:
            offset = None
            missing = too_large
            try:
                offset = pack.add(root / path, size)
            except PermissionError:
                missing = unreadable
            except OSError:  # it is being written, or there is no space
                pass
            if offset is None:
                missing.append(path)
            kept[path] = Kept(entry=entries[path], packed=offset)
    return kept, Unkept(
        too_large=tuple(reversed(too_large)), unreadable=tuple(reversed(unreadable))
    )


def move_aside(store: Path, paths: Collection[str]) -> tuple[str, ...]:
    """Move `paths`, which were given to `keep`, out of the working directory until `restore`.

    Returns the paths that could not be moved.
    """
    index = read(store)
    missed: list[str] = []
    taken = {path: kept for path, kept in index.kept.items() if path in paths}
    for path, kept in taken.items():
        if kept.entry.kind == "folder":
            continue
        try:
            if kept.number is None:
                (index.root / path).unlink()
            else:
                move(index.root / path, store / str(kept.number))
        except OSError:
            missed.append(path)
    for path in sorted(taken, reverse=True):
        if taken[path].entry.kind == "folder":
            with contextlib.suppress(OSError):  # not empty: a cache that is not watched, a pipe
                (index.root / path).rmdir()
    return tuple(missed)


def move(source: Path, target: Path) -> None:
    """Move a file, link or folder, also to another file system.

    Whoever is stopped half-way leaves the source whole.
    """
    try:
        source.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    else:
        return
    draft = Path(tempfile.mkdtemp(prefix=".reprocheck-", dir=target.parent))
    try:
        copy = draft / target.name
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, copy, symlinks=True)
        else:
            shutil.copy2(source, copy, follow_symlinks=False)
        copy.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    if source.is_dir() and not source.is_symlink():
        shutil.rmtree(source)
    else:
        source.unlink()


@contextlib.contextmanager
def content(kept: Kept, store: Path) -> Iterator[tuple[BinaryIO, int]]:
    """Open the kept content of a file: the file that holds it, and the offset of it.

    The file is unbuffered.

    Raises FileNotFoundError if it was not kept.
    """
    if not kept.has_content:
        raise FileNotFoundError(errno.ENOENT, "It was not kept", str(store))
    name = PACK if kept.packed is not None else str(kept.number)
    with (store / name).open("rb", buffering=0) as file:
        yield file, kept.packed or 0


def write_content(target: BinaryIO, kept: Kept, store: Path) -> None:
    """Write the kept content of a file to an open and empty file without a buffer."""
    with content(kept, store) as (source, offset):
        copy_part(source, target, offset, kept.entry.size)


def begins_with(path: Path, kept: Kept, store: Path) -> bool:
    """Return whether a file begins with the kept content; of a link, if the target is kept."""
    now = entry_of(path)
    if now is None or now.kind != kept.entry.kind or now.kind == "folder":
        return False
    if now.kind == "link":
        return now.target == kept.entry.target
    if now.size < kept.entry.size:
        return False
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with (
            open(os.open(path, flags), "rb", buffering=0) as file,  # noqa: PTH123
            content(kept, store) as (source, offset),
        ):
            return _same_part(file, source, offset, kept.entry.size)
    except OSError:
        return False


def _same_part(file: BinaryIO, source: BinaryIO, offset: int, size: int) -> bool:
    done = 0
    while done < size:
        part = os.pread(file.fileno(), min(size - done, _AT_ONCE), done)
        if not part or part != os.pread(source.fileno(), len(part), offset + done):
            return False
        done += len(part)
    return True


def same_bytes(path: Path, kept: Kept, store: Path) -> bool:
    """Return whether a file holds exactly the kept content, or a link has the kept target."""
    now = entry_of(path)
    if now is None or (now.kind == "file" and now.size != kept.entry.size):
        return False
    return begins_with(path, kept, store)


@contextlib.contextmanager
def locked(store: Path) -> Iterator[None]:
    """Let one process at a time put back what a store holds.

    The guard of a killed check, or the next command.
    """
    import fcntl

    with (store / OWNER).open("rb") as owner:
        fcntl.flock(owner, fcntl.LOCK_EX)
        yield


def read(store: Path) -> Index:
    """Read the index of a store."""
    document = json.loads((store / INDEX).read_text())
    return Index(
        root=Path(json.loads((store / OWNER).read_text())["workdir"]),
        kept={path: _from_fields(fields) for path, fields in document["kept"].items()},
        versions=[(path, _from_fields(fields)) for path, fields in document["versions"]],
    )


def _write(store: Path, index: Index) -> None:
    """Write the index of a store in one step, after all contents that it lists."""
    document = {
        "kept": {path: astuple(kept) for path, kept in index.kept.items()},
        "versions": [(path, astuple(kept)) for path, kept in index.versions],
    }
    with replacing(store / INDEX) as file:
        file.write(json.dumps(document).encode())


def _from_fields(fields: Sequence[object]) -> Kept:
    entry, packed, number, aside, run = fields
    return Kept(entry=Entry(*entry), packed=packed, number=number, aside=aside, run=run)  # type: ignore


def owner(store: Path) -> Mapping[str, object]:
    """Return what a store says of its check; nothing if the store cannot be read."""
    try:
        facts = json.loads((store / OWNER).read_text())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def started(pid: int) -> str:
    """Return when a process began, in ticks since the start of the system.

    "" if there is no such process.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return ""


def clone(source: Path, target: Path) -> bool:
    """Make `target` share the blocks of `source` (reflink); return False if the file system cannot.

    Raises OSError if unreadable.
    """
    from fcntl import ioctl

    with source.open("rb") as read, target.open("wb") as write:
        try:
            ioctl(write.fileno(), FICLONE, read.fileno())
        except OSError:
            target.unlink()
            return False
    return True


def _entries_of(identities: frozenset[tuple[int, int]], root: Path, tree: Tree) -> frozenset[str]:
    """Return the paths of the files of a tree that have one of these (device, inode) pairs."""
    inodes = {inode for _, inode in identities}
    paths = set()
    for path, entry in tree.entries.items():
        if entry.kind == "file" and entry.inode in inodes:
            with contextlib.suppress(OSError):
                if ((root / path).stat().st_dev, entry.inode) in identities:
                    paths.add(path)
    return frozenset(paths)
