"""A script that is being patched: what is saved besides, what is loaded, and lines elsewhere."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache

from reprocheck.fixes.edits.changes import Edit, changed, fits, in_place_of, with_items
from reprocheck.fixes.edits.tree import Tree
from reprocheck.resume.fix.source import Source


class UnfitError(Exception):
    """A place of the script cannot be patched, as a line that holds several statements."""


class Draft:
    """Changes of the files of a script, until their texts are asked for."""

    def __init__(self, texts: Mapping[str, str], source: Source) -> None:
        self.source = source
        self._texts = texts
        self._tree = cache(lambda file: Tree(texts[file]))
        self._edits: defaultdict[str, list[Edit]] = defaultdict(list)
        self._saved: dict[str, str] = {}
        self._loaded: list[str] = []

    def save(self, key: str, value: str) -> None:
        """Save an expression under a dictionary key unless the script already does.

        Subscripts as a key are saved already.
        """
        saved = self.source.held.get(key)
        if key.startswith("["):
            return
        if saved is None or ast.unparse(saved) != value:
            self._saved[key] = value

    def load(self, line: str) -> None:
        """Add a line after those that load the checkpoint."""
        self._loaded.append(line)

    def save_instead(self, expression: ast.expr, text: str) -> None:
        """Replace an expression by another one in the file that saves."""
        file = self.source.saving.file
        node = self._tree(file).expression(expression)
        if node is None:
            raise UnfitError
        self._edits[file].append(Edit(changes=(in_place_of(node, text),)))

    def above(self, statement: ast.stmt, lines: Sequence[str]) -> None:
        """Add lines above a statement of the file that loads."""
        file = self.source.loading.file
        node = self._tree(file).statement(statement)
        if node is None:
            raise UnfitError
        if lines:
            self._edits[file].append(Edit(above=((node, "\n".join(lines)),)))

    def below(self, statement: ast.stmt, lines: Sequence[str]) -> None:
        """Add lines below a statement of the file that loads."""
        file = self.source.loading.file
        node = self._tree(file).statement(statement)
        if node is None:
            raise UnfitError
        self._edits[file].append(Edit(below=((node, "\n".join(lines)),)))

    def texts(self) -> dict[str, str]:
        """Return the changed files; {} if none is changed, or a changed file is no valid Python."""
        if self._saved:
            self._save_all()
        if self._loaded:
            self.below(self.source.behind, self._loaded)
        if not all(fits(self._tree(file), edits) for file, edits in self._edits.items()):
            return {}
        return {file: changed(self._tree(file), edits).code for file, edits in self._edits.items()}

    def _save_all(self) -> None:
        """Add the new entries to the saved dict after its last value.

        One on each line if the dict is written that way.

        If no dict is written there, the saved value is unpacked into a new one.
        """
        source = self.source
        saved: ast.expr = source.saved
        items = [f'"{key}": {value}' for key, value in self._saved.items()]
        if source.inner is not None:
            roots = {re.split(r"\W", value)[0] for value in self._saved.values()}
            scope = source.script.scope(source.inner)
            if all(source.script.is_known(root, scope) for root in roots):
                saved = source.inner
        if not isinstance(saved, ast.Dict) or not saved.values:
            self.save_instead(saved, f"{{**{ast.unparse(saved)}, {', '.join(items)}}}")
            return
        file = source.saving.file
        display = self._tree(file).expression(saved)
        if display is None:
            raise UnfitError
        indentation = None
        last = saved.values[-1]
        if last.lineno != saved.lineno:
            row = self._texts[file].splitlines()[(saved.keys[-1] or last).lineno - 1]
            indentation = row[: len(row) - len(row.lstrip())]
        change = (display, lambda node: with_items(node, items, indentation))
        self._edits[file].append(Edit(changes=(change,)))
