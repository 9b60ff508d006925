"""Read the program of a check as the scan does.

It tells what feeds a line, and what makes the numbers that become seeds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, starmap

from reprocheck.files.source_text import Cell
from reprocheck.fixes.fixability import promised
from reprocheck.fixes.seeds import TAKE_A_SEED
from reprocheck.ladder.sources import CELL, Sources, numbered
from reprocheck.model import SourceLine
from reprocheck.scan import places
from reprocheck.scan.project import Module
from reprocheck.scan.scanned_program import ScannedProgram, scanned_program
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Derived, Made, Value
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
        """Return a line of a cell as one of the joined program; another line unchanged."""
        if name not in before:
            return name, line
        return notebook, before[name] + line

    def places(found: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        return tuple(starmap(place, found))

    return [replace(one, lines=places(one.lines), done=places(one.done)) for one in ran]


MOST_FILES, MOST_LINES = 60, 20_000
"""What is scanned at most: two seconds or so, beside runs that take longer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedNumber:
    """A number that becomes a seed.

    taken  the call that takes the number as a seed
    made   the call that makes the number; the same as `taken` if its own arguments make the number
    of     all calls that the number is computed from
    """

    taken: Call
    made: Call
    of: tuple[Call, ...]


def program_of(sources: Sources, names: Iterable[str]) -> ScannedProgram:
    """Return the program of a check from the files of these names, with its script or notebook.

    Empty if the program is too large to be scanned beside a run.
    """
    program = sources.script or sources.notebook
    texts: dict[str, str] = {}
    notebook = as_notebook(sources)
    if notebook is not None:
        texts[sources.notebook] = notebook
    lines = 0
    wanted = filter(None, dict.fromkeys((sources.script, *names)))
    for name in islice(wanted, MOST_FILES):
        text = sources.text(name)
        if text is None:
            continue
        lines += text.count("\n")
        # a cell stands in the text of its notebook
        if lines <= MOST_LINES and CELL not in name:
            texts[name] = text
    if program not in texts:
        texts = {}
    return scanned_program(texts, program, promised)


def feeding(program: ScannedProgram, line: SourceLine) -> tuple[int, ...]:
    """Return the ids of the nodes that make what a line reads, the nearest first."""
    file, cell = numbered(line.file)
    module = program.modules.get(file)
    if module is None:
        return ()
    # cells are scanned as one text
    begins = {one.number: one.first_line - 1 for one in module.source.cells or ()}
    joined_line = begins.get(cell, 0) + line.line
    return tuple(dict.fromkeys(places.feeding(program.orders, module, joined_line)))


def seeds(program: ScannedProgram) -> Iterator[SeedNumber]:
    """Yield the numbers that the program uses as seeds."""
    for order in program.orders:
        for call in order.calls():
            given = (*call.arguments, *call.keywords.values())
            if call.library_method not in TAKE_A_SEED or not given:
                continue
            origin = chain.from_iterable(value.origin() for value in given)
            made = (one for value in given for one in _makers(value))
            outside = (one for one in made if one.statement is not call.statement)
            yield SeedNumber(
                taken=call,
                made=next(outside, call),
                of=(call, *(value.call for value in origin if isinstance(value, Made))),
            )


def _makers(value: Value) -> Iterator[Call]:
    """Yield the calls that return a number, or a part of what the number is computed from."""
    for option in value.options():
        if isinstance(option, Made):
            yield option.call
        elif isinstance(option, Derived):
            yield from chain.from_iterable(map(_makers, option.parts))


def shown_line(module: Module, joined_line: int, sources: Sources) -> SourceLine:
    """Return a line of the scanned text with the file name that reports use, and with its text."""
    cell, line = module.source.place(joined_line)
    file = module.shown
    if cell is not None:
        file = f"{file}{CELL}{cell}"
    shown = sources.with_text(SourceLine(file=file, line=line))
    assert shown is not None
    return shown
