"""What stood in the working directory before a check, kept so that it can be put back.

The kept contents lie in the folder of the check under `snapshot/`, with an index, until they have been put back: a check that is
killed loses nothing (`python -m reprocheck.launch.cleanup DIR` puts back what it left).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import BinaryIO

from reprocheck.launch.tree import Entry, Tree, entry_of
from reprocheck.launch.writers import open_for_writing, own_output

SMALL = 1 << 16
"""Files up to this size are kept one after the other in one file, `pack`."""
COPY_LIMIT = 256 << 20
"""Bytes that are copied at most, where the file system cannot share them."""
FICLONE = 0x40049409

INDEX, OWNER, PACK = "index.json", "owner.json", "pack"


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """An entry and where its content is: an offset in `pack`, the number of a file, or None where it was not kept.

    `aside`: the file itself was moved into the store, so that it stands in the working directory no more.
    """

    entry: Entry
    packed: int | None = None
    number: int | None = None
    aside: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Restored:
    """Paths that were put back, and those that had been changed and could not be."""

    back: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def keep(root: Path, tree: Tree, store: Path, limit: int = COPY_LIMIT, *, aside: Collection[str] = ()) -> tuple[str, ...]:
    """Keeps the contents of a tree in `store`, smaller files first. Returns the paths of those too large, the largest first.

    What reprocheck itself prints to (`> log`) is not kept: it is never to be put back. `aside`: paths that `move_aside` is to move.
    """
    store.mkdir(parents=True)
    (store / OWNER).write_text(json.dumps({"workdir": str(root), "pid": os.getpid()}))
    ours = _entries_of(own_output(), root, tree)
    kept = {path: Kept(entry=entry) for path, entry in tree.entries.items() if path not in ours}
    files = sorted((entry.size, path) for path, entry in tree.entries.items() if entry.kind == "file" and path not in ours)
    left_out: list[str] = []
    copied, can_clone = 0, True
    with (store / PACK).open("wb") as pack:
        for number, (size, path) in enumerate(files):
            entry = tree.entries[path]
            if path in aside:
                kept[path] = Kept(entry=entry, number=number, aside=True)
                continue
            try:
                if size <= SMALL and copied + size <= limit:
                    kept[path] = Kept(entry=entry, packed=_append(pack, root / path, size))
                    copied += size
                    continue
                can_clone = can_clone and clone(root / path, store / str(number))
                if not can_clone and copied + size > limit:
                    left_out.append(path)
                    continue
                if not can_clone:
                    shutil.copyfile(root / path, store / str(number))
                    copied += size
                kept[path] = Kept(entry=entry, number=number)
            except OSError:
                left_out.append(path)
    lines = {path: [*astuple(item.entry), item.packed, item.number, item.aside] for path, item in kept.items()}
    (store / INDEX).write_text(json.dumps(lines))
    return tuple(reversed(left_out))


def move_aside(store: Path, paths: Collection[str]) -> tuple[str, ...]:
    """Takes `paths`, which `keep` was told of, out of the working directory until `restore`. Returns those that could not be taken."""
    root, index = _read(store)
    missed: list[str] = []
    for path in (path for path, kept in index.items() if path in paths and kept.entry.kind != "folder"):
        number = index[path].number
        try:
            if number is None:
                (root / path).unlink()
            else:
                move(root / path, store / str(number))
        except OSError:
            missed.append(path)
    for path in sorted((path for path, kept in index.items() if path in paths and kept.entry.kind == "folder"), reverse=True):
        with contextlib.suppress(OSError):  # not empty: a cache that is not watched, a pipe
            (root / path).rmdir()
    return tuple(missed)


def move(source: Path, target: Path) -> None:
    """Moves a file or link, also to another file system; whoever is stopped half-way leaves the source whole."""
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


def restore(store: Path) -> Restored:
    """Puts back what stood in the working directory when `keep` was called, and removes the store if nothing was lost.

    What has been created since stays, and so does what somebody is writing (`| tee log`).
    A store without index (killed while it was filled) is removed: nothing had been started.
    """
    if not (store / INDEX).exists():
        shutil.rmtree(store, ignore_errors=True)
        return Restored()
    root, index = _read(store)
    other: dict[str, Kept] = {}
    for path, kept in index.items():
        if entry_of(root / path) != kept.entry and not (kept.entry.kind == "folder" and _same_folder(root / path, kept.entry)):
            other[path] = kept
    back: list[str] = []
    lost: list[str] = []
    written = open_for_writing(root, other)
    for path, kept in other.items():
        if path in written:
            continue
        try:
            _put_back(root / path, kept, store)
            back.append(path)
        except OSError:
            lost.append(path)
    if not lost:
        shutil.rmtree(store, ignore_errors=True)
    return Restored(back=tuple(back), lost=tuple(lost))


def _read(store: Path) -> tuple[Path, dict[str, Kept]]:
    """The working directory that a store is of, and its index."""
    root = Path(json.loads((store / OWNER).read_text())["workdir"])
    index = {}
    for path, fields in json.loads((store / INDEX).read_text()).items():
        *facts, packed, number, aside = fields
        index[path] = Kept(entry=Entry(*facts), packed=packed, number=number, aside=aside)
    return root, index


def left_behind(output: Path, workdir: Path) -> tuple[Path, ...]:
    """Folders of checks of this working directory that were killed before they put its files back."""
    found = []
    for owner in output.glob(f"*/snapshot/{OWNER}"):
        try:
            facts = json.loads(owner.read_text())
            if facts["workdir"] == str(workdir) and not _alive(facts["pid"]):
                found.append(owner.parent.parent)
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return tuple(sorted(found))


def clone(source: Path, target: Path) -> bool:
    """Makes `target` share the blocks of `source` (reflink); False where the file system cannot. OSError if unreadable."""
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
    return f"{named} and {len(paths) - most} more" if len(paths) > most else named


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


def _append(pack: BinaryIO, path: Path, size: int) -> int:
    data = path.read_bytes()
    if len(data) != size:
        raise OSError("the file is being written")
    offset = pack.tell()
    pack.write(data)
    return offset


def _put_back(path: Path, kept: Kept, store: Path) -> None:
    entry, now = kept.entry, entry_of(path)
    if entry.kind == "folder":
        if now is None or now.kind != "folder":
            path.mkdir(parents=True)
        path.chmod(entry.mode)
        return
    if now is not None and now.kind == entry.kind == "file" and _same_content(now, entry):
        path.chmod(entry.mode)
        return
    if kept.aside and (store / str(kept.number)).exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        move(store / str(kept.number), path)
        return
    new = path.with_name(f".{path.name[:200]}.reprocheck")
    if entry.kind == "link":
        new.unlink(missing_ok=True)
        new.symlink_to(entry.target or "")
    else:
        _write_content(new, kept, store)
        new.chmod(entry.mode)
    with contextlib.suppress(OSError):
        os.chown(new, entry.uid, entry.gid, follow_symlinks=False)
    os.utime(new, ns=(entry.mtime, entry.mtime), follow_symlinks=False)
    try:
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def _write_content(target: Path, kept: Kept, store: Path) -> None:
    if kept.packed is not None:
        with (store / PACK).open("rb") as pack:
            pack.seek(kept.packed)
            target.write_bytes(pack.read(kept.entry.size))
    elif kept.number is not None:
        source = store / str(kept.number)
        if not clone(source, target):
            shutil.copyfile(source, target)
    else:
        raise FileNotFoundError(target)


def _same_content(now: Entry, before: Entry) -> bool:
    return (now.size, now.mtime, now.inode) == (before.size, before.mtime, before.inode)


def _same_folder(path: Path, before: Entry) -> bool:
    now = entry_of(path)
    return now is not None and now.kind == "folder" and now.mode == before.mode


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
