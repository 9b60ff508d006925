"""From paths to files with their outlines: read, follow the user's imports, and group files that import one another."""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reprocheck.scan import files
from reprocheck.scan.cache import Cache, Outline
from reprocheck.scan.files import File
from reprocheck.scan.finding import Unreadable
from reprocheck.scan.resolve import locate, module_name
from reprocheck.scan.source import Source, UnreadableError, digest, parse, read

_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields of statements that hold statements, or what holds them."""


@dataclass(eq=False, slots=True)
class Read:
    """A file that was read: its content's digest and outline, the source once it was parsed, and the files that it imports."""

    file: File
    shown: str
    name: str
    package: bool
    data: bytes
    digest: str
    outline: Outline
    source: Source | None = None
    imports: list[str] = field(default_factory=list)

    def parsed(self) -> Source:
        """The source. Raises UnreadableError."""
        if self.source is None:
            self.source = parse(self.file.path, self.shown, self.data)
        return self.source


def collected(found: Iterable[File], cache: Cache) -> tuple[dict[str, Read], list[Unreadable]]:
    """All files of a scan by their real paths, with those that they import; and those that cannot be read."""
    done: dict[str, Read] = {}
    problems: list[Unreadable] = []
    waiting = list(found)
    known = {os.path.realpath(file.path) for file in waiting}
    while waiting:
        file = waiting.pop(0)
        key = os.path.realpath(file.path)
        one = _read(file, cache)
        if isinstance(one, Unreadable):
            problems.append(one)
            continue
        done[key] = one
        for path in _imported(one):
            other = os.path.realpath(path)
            one.imports.append(other)
            if other not in known and not (files.is_installed(path) and files.is_installed(file.path)):
                known.add(other)
                waiting.append(File(path=path, named=False, single=False))
    return done, problems


def _read(file: File, cache: Cache) -> Read | Unreadable:
    shown = files.shown(file.path)
    try:
        data = read(file.path)
    except UnreadableError as error:
        return Unreadable(path=shown, reason=error.reason, line=error.line)
    name, package = module_name(file.path)
    content = digest(data) + ("n" if file.path.suffix == ".ipynb" else "")
    one = Read(file=file, shown=shown, name=name, package=package, data=data, digest=content, outline=Outline())
    outline = cache.outline(content)
    if outline is None:
        outline = _outline(one)
        cache.keep_outline(content, outline)
    one.outline = outline
    if outline.problem:
        return Unreadable(path=shown, reason=outline.problem, line=outline.problem_line)
    return one


def _outline(one: Read) -> Outline:
    try:
        source = one.parsed()
    except UnreadableError as error:
        return Outline(problem=error.reason, problem_line=error.line)
    imports: list[tuple[int, str, tuple[str, ...]]] = []
    waiting: list[ast.AST] = [source.tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            imports += [(0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imports.append((node.level, node.module or "", tuple(alias.name for alias in node.names)))
        else:
            for field in _BODIES:
                waiting += getattr(node, field, ())
    return Outline(lines=len(source.lines), imports=tuple(sorted(set(imports))))


def _imported(one: Read) -> Iterator[Path]:
    """The files of the user's own modules that a file imports, with the packages around them."""
    seen: set[Path] = set()
    folder = one.file.path.parent
    for level, module, names in one.outline.imports:
        origin = _absolute(one, level, module)
        wanted = [origin, *(f"{origin}.{name}" if origin else name for name in names if name != "*")]
        for name in wanted:
            parts = name.split(".")
            for count in range(1, len(parts) + 1):
                path = locate(".".join(parts[:count]), folder) if all(parts[:count]) else None
                if path is not None and path not in seen:
                    seen.add(path)
                    yield path


def _absolute(one: Read, level: int, module: str) -> str:
    from reprocheck.scan.names import absolute

    node = ast.ImportFrom(module=module or None, names=[], level=level)
    return absolute(node, one.name, package=one.package)


def groups(done: dict[str, Read]) -> list[list[str]]:
    """The files, by which of them import one another."""
    parent = {key: key for key in done}

    def root(key: str) -> str:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for key, one in done.items():
        for other in one.imports:
            if other in done:
                parent[root(key)] = root(other)
    found: dict[str, list[str]] = {}
    for key in done:
        found.setdefault(root(key), []).append(key)
    return [sorted(group) for group in found.values()]


def group_key(group: list[Read]) -> str:
    """What the findings in a group depend on: the names, contents and roles of its files."""
    hashed = hashlib.blake2b(digest_size=16)
    for one in group:
        hashed.update(repr((one.shown, one.name, one.digest, one.file.named, one.file.single)).encode())
    return hashed.hexdigest()
