"""Putting back what the runs overwrote, removed or touched.

Only what the runs themselves wrote is put back, and nothing is replaced without a copy. A file that
changed in any other way was changed by somebody else: it stays as it is, and how it stood before is
archived. No link on the way to a file is followed, and what somebody makes meanwhile stays.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from reprocheck.files.anchored_paths import Anchor, free_name
from reprocheck.launch.workdir.archive import (
    BEFORE,
    LEFT,
    MEANWHILE,
    Archive,
    inside,
    make,
    set_metadata,
    set_mode,
    set_owner_and_mode,
)
from reprocheck.launch.workdir.file_events import COPIES, FileEvents
from reprocheck.launch.workdir.snapshot import (
    INDEX,
    OWNER,
    Index,
    Kept,
    begins_with,
    locked,
    read,
    same_bytes,
    write_content,
)
from reprocheck.launch.workdir.tree import Entry, Tree, entry_of, hard_links, read_tree
from reprocheck.launch.workdir.writers import open_for_writing
from reprocheck.model import FilesAfter


@dataclass(frozen=True, kw_only=True, slots=True)
class Ours:
    """Decides which changes of files the runs made.

    left   the tree as the runs left it, None if unknown; then changes later than `until` are not
           those of the runs
    until  Unix seconds; None if nobody else can have changed anything since the runs ended
    """

    events: FileEvents
    left: Tree | None = None
    until: float | None = None

    def stands_as_left(self, path: str, location: Path, now: Entry | None) -> bool:
        """Return whether the file at a path is as the runs left it."""
        # the tree has nothing of files elsewhere
        if self.left is not None and self.left.complete and not path.startswith("/"):
            return self.left.entries.get(path) == now
        if self.until is None or now is None:
            return True
        return location.lstat().st_ctime <= self.until


def restore(store: Path, ours: Ours, archive: Archive) -> FilesAfter:
    """Put back what the runs changed, and remove the store if nothing of it is needed any more.

    What the runs had written in its place goes to `left`, how files stood before that somebody else
    changed to `before`, what else stood there meanwhile to `meanwhile`. What has been created since
    stays, and so does what somebody is writing (`| tee log`). A store without index (killed while
    it was filled) is removed: nothing had been started.
    """
    if not (store / INDEX).exists():
        shutil.rmtree(store, ignore_errors=True)
        return FilesAfter()
    with locked(store):
        if not (store / INDEX).exists():  # somebody else has put them back meanwhile
            return FilesAfter()
        restoration = _Restoration(store, read(store), ours, archive)
        restoration.run()
        if restoration.lost:
            os.utime(store / OWNER)  # up to now all that the runs wrote is theirs
        else:
            shutil.rmtree(store, ignore_errors=True)
        return restoration.outcome()


class _Restoration:
    """The restoration of one store to its working directory."""

    def __init__(self, store: Path, index: Index, ours: Ours, archive: Archive) -> None:
        self._store, self._index, self._ours, self._archive = store, index, ours, archive
        entries = [(path, kept.entry) for path, kept in index.kept.items()]
        versions = [(path, kept.entry) for path, kept in index.versions]
        self._groups = hard_links(entries)
        ours.events.know_names(hard_links(entries + versions))
        if ours.left is None:  # nobody has looked since the script may have given files other names
            ours.events.know_names(hard_links(read_tree(index.root).entries.items()))
        # by the entry of a file with several names, a name that leads to it as it was kept
        self._intact: dict[Entry, str] = {}
        self._real_folders = {""}
        self.put_back: list[str] = []
        self.replaced: list[str] = []
        self.others: list[str] = []
        self.archived: list[str] = []
        self.saved: list[str] = []
        self.lost: list[str] = []
        self.unkept: list[str] = []

    def run(self) -> None:
        """Put everything back. A working directory in whose place a link stands loses all."""
        with ExitStack() as stack:
            try:
                root = stack.enter_context(Anchor.without_links(self._index.root))
            except OSError:
                self.lost += self._index.kept
                return
            self._root, self._top = root, stack.enter_context(Anchor(Path("/")))
            entries = self._index.kept
            folders = [path for path in entries if entries[path].entry.kind == "folder"]
            for path in sorted(folders, key=lambda path: path.count("/")):
                with suppress(OSError):  # a file that needs it is then named as lost
                    self._put_back_folder(path, entries[path])
            mine, theirs = self._changed_files()
            for path in mine:
                self._put_back(path)
            for path in theirs:
                self._leave(path)
            for path, kept in self._index.versions:
                self._archive_version(path, kept, self._store)
            for path, copy in self._ours.events.overwritten:
                self._archive_copy(path, copy)
            self._remove_copies()

    def outcome(self) -> FilesAfter:
        """Return what became of the user's files."""

        def folder(name: str, paths: Sequence[str]) -> str:
            return str(self._archive.path(name)) if paths else ""

        return FilesAfter(
            put_back=tuple(self.put_back),
            replaced=tuple(self.replaced),
            left=folder(LEFT, self.replaced),
            others=tuple(dict.fromkeys(self.others)),
            kept=tuple(dict.fromkeys(self.archived)),
            before=folder(BEFORE, self.archived),
            saved=tuple(self.saved),
            meanwhile=folder(MEANWHILE, self.saved),
            lost=tuple(self.lost),
            unkept=tuple(self.unkept),
        )

    def _put_back_folder(self, path: str, kept: Kept) -> None:
        is_ours = kept.aside or self._ours.events.wrote(path)
        with self._location(path) as location:
            now = entry_of(location)
            if now is not None and now.kind != "folder":
                if not is_ours or not self._ours.stands_as_left(path, location, now):
                    return
                self._take_left(location, path)
                now = None
            if now is None:
                if not is_ours:
                    return
                location.mkdir()
            if is_ours:
                set_owner_and_mode(location, kept.entry)
            self._real_folders.add(path)

    def _make_parents(self, path: str) -> None:
        """Make the parent folders of a file again if somebody else has removed them."""
        for parent in reversed(PurePosixPath(path).parents):
            kept = self._index.kept.get(str(parent))
            if kept is None or str(parent) in self._real_folders:
                continue
            with self._location(str(parent), make=True) as location:
                location.mkdir()
                set_owner_and_mode(location, kept.entry)
            self._real_folders.add(str(parent))

    def _changed_files(self) -> tuple[list[str], list[str]]:
        """Return the files that the runs changed, and those that somebody else changed."""
        now: dict[str, Entry | None] = {}
        for path, kept in self._index.kept.items():
            if kept.entry.kind == "folder":
                continue
            folder = path.rpartition("/")[0]
            entry = None
            # else behind a link or a file that somebody put in the place of the folder
            if path.startswith("/") or folder in self._real_folders:
                entry = entry_of(self._index.root / path)
            if entry != kept.entry:
                now[path] = entry
            elif path in self._groups:
                self._intact.setdefault(kept.entry, path)
        root = self._index.root
        written = open_for_writing(root, now)
        mine: list[str] = []
        theirs: list[str] = []
        for path, entry in now.items():
            kept = self._index.kept[path]
            if path in written:
                if not begins_with(root / path, kept, self._store):
                    theirs.append(path)
            elif self._is_ours(path, kept, entry):
                mine.append(path)
            elif not same_bytes(root / path, kept, self._store):
                theirs.append(path)
        return mine, theirs

    def _is_ours(self, path: str, kept: Kept, now: Entry | None) -> bool:
        """Return whether the runs made a path what it is now, or moved it aside."""
        if not kept.aside and not self._ours.events.wrote(path):
            return False
        return self._ours.stands_as_left(path, self._index.root / path, now)

    def _put_back(self, path: str) -> None:
        kept = self._index.kept[path]
        try:
            self._make_parents(path)
            with self._location(path, make=True) as location:
                if not self._put_back_at(location, path, kept):
                    self.unkept.append(path)
                    return
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.ENOTDIR, errno.ELOOP):  # somebody else's
                self._leave(path)
            else:
                self.lost.append(path)
            return
        self.put_back.append(path)
        if path in self._groups:
            self._intact.setdefault(kept.entry, path)

    def _put_back_at(self, location: Path, path: str, kept: Kept) -> bool:
        """Put back the file at a path; False, and it stays, if no copy of it was kept."""
        now, entry = entry_of(location), kept.entry
        if now is not None and self._has_content_of(location, now, path, kept):
            set_metadata(location, entry)
            return True
        if not kept.has_content:
            return False
        if now is not None and _can_only_be_written(location, now, entry):
            self._archive.copy_left(location, path)
            self.replaced.append(path)
            set_mode(location, kept.entry.mode | stat.S_IWUSR)
            descriptor = os.open(location, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW)
            with open(descriptor, "wb", buffering=0) as file:  # noqa: PTH123 - a descriptor has no path
                write_content(file, kept, self._store)
            set_metadata(location, kept.entry)
            return True
        # FileExistsError where somebody makes something there meanwhile.
        draft = free_name(location.with_name(f".reprocheck-{os.getpid()}"))
        try:
            if not self._link(draft, path, kept):
                make(draft, kept, self._store)
            if now is not None:
                self._take_left(location, path)
            _name(draft, location)
        finally:
            draft.unlink(missing_ok=True)
        return True

    def _has_content_of(self, location: Path, now: Entry, path: str, kept: Kept) -> bool:
        """Return whether the file at a path has the kept content, apart from mode and times."""
        entry = kept.entry
        is_same_file = (now.kind, now.inode) == ("file", entry.inode)
        if is_same_file and (now.size, now.mtime) == (entry.size, entry.mtime):
            return True
        if path in self._groups and not is_same_file:
            return False
        return same_bytes(location, kept, self._store)

    def _take_left(self, location: Path, path: str) -> None:
        self._archive.take_left(location, path)
        self.replaced.append(path)

    def _link(self, draft: Path, path: str, kept: Kept) -> bool:
        """Make a draft another name of the file itself.

        Of the one in the store, or of that which had several names.
        """
        sibling = self._intact.get(kept.entry) if path in self._groups else None
        try:
            if sibling is not None:
                with self._location(sibling) as source:
                    os.link(source, draft, follow_symlinks=False)
                return True
            if kept.number is not None:
                os.link(self._store / str(kept.number), draft, follow_symlinks=False)
                return True
        except OSError:  # another file system, or one without hard links
            return False
        return False

    @contextlib.contextmanager
    def _location(self, path: str, *, make: bool = False) -> Iterator[Path]:
        anchor = self._top if path.startswith("/") else self._root
        with anchor.path(path, make=make) as location:
            yield location

    def _leave(self, path: str) -> None:
        """Leave a file as somebody else made it, and archive its earlier content."""
        self.others.append(path)
        kept = self._index.kept[path]
        if kept.has_content:
            self._archive_kept(path, kept, self._store)

    def _archive_kept(self, path: str, kept: Kept, store: Path) -> None:
        if kept.run > 1:
            self._save(path, kept, store)
        elif self._archive.put(BEFORE, inside(path), kept, store):
            self.archived.append(path)

    def _save(self, path: str, kept: Kept, store: Path) -> None:
        name = self._archive.put(MEANWHILE, f"run-{kept.run}/{inside(path)}", kept, store)
        if name:
            self.saved.append(name)

    def _archive_version(self, path: str, kept: Kept, store: Path) -> None:
        """Archive what stood at a path before a later run, if it stands nowhere else by now.

        What stood there before run 1 also where it has only grown.
        """
        grown = kept.run > 1
        if self._stands(path, kept, store, grown=grown):
            return
        if not grown:
            self.others.append(path)
        self._archive_kept(path, kept, store)

    def _archive_copy(self, path: str, copy: Path) -> None:
        """Archive what a process of a run found at a path before it wrote there.

        Somebody else had made it meanwhile.
        """
        entry = entry_of(copy)
        if entry is None or entry.kind == "folder":
            return
        run = int(copy.parents[2].name.removeprefix("run-"))
        kept = Kept(entry=entry, number=int(copy.name), run=run)
        before = self._index.kept.get(path)
        is_known = before is not None and same_bytes(copy, before, self._store)
        if not is_known and not self._stands(path, kept, copy.parent, grown=True):
            self._save(path, kept, copy.parent)

    def _remove_copies(self) -> None:
        """Remove the copies that processes of the runs made, once the needed ones are archived."""
        traces = {trace.parent for _, trace, _ in self._ours.events.copies}
        for trace in traces:
            with suppress(OSError):
                real = self._archive.path(f"{trace.parent.name}/{trace.name}")
                with Anchor.without_links(real) as anchor, anchor.path(COPIES) as folder:
                    shutil.rmtree(folder)

    def _stands(self, path: str, kept: Kept, store: Path, *, grown: bool) -> bool:
        """Return whether a content is at its path, or in the files that the runs left.

        With `grown` also if more follows it.
        """
        is_there = begins_with if grown else same_bytes
        if is_there(self._archive.path(LEFT) / inside(path), kept, store):
            return True
        with suppress(OSError), self._location(path) as location:
            return is_there(location, kept, store)
        return False


def _can_only_be_written(location: Path, now: Entry, before: Entry) -> bool:
    """Return whether a file has to be overwritten in place.

    It is the same file with several names, or its folder takes no new file.
    """
    is_same = (now.kind, now.inode) == (before.kind, before.inode) == ("file", before.inode)
    return is_same and (now.links > 1 or not os.access(location.parent, os.W_OK))


def _name(draft: Path, location: Path) -> None:
    """Move a file to its name. Raises FileExistsError if the name is taken."""
    try:
        os.link(draft, location, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(location):
            raise FileExistsError(errno.EEXIST, "Somebody made it", str(location)) from None
        draft.rename(location)
