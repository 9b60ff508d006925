"""Collect the files of a scan with their outlines.

Imports are followed to the files that they mean, and files that import one another are grouped.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.files.source_text import UnreadableError
from reprocheck.scan import files
from reprocheck.scan.aliases import KNOWN_PACKAGES
from reprocheck.scan.cache import Cache
from reprocheck.scan.files import File, is_installed, package_root, project_root
from reprocheck.scan.finding import Unreadable
from reprocheck.scan.index import grouped
from reprocheck.scan.pinned_versions import Pins, pins
from reprocheck.scan.project import Module, Project, Resolver
from reprocheck.scan.source import Outline, Source, digest, imported, outlined, read

if TYPE_CHECKING:
    from collections.abc import Mapping


def module_name(path: Path) -> tuple[str, bool]:
    """Return the dotted name of the module in a file, and whether it is a package."""
    root = package_root(path.parent)
    parts = [*path.parent.relative_to(root).parts]
    package = path.name == "__init__.py"
    if not package:
        parts.append(path.stem)
    return ".".join(parts) or path.parent.name, package


@cache
def locate(name: str, folder: Path, roots: tuple[Path, ...] = ()) -> Path | None:
    """Return the file of a module of the user's that `import name` means in a file of `folder`.

    None for a library's.

    roots    the folders from which the importing file was itself imported: those of the programs,
             which Python searches first
    """
    parts = name.split(".")
    is_library = parts[0] in KNOWN_PACKAGES
    is_in_library = is_installed(folder)
    for root, sure in dict.fromkeys([*zip(roots, repeat(True)), *_roots(folder)]):
        if is_library and not sure:
            continue
        found = _file_below(root, parts, known=is_library)
        if found is not None and (is_in_library or not is_installed(found)):
            return found
    return None


def _roots(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield folders in which to look for imports.

    Each with whether Python surely looks there before it looks for libraries.
    """
    root = package_root(folder)
    yield folder, True
    if root != folder:
        yield root, True
    top = project_root(folder)
    if top is None or is_installed(folder):
        return
    for around in (folder, *folder.parents):
        yield around, False
        yield around / "src", False
        if around == top:
            return


def root_of(path: Path, name: str) -> Path:
    """Return the folder from which a file is imported under a dotted name."""
    depth = name.count(".")
    if path.name == "__init__.py":
        depth += 1
    return path.parents[depth]


def _file_below(root: Path, parts: list[str], *, known: bool) -> Path | None:
    *packages, last = parts
    if known and packages and not _is_file(root / packages[0] / "__init__.py"):
        return None
    folder = root.joinpath(*packages)
    candidates = (folder / last / "__init__.py", folder / f"{last}.py")
    return next(filter(_is_file, candidates), None)


@cache
def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def forget() -> None:
    """Clear the caches, because files may have changed since the last scan of this process."""
    for cached in (locate, _is_file, package_root, project_root):
        cached.cache_clear()


class ByFile(Resolver):
    """Finds modules by the files that imports mean."""

    def __init__(self, project: Project, by_real_path: Mapping[str, Module]) -> None:
        self._project = project
        self._modules = by_real_path

    def find(self, name: str, importer: Module) -> Module | None:
        """Return the module in the file that the import means; None if this file was not read."""
        if not name:
            return None
        path = locate(name, importer.source.path.parent, importer.roots)
        if path is None:
            return None
        return self._modules.get(os.path.realpath(path))


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
    """A file that was read: the digest and outline of its content, and its imports.

    The content is not kept, to save memory.

    shown      the path as it is printed
    name       dotted name of the module
    package    whether the module is a package
    imports    the real paths of the files that it imports, each with the folder from which it is
               imported
    roots      the folders from which other files import it, if not its own folder
    outside    whether it lies outside of the paths that the user asked to scan
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
        """Return the versions of packages that the project of the file asks for."""
        return pins(self.file.path.parent)

    def source(self) -> Source:
        """Return the source, whose file is read again at the first access to its text."""
        return Source(path=self.file.path, shown=self.shown, content=self._content)

    def _content(self) -> bytes:
        """Return the content of the file.

        Raises UnreadableError if it has changed since it was read.
        """
        data = _bytes(self.file)
        if _digest(self.file, data) != self.digest:
            raise UnreadableError("was changed while it was scanned")
        return data


@dataclass(eq=False, slots=True)
class Collection:
    """The files of a scan, while they are read.

    asked      the folders that the user asked to scan
    done       the files that were read, by real path
    problems   the files that cannot be read
    known      the real paths of all files that were looked at
    unread     the real paths of files beyond the size limit
    left       how many more bytes of imported files may be read
    """

    cache: Cache
    asked: frozenset[Path | None]
    done: dict[str, Read] = field(default_factory=dict)
    problems: list[Unreadable] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    left: int = MOST_IMPORTED

    def add(self, file: File) -> Read | None:
        """Read a file and return it.

        None if it is already known, cannot be read or exceeds the limit.
        """
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
    """Return all files of a scan with the files that they import, as far as the limit allows.

    The file that an import means depends on the folder from which the importing file was itself
    imported, so imports are followed again until nothing changes.
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
    """Return the files that a file imports and that are not known yet, and note its imports."""
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
    """Note for each file the folders from which it is imported, the outermost first.

    Returns the files whose folders changed.
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
    """Return the content of a file: `data` if given, else from disk. Raises UnreadableError."""
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
    """Yield the user's files that a file imports, with the packages around them.

    Each with the folder from which it is imported.
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
    """Return the files in groups, each with all files that import one another."""
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
    """Return a hash of all that the findings in a group depend on.

    Names, contents and roles of files.
    """
    hashed = hashlib.blake2b(digest_size=16)
    for one in group:
        parts = (one.shown, one.name, one.digest, one.outside, one.file.single, one.pins)
        hashed.update(repr(parts).encode())
    return hashed.hexdigest()
