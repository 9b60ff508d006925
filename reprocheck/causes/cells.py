"""The cells of a notebook that ran as one program, which is how the scan reads them, and what was
recorded of them as lines of that.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from reprocheck.ladder.sources import CELL, Sources, numbered
from reprocheck.scan.text import Cell
from reprocheck.trace.reached import Ran


def as_notebook(sources: Sources) -> str | None:
    """The notebook of a check with the code of its cells alone, each at its number; None where it
    is not known.
    """
    cells = {numbered(name)[1]: sources.text(name) for name in sources.cells}
    if not cells or None in cells.values():
        return None
    return json.dumps(
        {
            "cells": [
                {"cell_type": "code" if number in cells else "raw", "source": cells.get(number)}
                for number in range(1, max(cells) + 1)
            ]
        }
    )


def joined(ran: Sequence[Ran], notebook: str, cells: Sequence[Cell]) -> Sequence[Ran]:
    """What ran, with the lines of the joined cells in place of those of a cell."""
    begins = {f"{notebook}{CELL}{cell.number}": cell.first_line - 1 for cell in cells}

    def places(found: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        return tuple(
            (notebook, begins[name] + line) if name in begins else (name, line)
            for name, line in found
        )

    return [replace(one, lines=places(one.lines), done=places(one.done)) for one in ran]
