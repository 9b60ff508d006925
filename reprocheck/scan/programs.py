"""Find which modules are programs, execute modules, and make projects of texts."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from reprocheck.files.source_text import UnreadableError
from reprocheck.scan import execution
from reprocheck.scan.checks import streams, tables
from reprocheck.scan.index import of_kind
from reprocheck.scan.project import Execution, Module, Project, Resolver
from reprocheck.scan.source import parse
from reprocheck.scan.steps import Call
from reprocheck.scan.syntax import is_guard
from reprocheck.scan.vocabulary import words

TRAINING = words("training", "methods")
_IN_LOOP = frozenset({"step", "update"})
_DRIVERS = words("training", "drivers")


def is_entry(module: Module) -> bool:
    """Return whether a module is a program.

    It has a `__main__` guard, trains at its top level, or is a script that nobody imports.
    """
    if any(map(is_guard, module.tree.body)) or _trains(module):
        return True
    if module.package or id(module) in module.project.imported:
        return False
    if module.single:
        return True
    known = (tables.seeds(), tables.draws(), tables.libraries())
    for call in of_kind(module.body.machine.steps, Call):
        if streams.is_training(call) or any(call.name in table for table in known):
            return True
    return False


def _trains(module: Module) -> bool:
    """Return whether the top level of a module, outside of functions and classes, trains."""
    waiting: list[tuple[ast.AST, bool]] = [(statement, False) for statement in module.tree.body]
    while waiting:
        node, in_loop = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Call):
            method = getattr(node.func, "attr", "")
            if method in TRAINING and (in_loop or method not in _IN_LOOP):
                return True
            if module.names.of(node.func) in _DRIVERS:
                return True
        in_loop = in_loop or isinstance(node, ast.For | ast.While | ast.AsyncFor)
        waiting.extend((child, in_loop) for child in ast.iter_child_nodes(node))
    return False


EXECUTION = Execution(
    is_entry=is_entry, body=execution.body, program=execution.program, parts=execution.parts
)
"""What projects are made with."""


class Beside(Resolver):
    """Finds modules by path.

    Beside the program, beside the importing file, in the folders above, or the only file whose path
    fits.
    """

    def __init__(self, project: Project, program: Path) -> None:
        self._project, self._program = project, program

    def find(self, name: str, importer: Module) -> Module | None:
        """Return the module of this name; None if there is none."""
        parts = name.split(".")
        if not all(parts):
            return None
        beside = importer.source.path.parents
        for folder in dict.fromkeys((self._program.parent, *beside, Path())):
            path = folder.joinpath(*parts)
            if not path.name:  # the root, above the package of a file with an absolute path
                continue
            for file in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
                if file in self._project.modules:
                    return self._project.modules[file]
        return self._elsewhere(parts)

    def _elsewhere(self, parts: list[str]) -> Module | None:
        """Return the only file of the program whose path ends with this name.

        It may lie in another folder of the search path.
        """
        *packages, last = parts
        folder = Path(*packages)
        ends = {(folder / f"{last}.py").parts, (folder / last / "__init__.py").parts}
        found = [
            module
            for path, module in self._project.modules.items()
            if not ends.isdisjoint([path.parts[start:] for start in range(len(path.parts))])
        ]
        if len(found) != 1:
            return None
        return found[0]


def of_program(files: Mapping[str, str], script: str) -> Project:
    """Return a project of the files of a program, without those that cannot be parsed.

    files   texts by path
    script  the path of the file that is executed
    """
    project = Project(EXECUTION)
    project.resolver = Beside(project, Path(script))
    for name, text in files.items():
        with suppress(UnreadableError):
            _add(project, name, text.encode("utf-8", "replace"), single=name == script)
    return project


def of_text(files: Mapping[str, str | bytes], *, single: bool = True) -> Project:
    """Return a project of texts by path, without files on disk.

    `of_text({"train.py": "import torch"})`. Raises UnreadableError.
    """
    project = Project(EXECUTION)
    for name, text in files.items():
        data = text
        if isinstance(data, str):
            data = data.encode()
        _add(project, name, data, single=single)
    return project


def _add(project: Project, name: str, data: bytes, *, single: bool) -> None:
    """Add a module to a project, from the content of a file. Raises UnreadableError."""
    path = Path(name)
    parts = list(path.with_suffix("").parts)
    package = parts[-1] == "__init__"
    if package:
        parts.pop()
    source = parse(path, name, data)
    project.modules[path] = Module(
        name=".".join(parts), source=source, project=project, package=package, single=single
    )
