"""From paths to files with their outlines: read, follow the user's imports, and group files that
import one another.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate, chain
from pathlib import Path

from reprocheck.files.source_text import UnreadableError
from reprocheck.scan import files
from reprocheck.scan.cache import Cache
from reprocheck.scan.files import File
from reprocheck.scan.finding import Unreadable
from reprocheck.scan.index import grouped
from reprocheck.scan.outline import Outline, imported, outlined
from reprocheck.scan.pinned_versions import Pins, pins
from reprocheck.scan.resolve import locate, module_name, root_of
from reprocheck.scan.source import Source, digest, read

MOST_IMPORTED = 1_000_000
"""Bytes that are read of files which others import and nobody asked for, the nearest first: about
25,000 lines.
"""
_MOST_ROUNDS = 8
"""How often files are followed again because they are imported from another folder than was
known.
"""
_KINDS = {".ipynb": "n"}
"""What tells the content of a notebook from the same bytes as source code."""


@dataclass(eq=False, slots=True)
class Read:
    """A file that was read: its content's digest and outline, and how files import one another.

    The content is not kept: what is to be checked of many files is much less than all of them.

    imports    the real paths of the files that it imports, each with the folder from which it is
               imported
    roots      the folders from which others import it, where that is not its own
    outside    whether it lies outside of what was asked
    """

    file: File
    shown: str
    name: str
    package: bool
    digest: str
    outline: Outline
    imports: dict[str, Path] = field(default_factory=dict)
    roots: tuple[Path, ...] = ()
    outside: bool = False

    @property
    def pins(self) -> Pins:
        """The versions that its project asks for."""
        return pins(self.file.path.parent)

    def source(self) -> Source:
        """Return the source, which is read again when it is first asked for something."""
        return Source(path=self.file.path, shown=self.shown, content=self._content)

    def _content(self) -> bytes:
        """Raise UnreadableError."""
        data = _bytes(self.file)
        if _digest(self.file, data) != self.digest:
            raise UnreadableError("was changed while it was scanned")
        return data


@dataclass(eq=False, slots=True)
class Collection:
    """The files of a scan, while they are read.

    asked      the folders that were asked for
    done       what was read, by real paths
    problems   what cannot be read
    known      the real paths of all that was looked at, and `unread` of what is beyond the limit
    left       bytes that may still be read of what is imported
    """

    cache: Cache
    asked: frozenset[Path | None]
    done: dict[str, Read] = field(default_factory=dict)
    problems: list[Unreadable] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    left: int = MOST_IMPORTED

    def add(self, file: File) -> Read | None:
        """Read a file, unless it was looked at, cannot be read or is beyond the limit."""
        key = os.path.realpath(file.path)
        if key in self.known:
            return None
        self.known.add(key)
        if file.asked is None:  # it is imported alone, and counts
            size = 0
            with suppress(OSError):
                size = os.path.getsize(key)  # noqa: PTH202 - a real path, as a text
            if size > self.left:
                self.unread.add(key)
                return None
            self.left -= size
        outside = self.asked.isdisjoint(file.path.parents)
        one = _read(file, self.cache)
        if isinstance(one, Read):
            one.outside = outside
            if outside:
                one.shown = Path(os.path.relpath(file.path)).as_posix()
            self.done[key] = one
            return one
        if not outside:
            self.problems.append(one)
        return None


def collected(found: Sequence[File], cache: Cache) -> Collection:
    """Return all files of a scan, with those that they import, as far as the limit allows.

    What an import means depends on the folder from which the importing file was itself imported, so
    files are followed again until that is settled.
    """
    collection = Collection(cache, frozenset(file.asked for file in found))
    waiting = deque(found)
    changed: list[Read] = []
    for _ in range(_MOST_ROUNDS):
        for one in reversed(changed):
            waiting += _followed(one, collection.known)
        while waiting:
            added = collection.add(waiting.popleft())
            if added is not None:
                waiting += _followed(added, collection.known)
        changed = _rooted(collection.done)
        if not changed:
            break
    # those that were given, and those that these import
    done = collection.done
    pending = [key for key, one in done.items() if one.file.asked]
    seen = set(pending)
    while pending:
        more = (done[pending.pop()].imports.keys() & done.keys()) - seen
        seen |= more
        pending += more
    collection.done = {key: one for key, one in done.items() if key in seen}
    return collection


def _followed(one: Read, known: set[str]) -> list[File]:
    """Return the files that a file imports and that are not known; notes its imports."""
    one.imports.clear()
    found = []
    for path, root in _imported(one):
        other = os.path.realpath(path)
        one.imports[other] = root
        is_within_library = files.is_installed(path) and files.is_installed(one.file.path)
        if other not in known and not is_within_library:
            found.append(File(path=path))
    return found


def _rooted(done: dict[str, Read]) -> list[Read]:
    """Note the folders from which files are imported, the outermost first; and gives those files
    for which they are others now.
    """
    roots: defaultdict[str, set[Path]] = defaultdict(set)
    for other, root in chain.from_iterable(one.imports.items() for one in done.values()):
        roots[other].add(root)
    changed = []
    for key, one in done.items():
        foreign = roots[key] - {one.file.path.parent}
        now = tuple(sorted(foreign, key=lambda root: (len(root.parts), root)))
        if now != one.roots:
            one.roots = now
            changed.append(one)
    return changed


def _bytes(file: File) -> bytes:
    """Return the content of a file. Raises UnreadableError."""
    if file.data is not None:
        return file.data
    return read(file.path)


def _digest(file: File, data: bytes) -> str:
    return digest(data) + _KINDS.get(file.path.suffix, "")


def _read(file: File, cache: Cache) -> Read | Unreadable:
    shown = files.shown(file.path)
    try:
        content = _digest(file, _bytes(file))
    except UnreadableError as error:
        return Unreadable(path=shown, reason=error.reason, line=error.line)
    name, package = module_name(file.path)
    one = Read(file, shown, name, package, digest=content, outline=Outline())
    outline = cache.outline(content)
    if outline is None:
        try:
            source = one.source()
            outline = outlined(source.tree, source.lines)
        except UnreadableError as error:
            outline = Outline(problem=error.reason, problem_line=error.line)
        cache.keep_outline(content, outline)
    one.outline = outline
    if outline.problem:
        return Unreadable(path=shown, reason=outline.problem, line=outline.problem_line)
    return one


def _imported(one: Read) -> Iterator[tuple[Path, Path]]:
    """Yield the files of the user's own modules that a file imports, with the packages around them,
    and from which folders.
    """
    seen: set[Path] = set()
    folder = one.file.path.parent
    names = imported(one.outline, one.name, package=one.package)
    wanted = (name.removeprefix(".") for name in names)
    for name in filter(None, wanted):
        for part in accumulate(name.split("."), _below):
            path = locate(part, folder, one.roots)
            if path is not None and path not in seen:
                seen.add(path)
                yield path, root_of(path, part)


def _below(package: str, name: str) -> str:
    return f"{package}.{name}".removeprefix(".")


def groups(done: dict[str, Read]) -> list[list[str]]:
    """Return the files, by which of them import one another."""
    parent = {key: key for key in done}

    def root(key: str) -> str:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for key, one in done.items():
        for other in one.imports.keys() & done.keys():
            parent[root(key)] = root(other)
    return list(map(sorted, grouped((root(key), key) for key in done).values()))


def group_key(group: list[Read]) -> str:
    """Return what the findings in a group depend on: the names, contents and roles of its files."""
    hashed = hashlib.blake2b(digest_size=16)
    for one in group:
        parts = (one.shown, one.name, one.digest, one.outside, one.file.single, one.pins)
        hashed.update(repr(parts).encode())
    return hashed.hexdigest()
