"""A script that is being patched: what is saved besides, what is loaded, and lines elsewhere."""

from __future__ import annotations

import ast

from reprocheck.resume.fix import edits
from reprocheck.resume.fix.edits import Edit
from reprocheck.resume.fix.source import Source


class Draft:
    """Changes of a script, until its text is asked for."""

    def __init__(self, text: str, source: Source) -> None:
        self.source = source
        self.edits: list[Edit] = []
        self._text = text
        self._saved: dict[str, str] = {}
        self._loaded: list[str] = []

    def save(self, key: str, value: str) -> None:
        """An expression is saved under a key, unless it is already."""
        held = self.source.held.get(key)
        if held is None or ast.unparse(held) != value:
            self._saved[key] = value

    def load(self, line: str) -> None:
        """A line behind those that load the checkpoint."""
        self._loaded.append(line)

    def text(self) -> str:
        """The script with all of it; "" where nothing is changed, or where that is no Python any
        more, as with several statements on one line.
        """
        made = list(self.edits)
        if self._saved:
            made.append(self._into_dict())
        if self._loaded:
            made.append(edits.behind(self.source.behind, self._loaded))
        text = edits.applied(self._text, made) if made else ""
        try:
            ast.parse(text)
        except SyntaxError:
            return ""
        return text

    def _into_dict(self) -> Edit:
        """Behind the last value, each on a line of its own where those are."""
        saved = self.source.saved
        last = saved.values[-1]
        between = ", "
        if last.lineno != saved.lineno:
            row = self._text.splitlines()[(saved.keys[-1] or last).lineno - 1]
            between = ",\n" + row[: len(row) - len(row.lstrip())]
        said = [f'{between}"{key}": {value}' for key, value in self._saved.items()]
        return edits.following(last, "".join(said))
