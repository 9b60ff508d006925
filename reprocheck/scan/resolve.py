"""Find the user's file that an import means."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.scan.aliases import KNOWN_PACKAGES
from reprocheck.scan.files import is_installed, package_root, project_root
from reprocheck.scan.project import Module, Project, Resolver

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
    """Return the file of a module of the user's that `import name` means in a file of `folder`;
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
        found = _below(root, parts, known=is_library)
        if found is not None and (is_in_library or not is_installed(found)):
            return found
    return None


def _roots(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield folders in which to look for imports, each with whether Python surely looks there
    before it looks for libraries.
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


def _below(root: Path, parts: list[str], *, known: bool) -> Path | None:
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
