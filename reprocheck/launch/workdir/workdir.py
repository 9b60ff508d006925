"""Give the runs a working directory.

The user's own, put back afterwards, or a fresh copy for each run.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from reprocheck.errors import ReportError
from reprocheck.files.anchored_paths import Anchor
from reprocheck.files.summary import summary
from reprocheck.launch.workdir import snapshot
from reprocheck.launch.workdir.archive import LEFT, Archive
from reprocheck.launch.workdir.changed_files import events_of, real, relative_to, seen_by, sentences
from reprocheck.launch.workdir.file_events import FileEvents
from reprocheck.launch.workdir.hold import Hold, hold_of
from reprocheck.launch.workdir.restoration import Ours, restore
from reprocheck.launch.workdir.tree import (
    CACHES,
    SKIPPED_FOLDERS,
    Entry,
    Tree,
    entry_of,
    file_changes,
    hard_links,
    read_tree,
)
from reprocheck.launch.workdir.writers import open_for_writing
from reprocheck.model import FileChanges, FilesAfter
from reprocheck.recording import record

MOST_LINKS = 5_000
"""Entries of a folder above the working directory; of one that holds more, nothing is linked."""


def place_in(root: Path, source: Path) -> Path:
    """Return the path of the copy of `source` below `root`.

    Its absolute path, so that each of its folders has a parent there.
    """
    return root.joinpath(*source.parts[1:])


def surround(root: Path, source: Path) -> None:
    """Make the folders that lead to the place of `source` below `root`.

    With links to what stands beside it on the way.

    The links are shared by all runs, and lead to the user's own files. A folder that cannot be
    listed gets none.
    """
    original, copy = Path("/"), root
    for name in source.parts[1:]:
        copy.mkdir(parents=True)
        try:
            names = os.listdir(original)  # noqa: PTH208 - names alone, of what may be a large folder
        except OSError:
            names = []
        if len(names) <= MOST_LINKS:
            for other in names:
                if other != name:
                    (copy / other).symlink_to(original / other)
        original, copy = original / name, copy / name


Say = Callable[[str], None]
CLOCK_SLACK = 0.01
"""Seconds by which the clock of a file system may be late."""
NO_COPY = "Name a folder that has more space with --output, or leave --workdir copy out."
COPY_ADVICE = "Use `--workdir copy` to give each run its own copy."
NO_ROOM = "There is no space for `--workdir copy` here: make sure that the script only reads them."


class Workdir(Protocol):
    """The place in which the runs of a check work.

    Used as: `begin`, run, `secure`, `end` for each run, then `close` once.

    began  Unix seconds before the run from which on somebody else may work there as well; None
           where nobody else does
    """

    path: Path
    began: float | None

    @property
    def hold(self) -> Hold:
        """Return the open files of the store that a run's guard keeps until `end`."""

    def secure(self) -> None:
        """Restore missing files of the store if the run removed them, before its guard exits."""

    def begin(self) -> None:
        """Prepare the working directory before a run."""

    def end(self, events: FileEvents) -> FileChanges:
        """Return what a run did to the tree, given its trace `events`."""

    def close(self, *, undo: bool = False) -> FilesAfter:
        """Restore the folder after the last run, and when the check is broken off."""


class InPlace:
    """The user's own folder.

    What stood there is kept before run 1 and put back by `close`; what the runs created stays,
    unless undone. What somebody else changes between two runs is kept as well.

    archive  the folders that take files of it
    """

    _why_moved = "Created by the runs, of which a later one failed where the first did not"

    def __init__(self, archive: Archive, *, leave_out: Collection[Path], say: Say) -> None:
        self.path = archive.workdir
        self.began: float | None = None
        self._archive = archive
        self._leave_out = leave_out
        self._folder = archive.folder
        self._store = archive.folder / snapshot.STORE
        self._say = say
        self._events = FileEvents()
        self._runs = 0
        self._under_way = self._removed = False
        self._hold = Hold()
        self._tree = self._start = self._found = read_tree(self.path, leave_out)
        self._of_others: frozenset[str] = frozenset()
        self._keep()

    def _keep(self) -> None:
        """Keep what stands in the folder, and name what is not safe."""
        if not self._tree.complete:
            self._say(
                f"The working directory holds more than {len(self._tree.entries)} files: the rest"
                f" is not watched. {COPY_ADVICE}"
            )
        if self._tree.mounted:
            self._say(
                "On another device, and neither watched nor kept:"
                f" {summary(self._tree.mounted)}. What the script overwrites or deletes"
                " there cannot be put back."
            )
        unkept = snapshot.keep(self.path, self._tree, self._store, runs=self._archive.place)
        self._warn(unkept)

    def _warn(self, unkept: snapshot.Unkept) -> None:
        """Name what cannot be put back, before the script may overwrite it."""
        if unkept.unreadable:
            self._say(
                f"Cannot be read, and so not kept: {summary(unkept.unreadable)}. If the"
                " script overwrites or deletes them, they cannot be put back."
            )
        too_large = unkept.too_large
        if too_large:
            size = sum(self._tree.entries[name].size for name in too_large) / 1e6
            advice = COPY_ADVICE if has_room(self.path, self._leave_out, self._folder) else NO_ROOM
            self._say(
                f"Too large to keep: {summary(too_large)} ({size:,.0f} MB in all). If the"
                f" script overwrites or deletes them, they cannot be put back. {advice}"
            )

    @property
    def hold(self) -> Hold:
        """Return the hold on the store."""
        return self._hold

    def begin(self) -> None:
        """Prepare a run, which finds what the run before it left.

        What somebody else has changed since is kept.
        """
        self.began = time.time() - CLOCK_SLACK
        if self._runs:
            self._keep_changes()
        self._runs += 1
        self._hold.close()
        self._hold = hold_of(self._store)
        self._under_way = True

    def _keep_changes(self) -> None:
        left, self._tree = self._tree, read_tree(self.path, self._leave_out)
        changed, unkept = snapshot.extend(
            self._store,
            left=left,
            now=self._tree,
            run=self._runs + 1,
            wrote=self._events.wrote,
        )
        self._of_others |= changed
        self._warn(unkept)

    def secure(self) -> None:
        """Write the store again where the run removed it. Raises ReportError."""
        self._removed = self._hold.write_back(self._archive)

    def end(self, events: FileEvents) -> FileChanges:
        """Return what changed since the run began, but for what others are writing.

        Others are outside the run. Raises ReportError where the run removed the report folder.
        """
        self._under_way = False
        before, self._tree = self._tree, read_tree(self.path, self._leave_out)
        events.know_names(hard_links(before.entries.items()))
        events.know_names(hard_links(self._tree.entries.items()))
        self._events.add(events)
        if self._removed:
            raise record.removed(self._folder)
        return seen_by(events, _without_writers(self.path, file_changes(before, self._tree)))

    def close(self, *, undo: bool = False) -> FilesAfter:
        """Put back what the runs overwrote, deleted or touched.

        Names what somebody else changed, and what could not be put back.

        With `undo`, what the runs created is moved to the report folder first.
        """
        ours = Ours(events=self._events, left=self._tree)
        if self._under_way:
            # what a run did that was broken off stands in its trace alone
            ours = Ours(events=events_of(self._folder, self._archive.place))
        moved, others = self._undone(ours) if undo else ((), ())
        with self._hold.ended(self._archive):
            after = restore(self._store, ours, self._archive)
        after = replace(
            after,
            others=(*after.others, *others),
            unkept=(*after.unkept, *self._removed_folders()),
        )
        after = relative_to(self._folder, after)
        for sentence in sentences(after, self._folder, self.path):
            self._say(sentence)
        if not moved:
            return after
        left = self._archive.path(LEFT)
        self._say(
            f"{self._why_moved}, and moved to {os.path.relpath(left, self.path)}: {summary(moved)}."
        )
        return replace(after, moved=moved, left=os.path.relpath(left, self._folder))

    def _removed_folders(self) -> Iterator[str]:
        """Yield folders that were never kept, such as a repository, and that are gone."""
        for path in self._found.skipped:
            if Path(path).name not in CACHES and not os.path.lexists(self.path / path):
                yield path

    def _undone(self, ours: Ours) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Move what the runs created to the report folder.

        Returns what was moved, and what is new and not theirs.
        """
        now = read_tree(self.path, self._leave_out)
        changes = _without_writers(self.path, file_changes(self._start, now))
        others = self._found.entries.keys() | self._of_others
        new = [path for path in changes.created if path not in others]
        made = [
            path
            for path in new
            if ours.events.wrote(path)
            and ours.stands_as_left(path, self.path / path, now.entries.get(path))
        ]
        moved = []
        with Anchor.without_links(self.path) as anchor:
            for path in made:
                with contextlib.suppress(OSError), anchor.path(path) as location:
                    self._archive.take_left(location, path)
                    moved.append(path)
            for folder in sorted(changes.folders, reverse=True):
                if folder not in others and ours.events.wrote(folder):
                    with contextlib.suppress(OSError), anchor.path(folder) as location:
                        location.rmdir()  # unless something is left in it
        return tuple(moved), tuple(path for path in new if path not in made)


class InPlaceAgain(InPlace):
    """The user's own folder as the first run of the check found it.

    What earlier runs created (`created`) is set aside before run 1.

    So are files that they made outside of it (`elsewhere`, masked), where those are not too large
    to be moved.
    `close` leaves the folder as it was found: what these runs created themselves is moved to the
    report folder.
    """

    _why_moved = "Created only by the runs recorded again"

    def __init__(
        self,
        archive: Archive,
        *,
        leave_out: Collection[Path],
        say: Say,
        created: Collection[str],
        elsewhere: Collection[str] = (),
    ) -> None:
        self._elsewhere = _movable(elsewhere, say)
        mine = {*created, *self._elsewhere}
        self._aside = frozenset(mine) - open_for_writing(archive.workdir, mine)
        super().__init__(archive, leave_out=leave_out, say=say)
        missed = snapshot.move_aside(self._store, self._aside)
        if missed:
            say(
                "Could not be set aside, so the runs that follow find what earlier runs left:"
                f" {summary(missed)}."
            )
        self._tree = self._start = read_tree(self.path, leave_out)

    def _keep(self) -> None:
        tree = replace(self._tree, entries={**self._tree.entries, **self._elsewhere})
        snapshot.keep(self.path, tree, self._store, aside=self._aside, runs=self._archive.place)

    def close(self, *, undo: bool = True) -> FilesAfter:
        """Move what these runs created to the report folder, and put the rest back."""
        return super().close(undo=True)


def _movable(elsewhere: Collection[str], say: Say) -> dict[str, Entry]:
    """Return files outside of the working directory that can be set aside.

    By their whole paths: none where they are large together.
    """
    entries = {str(real(path)): entry_of(real(path)) for path in elsewhere}
    files = {
        path: entry for path, entry in entries.items() if entry is not None and entry.kind == "file"
    }
    if sum(entry.size for entry in files.values()) <= snapshot.COPY_LIMIT:
        return files
    say(
        "Too large to be set aside, so the runs that follow find what earlier runs left:"
        f" {summary(list(elsewhere))}."
    )
    return {}


def _without_writers(root: Path, changes: FileChanges) -> FileChanges:
    """Return changes but for those of files that somebody outside of the run is writing."""
    theirs = open_for_writing(root, {*changes.created, *changes.changed})
    return replace(
        changes,
        created=tuple(path for path in changes.created if path not in theirs),
        changed=tuple(path for path in changes.changed if path not in theirs),
    )


class Copies:
    """A copy of the user's folder, made anew before each run.

    It lies below `root`, with links around it to what lies around the user's folder. `finish`: what
    is still to be done to the copy.
    """

    def __init__(
        self,
        source: Path,
        *,
        root: Path,
        leave_out: Collection[Path],
        say: Say,
        finish: Callable[[Path], None] | None = None,
    ) -> None:
        self.path = place_in(root, source)
        self.began: float | None = None
        self._root = root
        self._source = source
        self._leave_out = leave_out
        self._say = say
        self._finish = finish
        self._tree = Tree({})
        self._told = False

    @property
    def hold(self) -> Hold:
        """Return an empty one: the user's own folder is not changed."""
        return Hold()

    def secure(self) -> None:
        """Do nothing, likewise."""

    @property
    def tree(self) -> Tree:
        """Return what stood in the copy when the run began."""
        return self._tree

    def begin(self) -> None:
        """Replace the copy by a fresh one. ReportError if it cannot be written."""
        self._remove()
        tree = read_tree(self._source, self._leave_out, limit=10_000_000)
        try:
            surround(self._root, self._source)
            missed = copy_tree(self._source, tree, self.path)
        except OSError as error:
            raise ReportError(
                f"The working directory cannot be copied to {self.path}: {error.strerror}.", NO_COPY
            ) from None
        if tree.mounted and not self._told:
            self._say(
                "On another device, and shared by the runs and their copies:"
                f" {summary(tree.mounted)}."
            )
        if missed and not self._told:
            self._say(
                "Not in the copy of the working directory, since they cannot be read:"
                f" {summary(missed)}."
            )
        self._told = True
        if self._finish is not None:
            self._finish(self.path)
        self._tree = read_tree(self.path)

    def end(self, events: FileEvents) -> FileChanges:
        """Return what the run did to its copy, which nobody else knows of."""
        changes = replace(file_changes(self._tree, read_tree(self.path)), copied=True)
        return self._of_others(seen_by(events, changes, alone=True))

    def _of_others(self, seen: FileChanges) -> FileChanges:
        """Return the files without those around the copy below `root`.

        They are removed with the copy, and no other run finds them.
        """

        def outside(paths: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(path for path in paths if not real(path).is_relative_to(root))

        root = self._root.resolve()
        return replace(
            seen,
            elsewhere=outside(seen.elsewhere),
            made=outside(seen.made),
            gone=outside(seen.gone),
            read=outside(seen.read),
        )

    def close(self, *, undo: bool = False) -> FilesAfter:
        """Remove the copy."""
        self._remove()
        return FilesAfter()

    def _remove(self) -> None:
        if self._root.exists():
            # the script may have closed folders
            for parent, names, _ in os.walk(self._root):
                for name in names:
                    path = Path(parent, name)
                    if not path.is_symlink() and not os.access(path, os.W_OK | os.X_OK):
                        path.chmod(0o700)
            shutil.rmtree(self._root, ignore_errors=True)


def has_room(source: Path, leave_out: Collection[Path], folder: Path) -> bool:
    """Return whether a copy of a tree can lie in a folder.

    There is space for it, or the file system can share the blocks.
    """
    tree = read_tree(source, leave_out, limit=10_000_000)
    needed = sum(entry.size for entry in tree.entries.values())
    return needed <= shutil.disk_usage(folder).free or _can_clone(source, tree, folder)


def copy_tree(source: Path, tree: Tree, target: Path) -> tuple[str, ...]:
    """Copy a tree, sharing blocks where the file system can.

    Virtual environments and other devices are linked, other skipped folders copied.

    Returns what could not be read. Raises OSError where the target cannot be written.
    """
    needed = sum(entry.size for entry in tree.entries.values())
    target.mkdir(parents=True, exist_ok=True)
    can_clone = _can_clone(source, tree, target)
    if not can_clone and needed > shutil.disk_usage(target).free:
        raise OSError(28, f"it holds {needed / 1e9:.1f} GB, more than there is space for")
    missed = list(tree.unreadable)
    for path, entry in tree.entries.items():
        if entry.kind == "folder":
            (target / path).mkdir()
        elif entry.kind == "link":
            (target / path).symlink_to(_link_target(source, path, entry))
        elif not os.access(source / path, os.R_OK):
            missed.append(path)
        else:
            _copy_file(source / path, target / path, entry, can_clone)
    for path in tree.mounted:
        (target / path).symlink_to(source / path)
    for path in tree.skipped:
        if Path(path).name in SKIPPED_FOLDERS - {"node_modules"}:
            shutil.copytree(
                source / path, target / path, symlinks=True, ignore_dangling_symlinks=True
            )
        else:
            (target / path).symlink_to(source / path)
    for path, entry in reversed(list(tree.entries.items())):
        if entry.kind == "folder":
            (target / path).chmod(entry.mode)
            os.utime(target / path, ns=(entry.mtime, entry.mtime))
    return tuple(missed)


def _copy_file(source: Path, target: Path, entry: Entry, can_clone: bool) -> None:
    if not (can_clone and snapshot.clone(source, target)):
        shutil.copyfile(source, target)
    target.chmod(entry.mode)
    os.utime(target, ns=(entry.mtime, entry.mtime))


def _can_clone(source: Path, tree: Tree, target: Path) -> bool:
    probe = target / ".reprocheck-probe"
    for path, entry in tree.entries.items():
        if entry.kind == "file" and entry.size and os.access(source / path, os.R_OK):
            cloned = snapshot.clone(source / path, probe)
            probe.unlink(missing_ok=True)
            return cloned
    return False


def _link_target(source: Path, path: str, entry: Entry) -> str:
    """Return the target of a link for the copy of a tree.

    A relative link that leads out of the tree is made absolute, so that it leads to the same place.
    """
    target = entry.target or ""
    reached = Path(os.path.normpath((source / path).parent / target))
    if Path(target).is_absolute() or reached.is_relative_to(source):
        return target
    return str(reached)
