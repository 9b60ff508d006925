"""A short look at the user's own files: hints in them, and the lines that the ladder names."""

from __future__ import annotations

import ast
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from reprocheck.causes.executed_lines import imported
from reprocheck.causes.program import feeding, program_of, seeds, shown_line
from reprocheck.files.imports import bound_to, module_names, modules, places
from reprocheck.ladder.sources import Recorded, Sources, close
from reprocheck.model import Ladder, SourceLine
from reprocheck.scan.scanned_program import ScannedProgram
from reprocheck.scan.steps import Call

MOST_FILES, MOST_LINES = 40, 100_000
"""Files that are looked at, and lines in all of them: more would take minutes and gigabytes."""
_FAR = 1 << 30
"""How far lines of other files are."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
WIDER = {
    "monotonic": frozenset({"clock"}),
    "monotonic elapsed": frozenset({"elapsed"}),
    "generator": frozenset({"entropy"}),
    "system": frozenset({"entropy"}),
}
"""Kinds of hints that are asked for under a wider name, too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hint:
    """A line of the user's code that may explain a difference.

    kind    the kind of the place, as `scan.places` names it
    name    the name of what is called there
    source  the line
    node    the id of its node in the scanned program
    of      the expression on the line that should be replaced; "" if it is not known
    one     whether the call draws one single thing, and no order
    """

    kind: str
    name: str
    source: SourceLine
    node: int
    of: str = ""
    one: bool = False

    def is_of(self, *kinds: str) -> bool:
        """Return whether the hint is of one of these kinds."""
        return self.kind in kinds or not WIDER.get(self.kind, frozenset()).isdisjoint(kinds)


class UserCode:
    """The user's own files of a check.

    The script, the modules beside it that it imports, and files that the ladder names.
    """

    def __init__(self, check: Recorded, folder: Path) -> None:
        self.sources = Sources(check, folder)
        self._named = _named_by(check.ladder)
        self._recorded = imported(check, folder)

    @cached_property
    def program(self) -> ScannedProgram:
        """The program as the scan reads it.

        If imports were recorded, files that were not imported are left out, because they did
        nothing.
        """
        return program_of(self.sources, (*self._named, *(self._recorded or self.trees)))

    @cached_property
    def hints(self) -> tuple[Hint, ...]:
        """All hints by file; files that the ladder names come first."""
        found = [
            Hint(
                kind=place.kind,
                name=place.name,
                source=shown_line(place.module, place.line, self.sources),
                node=id(place.node),
                of=place.written,
                one=place.one,
            )
            for place in self.program.places
        ]
        rank = {name: number for number, name in enumerate(self._named)}
        return tuple(sorted(found, key=lambda hint: rank.get(hint.source.file, len(rank))))

    def of(self, *kinds: str, near: SourceLine | None = None) -> Hint | None:
        """Return a hint of the first kind that has one; with `near`, the nearest to a line."""
        by_kind = ([hint for hint in self.hints if hint.is_of(kind)] for kind in kinds)
        found = next(filter(None, by_kind), [])
        return min(found, key=lambda hint: _distance(hint.source, near), default=None)

    def on(self, line: SourceLine | None, *kinds: str) -> Hint | None:
        """Return a hint of these kinds on a line, or on the line before or after it.

        A statement may take several lines.
        """
        fitting = [hint for hint in self.hints if hint.is_of(*kinds)]
        near = [hint for hint in fitting if _distance(hint.source, line) <= 1]
        return min(near, key=lambda hint: _distance(hint.source, line), default=None)

    def feeding(self, line: SourceLine | None, *kinds: str) -> Hint | None:
        """Return the nearest hint of these kinds on a line, or on one that makes what it reads."""
        if line is None:
            return None
        return next((hint for hint in self._that_feed(line) if hint.is_of(*kinds)), None)

    def seed_taken(self, line: SourceLine | None) -> SourceLine | None:
        """Return the line that makes the number which a given line takes as a seed.

        The given line itself if it makes the number, or if that is not known.
        """
        made = (one.made for one in seeds(self.program) if is_at(self._of_call(one.taken), line))
        return next(map(self._of_call, made), line)

    def seed_made_of(self, line: SourceLine) -> SourceLine | None:
        """Return the line that makes a seed from what is called on a line.

        None if there is none.
        """
        for one in seeds(self.program):
            if any(is_at(self._of_call(call), line) for call in one.of):
                return line if one.made is one.taken else self._of_call(one.made)
        return None

    def _of_call(self, call: Call) -> SourceLine:
        return shown_line(call.module, call.line, self.sources)

    def around(self, line: SourceLine | None) -> tuple[Hint, ...]:
        """Return the hints in the function around a line; hints that feed the line come first."""
        if line is None or line.file not in self.trees:
            return ()
        lines = _function(self.trees[line.file], line.line)
        here = [hint for hint in self.hints if hint.source.file == line.file]
        fed = filter(here.__contains__, self._that_feed(line))
        inside = [hint for hint in here if hint.source.line in lines]
        return tuple(dict.fromkeys((*fed, *inside)))

    def _that_feed(self, line: SourceLine) -> Iterator[Hint]:
        """Yield the hints on a line, then those on lines that make what it reads, nearest first."""
        yield from (hint for hint in self.hints if is_at(hint.source, line))
        for node in feeding(self.program, line):
            yield from (hint for hint in self.hints if hint.node == node)

    def assigned(self, place: str) -> SourceLine | None:
        """Return the only line that assigns to a variable; None if there are several or none."""
        name = place.partition("[")[0]
        found = [
            self.line(file, line)
            for file, tree in self.trees.items()
            for line in _assignments(tree, name)
        ]
        if len(found) != 1:
            return None
        return found[0]

    def defines(self, name: str) -> bool:
        """Return whether the user's code defines a class of that name."""
        nodes = chain.from_iterable(map(ast.walk, self.trees.values()))
        return any(isinstance(node, ast.ClassDef) and node.name == name for node in nodes)

    def with_text(self, line: SourceLine | None) -> SourceLine | None:
        """Return a line with its text, where that is known."""
        return self.sources.with_text(line)

    def keep(self) -> None:
        """Copy the files into the report folder, so that later reports show the same text."""
        self.sources.keep()

    def line(self, name: str, line: int) -> SourceLine:
        """Return a line of a file, with its text."""
        found = self.sources.with_text(SourceLine(file=name, line=line))
        assert found is not None
        return found

    @cached_property
    def imports(self) -> frozenset[str]:
        """The top-level packages that the files import."""
        found = chain.from_iterable(map(modules, self.trees.values()))
        return frozenset(name.partition(".")[0] for level, name in found if not level)

    @cached_property
    def module_names(self) -> Mapping[str, str]:
        """The imported modules, with the names that the files use for them."""
        return module_names(self.trees.values())

    @cached_property
    def uses(self) -> Mapping[str, int]:
        """Return top-level package -> how often the files use a name that comes from it."""
        counts: Counter[str] = Counter()
        for tree in self.trees.values():
            packages = bound_to(tree)
            names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
            counts.update(filter(None, map(packages.get, names)))
        return counts

    def tree(self, file: str) -> ast.Module:
        """Return the syntax tree of a file; an empty one if its text is not known."""
        with suppress(SyntaxError, ValueError, RecursionError):
            return self.trees.get(file) or ast.parse(self.sources.text(file) or "")
        return ast.Module(body=[], type_ignores=[])

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        """Return file name -> syntax tree: files of the ladder, the script, then imported files."""
        found: dict[str, ast.Module] = {}
        seen: set[str] = set()
        begin = (*self._named, self.sources.script, *self.sources.cells, *self._recorded)
        waiting = deque(filter(None, begin))
        room = MOST_LINES
        while waiting and len(seen) < MOST_FILES:
            name = waiting.popleft()
            text = self.sources.text(name)
            if text is None or name in seen:
                continue
            seen.add(name)
            lines = text.count("\n")
            if lines > room:
                continue
            room -= lines
            with suppress(SyntaxError, ValueError, RecursionError):
                found[name] = ast.parse(text)
            if name in found:
                waiting += self._imported(found[name], name)
        return found

    def _imported(self, tree: ast.Module, name: str) -> Iterator[str]:
        """Yield the user's files that a file imports."""
        program = self.sources.script or name
        for level, module in dict.fromkeys(modules(tree)):
            by_folder = map(self._that_exist, places(level, module, name, program))
            yield from next(filter(None, by_folder), ())

    def _that_exist(self, files: Iterable[str]) -> list[str]:
        return list(filter(self.sources.has, files))


def _named_by(ladder: Ladder | None) -> tuple[str, ...]:
    """Return the files that the rungs of a ladder name, in the order of the rungs."""
    if ladder is None:
        return ()
    sources = filter(None, (rung.source for rung in ladder.rungs))
    return tuple(dict.fromkeys(source.file for source in sources))


def keep_sources(check: Recorded, folder: Path) -> None:
    """Copy the user's own files into the folder of a recording, for readers on other machines."""
    code = UserCode(check, folder)
    if code.imports or code.sources.script:
        code.keep()
    close(folder)


def is_at(one: SourceLine, other: SourceLine | None) -> bool:
    """Return whether two source lines have the same file and number."""
    return other is not None and (one.file, one.line) == (other.file, other.line)


def _distance(line: SourceLine, near: SourceLine | None) -> int:
    if near is None or line.file != near.file:
        return _FAR
    return abs(line.line - near.line)


def _assignments(tree: ast.AST, name: str) -> Iterator[int]:
    """Yield the lines that assign to a variable, or an attribute, of that name."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, lineno=line) if name in map(_last_name, targets):
                yield line
            case ast.AnnAssign(target=target, lineno=line) if name == _last_name(target):
                yield line


def _last_name(target: ast.expr) -> str:
    """Return the last name of an assignment target: `weight` of `self.layer.weight`."""
    return ast.unparse(target).rpartition(".")[2]


def _function(tree: ast.Module, line: int) -> range:
    """Return the lines of the innermost function around a line; empty at the top level."""
    functions = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
    around = [range(one.lineno, (one.end_lineno or one.lineno) + 1) for one in functions]
    holding = [lines for lines in around if line in lines]
    return max(holding, key=lambda lines: lines.start, default=range(0))
