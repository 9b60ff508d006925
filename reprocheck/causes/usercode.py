"""A short look at the user's own files: the hints in them, and the lines that the ladder names."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from reprocheck.causes.imports import bound_to, modules, places
from reprocheck.causes.program import Program, program_of, shown_line
from reprocheck.causes.ran import imported
from reprocheck.ladder.sources import Sources, close
from reprocheck.model import Check, SourceLine

MOST_FILES = 40
WIDER = {
    "monotonic": frozenset({"clock"}),
    "monotonic elapsed": frozenset({"elapsed"}),
    "generator": frozenset({"entropy"}),
    "system": frozenset({"entropy"}),
}
"""Kinds of hints that are asked for under a wider name, too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hint:
    """A line that fits.

    kind  of the place, as `scan.places` names it
    name  of what is called there
    node  the id of its node in the program
    """

    kind: str
    name: str
    source: SourceLine
    node: int

    def is_of(self, *kinds: str) -> bool:
        """Whether it is of one of these kinds."""
        return self.kind in kinds or not WIDER.get(self.kind, frozenset()).isdisjoint(kinds)


class UserCode:
    """The files of a check that are the user's own: the entry script, what it imports from beside
    itself, and what the ladder names.
    """

    def __init__(self, check: Check, folder: Path) -> None:
        self.sources = Sources(check, folder)
        named = [
            rung.source.file for rung in (check.ladder.rungs if check.ladder else ()) if rung.source
        ]
        self._named = tuple(dict.fromkeys(named))
        self._recorded = imported(check, folder)
        self._trees: dict[str, ast.Module | None] = {}

    @cached_property
    def program(self) -> Program:
        """The program as the scan reads it.

        What was not imported did nothing: its files are left out where that was recorded.
        """
        return program_of(self.sources, (*self._named, *(self._recorded or self.files)))

    @cached_property
    def hints(self) -> tuple[Hint, ...]:
        """All hints, file by file, those of the files that the ladder names first."""
        found = [
            Hint(
                kind=place.kind,
                name=place.name,
                source=shown_line(place.module, place.line, self.sources),
                node=id(place.node),
            )
            for place in self.program.places
        ]
        rank = {name: number for number, name in enumerate(self._named)}
        return tuple(sorted(found, key=lambda hint: rank.get(hint.source.file, len(rank))))

    def of(self, *kinds: str, near: SourceLine | None = None) -> Hint | None:
        """The first hint of the first of these kinds; with `near` the one in that file whose line
        is nearest.
        """
        for kind in kinds:
            found = [hint for hint in self.hints if hint.is_of(kind)]
            if found:
                return min(found, key=lambda hint: _distance(hint.source, near))
        return None

    def on(self, line: SourceLine | None, *kinds: str) -> Hint | None:
        """A hint of these kinds on that very line or next to it, where a statement of several lines
        begins or ends.
        """
        near = [
            hint for hint in self.hints if hint.is_of(*kinds) and _distance(hint.source, line) <= 1
        ]
        return min(near, key=lambda hint: _distance(hint.source, line), default=None)

    def feeding(self, line: SourceLine | None, *kinds: str) -> Hint | None:
        """A hint of these kinds on that line, or on one that makes what it reads: the nearest of
        them.
        """
        if line is None:
            return None
        on_line = [hint for hint in self.hints if is_at(hint.source, line)]
        found = (*on_line, *self._that_feed(line))
        return next((hint for hint in found if hint.is_of(*kinds)), None)

    def around(self, line: SourceLine | None) -> tuple[Hint, ...]:
        """The hints in the function around a line: those first that feed the line."""
        tree = self._files.get(line.file) if line is not None else None
        if line is None or tree is None:
            return ()
        lines = _function(tree, line.line)
        here = [hint for hint in self.hints if hint.source.file == line.file]
        inside = [hint for hint in here if hint.source.line in lines]
        fed = [hint for hint in self._that_feed(line) if hint in here]
        on_line = [hint for hint in here if is_at(hint.source, line)]
        return tuple(dict.fromkeys((*on_line, *fed, *inside)))

    def _that_feed(self, line: SourceLine) -> Iterator[Hint]:
        for node in self.program.feeding(line):
            yield from (hint for hint in self.hints if hint.node == node)

    def assigned(self, place: str) -> SourceLine | None:
        """The line that gives a variable its value, where only one line does."""
        name = place.partition("[")[0]
        found = [
            self.line(file, line)
            for file, tree in self._files.items()
            for line in _assignments(tree, name)
        ]
        return found[0] if len(found) == 1 else None

    def defines(self, name: str) -> bool:
        """Whether a class of that name is the user's own."""
        return any(
            isinstance(node, ast.ClassDef) and node.name == name
            for tree in self._files.values()
            for node in ast.walk(tree)
        )

    def with_text(self, line: SourceLine | None) -> SourceLine | None:
        """A line with its text, where that is known."""
        return self.sources.with_text(line)

    def keep(self) -> None:
        """Keep the files in the report folder, so that it is drawn again from them."""
        self.sources.keep()

    def line(self, name: str, line: int) -> SourceLine:
        """A line of a file, with its text."""
        found = self.sources.with_text(SourceLine(file=name, line=line))
        assert found is not None
        return found

    @cached_property
    def imports(self) -> frozenset[str]:
        """The packages that the files import, by their first names."""
        return frozenset(
            name.partition(".")[0]
            for tree in self._files.values()
            for level, name in modules(tree)
            if not level
        )

    @cached_property
    def uses(self) -> Mapping[str, int]:
        """How often the files use something of a package that they import, by the first name of the
        package.
        """
        counts: Counter[str] = Counter()
        for tree in self._files.values():
            packages = bound_to(tree)
            names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
            counts.update(packages[name] for name in names if name in packages)
        return counts

    @property
    def trees(self) -> Mapping[str, ast.Module]:
        """The syntax trees of the files, by name."""
        return self._files

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files."""
        return tuple(self._files)

    @cached_property
    def _files(self) -> dict[str, ast.Module]:
        """Name -> syntax tree, the files named first, then the script, what it was seen to import,
        and what its text imports.
        """
        found: dict[str, ast.Module] = {}
        seen: set[str] = set()
        waiting = [
            *self._named,
            *([self.sources.script] if self.sources.script else []),
            *self.sources.cells,
            *self._recorded,
        ]
        while waiting and len(seen) < MOST_FILES:
            name = waiting.pop(0)
            if name in seen or (text := self.sources.text(name)) is None:
                continue
            seen.add(name)
            if (tree := _parsed(text)) is not None:
                found[name] = tree
                waiting += self._imported(tree, name)
        return found

    def _imported(self, tree: ast.Module, name: str) -> Iterator[str]:
        """The files of the user's that this one imports."""
        program = self.sources.script or name
        for level, module in dict.fromkeys(modules(tree)):
            # a checkout of it may lie above the script
            if not level and module.partition(".")[0] == OWN:
                continue
            for files in places(level, module, name, program):
                found = [file for file in files if self.sources.has(file)]
                yield from found
                if found:
                    break


OWN = "reprocheck"
"""The package that a script imports to say its losses, and that is not the user's."""


def keep_sources(check: Check, folder: Path) -> None:
    """Keep the user's own files in the folder of a recording, as far as they can be found: for
    those who read it elsewhere.
    """
    code = UserCode(check, folder)
    if code.imports or code.sources.script:
        code.keep()
    close(folder)


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def is_at(one: SourceLine, other: SourceLine | None) -> bool:
    """Whether two lines are the same, whatever text is known of them."""
    return other is not None and (one.file, one.line) == (other.file, other.line)


def _distance(line: SourceLine, near: SourceLine | None) -> int:
    return abs(line.line - near.line) if near and line.file == near.file else 1 << 30


def _assignments(tree: ast.AST, name: str) -> Iterator[int]:
    """The lines that give a variable, or an attribute of that name, a value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(ast.unparse(target).rpartition(".")[2] == name for target in targets):
                yield node.lineno


def _function(tree: ast.Module, line: int) -> range:
    """The lines of the innermost function around a line; none where it stands in no function."""
    around = [
        range(node.lineno, (node.end_lineno or node.lineno) + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    holding = [lines for lines in around if line in lines]
    return max(holding, key=lambda lines: lines.start, default=range(0))
