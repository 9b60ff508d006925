"""The working directory of the runs: the user's own, put back afterwards, or a fresh copy for each run."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Protocol

from reprocheck.errors import ReportError
from reprocheck.launch import snapshot
from reprocheck.launch.tree import SKIPPED_FOLDERS, Entry, Tree, file_changes, read_tree
from reprocheck.launch.writers import open_for_writing
from reprocheck.model import FileChanges

Say = Callable[[str], None]
COPY_ADVICE = "Use `--workdir copy` to give each run a copy of its own."


class Workdir(Protocol):
    """Where the runs of a check take place. Used as: `begin`, run, `end` for each run, then `close` once."""

    path: Path

    def begin(self) -> None:
        """Before a run."""

    def end(self) -> FileChanges:
        """After a run: what it did to the tree."""

    def close(self) -> None:
        """After the last run, and when the check is broken off."""


class InPlace:
    """The user's own folder. What stood there is kept before run 1 and put back by `close`; what the runs created stays."""

    def __init__(self, path: Path, *, leave_out: Collection[Path], store: Path, say: Say) -> None:
        self.path = path
        self._leave_out = leave_out
        self._store = store
        self._say = say
        self._tree = read_tree(path, leave_out)
        self._keep()

    def _keep(self) -> None:
        """Keeps what stands there, and names what is not safe."""
        if not self._tree.complete:
            self._say(f"The working directory holds more than {len(self._tree.entries)} files: the rest is not watched. {COPY_ADVICE}")
        too_large = snapshot.keep(self.path, self._tree, self._store)
        if too_large:
            size = sum(self._tree.entries[name].size for name in too_large) / 1e6
            self._say(
                f"Too large to keep: {snapshot.summary(too_large)} ({size:,.0f} MB in all). If the script overwrites or deletes them, they "
                f"cannot be put back. {COPY_ADVICE}"
            )

    def begin(self) -> None:
        """Nothing: a run finds what the run before it left."""

    def end(self) -> FileChanges:
        """What changed since the last call, or since the start, but for what somebody outside the run is writing."""
        before, self._tree = self._tree, read_tree(self.path, self._leave_out)
        changes = file_changes(before, self._tree)
        theirs = open_for_writing(self.path, {*changes.created, *changes.changed})
        return FileChanges(
            created=tuple(path for path in changes.created if path not in theirs),
            changed=tuple(path for path in changes.changed if path not in theirs),
            deleted=changes.deleted,
            folders=changes.folders,
        )

    def close(self) -> None:
        """Puts back what was overwritten, deleted or touched, unless somebody is writing it; names what could not be."""
        result = snapshot.restore(self._store)
        if result.lost:
            self._say(f"Could not be put back after the runs: {snapshot.summary(result.lost, 10)}. {COPY_ADVICE}")


class InPlaceAgain(InPlace):
    """The user's own folder, for runs that begin where earlier ones began: what those created is out of the way meanwhile.

    `close` leaves the folder as it was found: what these runs created themselves goes to `leavings`.
    """

    def __init__(self, path: Path, *, leave_out: Collection[Path], store: Path, say: Say, created: Collection[str], leavings: Path) -> None:
        theirs = open_for_writing(path, created)
        self._aside = frozenset(created) - theirs
        self._leavings = leavings
        super().__init__(path, leave_out=leave_out, store=store, say=say)
        self._found = self._tree
        missed = snapshot.move_aside(store, self._aside)
        if missed:
            say(f"Could not be set aside, so the runs that follow find what earlier runs left: {snapshot.summary(missed)}.")
        self._tree = self._start = read_tree(path, leave_out)

    def _keep(self) -> None:
        snapshot.keep(self.path, self._tree, self._store, aside=self._aside)

    def close(self) -> None:
        """Moves what these runs created to `leavings`, then puts back everything else as it was found."""
        changes = file_changes(self._start, read_tree(self.path, self._leave_out))
        new = [path for path in changes.created if path not in self._found.entries]
        theirs = open_for_writing(self.path, new)
        moved = [path for path in new if path not in theirs and self._take(path)]
        for folder in sorted(changes.folders, reverse=True):
            if folder not in self._found.entries:
                with contextlib.suppress(OSError):  # something is left in it
                    (self.path / folder).rmdir()
        super().close()
        if moved:
            place = os.path.relpath(self._leavings, self.path)
            self._say(f"Created only by the runs recorded again, and moved to {place}: {snapshot.summary(moved)}.")

    def _take(self, path: str) -> bool:
        try:
            (self._leavings / path).parent.mkdir(parents=True, exist_ok=True)
            snapshot.move(self.path / path, self._leavings / path)
        except OSError:
            return False
        return True


class Copies:
    """A copy of the user's folder, made before the first run, or `anew` before each; the files of `patched` replace those in it."""

    def __init__(
        self, source: Path, *, path: Path, leave_out: Collection[Path], say: Say, patched: Path | None = None, anew: bool = True
    ) -> None:
        self.path = path
        self._source = source
        self._patched = patched
        self._anew = anew
        self._leave_out = leave_out
        self._say = say
        self._tree = Tree({})
        self._told = False

    def begin(self) -> None:
        """Replaces the copy by a fresh one, unless the runs share it. ReportError if it cannot be written."""
        if not self._anew and self.path.exists():
            self._tree = read_tree(self.path)
            return
        self._remove()
        tree = read_tree(self._source, self._leave_out, limit=10_000_000)
        try:
            missed = copy_tree(self._source, tree, self.path)
            if self._patched is not None:
                shutil.copytree(self._patched, self.path, dirs_exist_ok=True)
        except OSError as error:
            raise ReportError(
                f"The working directory cannot be copied to {self.path}: {error.strerror}.", "Name another folder with --output."
            ) from None
        if missed and not self._told:
            self._told = True
            self._say(f"Not in the copy of the working directory, since they cannot be read: {snapshot.summary(missed)}.")
        self._tree = read_tree(self.path)

    def end(self) -> FileChanges:
        """What the run did to its copy."""
        return file_changes(self._tree, read_tree(self.path))

    def close(self) -> None:
        """Removes the copy."""
        self._remove()

    def _remove(self) -> None:
        if self.path.exists():
            _make_removable(self.path)
            shutil.rmtree(self.path, ignore_errors=True)


def copy_tree(source: Path, tree: Tree, target: Path) -> tuple[str, ...]:
    """Copies a tree, sharing blocks where the file system can. Virtual environments are linked, other skipped folders copied.

    Returns what could not be read. Raises OSError where the target cannot be written.
    """
    needed = sum(entry.size for entry in tree.entries.values())
    target.mkdir(parents=True)
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
    for path in tree.skipped:
        if Path(path).name in SKIPPED_FOLDERS - {"node_modules"}:
            shutil.copytree(source / path, target / path, symlinks=True, ignore_dangling_symlinks=True)
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
    """A relative link that leads out of the tree is made absolute, so that it leads to the same place from the copy."""
    target = entry.target or ""
    reached = Path(os.path.normpath((source / path).parent / target))
    return target if Path(target).is_absolute() or reached.is_relative_to(source) else str(reached)


def _make_removable(folder: Path) -> None:
    """Gives back write permission on folders that the script closed."""
    for parent, names, _ in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if not path.is_symlink() and not os.access(path, os.W_OK | os.X_OK):
                path.chmod(0o700)
