"""Treat the cells of a notebook as one program, as the scan does, and map recorded lines of cells
to lines of that program.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import starmap

from reprocheck.files.source_text import Cell
from reprocheck.ladder.sources import CELL, Sources, numbered
from reprocheck.trace.executed_code import Ran


def as_notebook(sources: Sources) -> str | None:
    """Return the notebook of a check as JSON, with only its code cells, each at its number.

    None if the text of a cell is not known.
    """
    cells = {numbered(name)[1]: sources.text(name) for name in sources.cells}
    if not cells or None in cells.values():
        return None
    # a number without code is a cell of text
    numbers = range(1, max(cells) + 1)
    kinds = dict.fromkeys(numbers, "raw") | dict.fromkeys(cells, "code")
    found = [{"cell_type": kinds[number], "source": cells.get(number)} for number in numbers]
    return json.dumps({"cells": found})


def joined(ran: Sequence[Ran], notebook: str, cells: Sequence[Cell]) -> Sequence[Ran]:
    """Return what ran, with lines of cells replaced by lines of the joined program."""
    before = {f"{notebook}{CELL}{cell.number}": cell.first_line - 1 for cell in cells}

    def place(name: str, line: int) -> tuple[str, int]:
        """Return a line of a cell as a line of the joined program; a line of another file
        unchanged.
        """
        if name not in before:
            return name, line
        return notebook, before[name] + line

    def places(found: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        return tuple(starmap(place, found))

    return [replace(one, lines=places(one.lines), done=places(one.done)) for one in ran]
