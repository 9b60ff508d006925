"""A script that is being patched: what is saved besides, what is loaded, and lines elsewhere."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping

from reprocheck.resume.fix import edits
from reprocheck.resume.fix.edits import Edit
from reprocheck.resume.fix.source import Source


class Draft:
    """Changes of the files of a script, until their texts are asked for."""

    def __init__(self, texts: Mapping[str, str], source: Source) -> None:
        self.source = source
        self.edits: defaultdict[str, list[Edit]] = defaultdict(list)
        self._texts = texts
        self._saved: dict[str, str] = {}
        self._loaded: list[str] = []

    def save(self, key: str, value: str) -> None:
        """Save an expression under a key, unless it is already; subscripts lead to what is."""
        held = self.source.held.get(key)
        if key.startswith("["):
            return
        if held is None or ast.unparse(held) != value:
            self._saved[key] = value

    def load(self, line: str) -> None:
        """Add a line behind those that load the checkpoint."""
        self._loaded.append(line)

    def texts(self) -> dict[str, str]:
        """Return the files that are changed; {} where none is, or where one is no Python any more,
        as with several statements on one line.
        """
        made = {file: list(changes) for file, changes in self.edits.items()}
        if self._saved:
            made.setdefault(self.source.saving.file, []).append(self._into_dict())
        if self._loaded:
            lines = edits.behind(self.source.behind, self._loaded)
            made.setdefault(self.source.loading.file, []).append(lines)
        texts = {file: edits.applied(self._texts[file], one) for file, one in made.items() if one}
        try:
            for text in texts.values():
                ast.parse(text)
        except SyntaxError:
            return {}
        return texts

    def _into_dict(self) -> Edit:
        """Behind the last value, each on a line of its own where those are; around what is no dict
        that is written there.
        """
        source = self.source
        saved: ast.expr = source.saved
        said = [f'"{key}": {value}' for key, value in self._saved.items()]
        if source.inner is not None:
            roots = {re.split(r"\W", value)[0] for value in self._saved.values()}
            scope = source.script.scope(source.inner)
            if all(source.script.is_known(root, scope) for root in roots):
                saved = source.inner
        if not isinstance(saved, ast.Dict) or not saved.values:
            return edits.instead(saved, f"{{**{ast.unparse(saved)}, {', '.join(said)}}}")
        last = saved.values[-1]
        between = ", "
        if last.lineno != saved.lineno:
            rows = self._texts[self.source.saving.file].splitlines()
            row = rows[(saved.keys[-1] or last).lineno - 1]
            between = ",\n" + row[: len(row) - len(row.lstrip())]
        return edits.following(last, "".join(between + one for one in said))
