"""Programs written from a list of causes, without sight of the rules: wrong ones, with the lines
that are to blame, and right ones.

A file of `study/` holds programs: `=== NAME` begins one, `--- PATH` begins a file of it. A line to
blame ends in `# <<`. In a notebook, `%%%` stands between two cells.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent / "study"
MARK = "  # <<"


@dataclass(frozen=True)
class Program:
    """Files by path, and the places to blame: path, cell (None in a script) and line."""

    name: str
    files: dict[str, str]
    blamed: frozenset[tuple[str, int | None, int]]


def programs(kind: str) -> list[Program]:
    """The programs of the files `KIND-*.txt`."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(HERE.glob(f"{kind}-*.txt"))]
    return [_program(part) for text in texts for part in re.split(r"(?m)^=== ", text)[1:]]


def _program(text: str) -> Program:
    name, _, rest = text.partition("\n")
    files: dict[str, str] = {}
    blamed: set[tuple[str, int | None, int]] = set()
    for part in re.split(r"(?m)^--- ", rest)[1:]:
        path, _, source = part.partition("\n")
        notebook = path.endswith(".ipynb")
        cells = source.split("%%%\n") if notebook else [source]
        for number, cell in enumerate(cells, start=1):
            lines = [
                line for line, text in enumerate(cell.splitlines(), start=1) if text.endswith(MARK)
            ]
            blamed |= {(path, number if notebook else None, line) for line in lines}
        files[path] = _notebook(cells) if notebook else source.replace(MARK, "")
    return Program(name=name, files=files, blamed=frozenset(blamed))


def _notebook(cells: list[str]) -> str:
    entries = [
        {
            "cell_type": "code",
            "source": cell.replace(MARK, "").splitlines(keepends=True),
            "outputs": [],
        }
        for cell in cells
    ]
    return json.dumps(
        {
            "cells": entries,
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"language_info": {"name": "python"}},
        }
    )
