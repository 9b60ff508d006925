"""The program of a check as the scan reads it: its modules, what it executes, what is found in it,
and the places in it that are not the same in each run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice

from reprocheck.causes.cells import as_notebook
from reprocheck.fixes.fixability import promised
from reprocheck.fixes.seeds import TAKE_A_SEED
from reprocheck.ladder.sources import CELL, Sources, numbered
from reprocheck.language import tag
from reprocheck.model import SourceLine
from reprocheck.scan.finding import UNUSED_IGNORE, Finding
from reprocheck.scan.judge import finished, judged
from reprocheck.scan.order import Order
from reprocheck.scan.places import Place, feeding, places
from reprocheck.scan.programs import of_program
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Derived, Made, Value

MOST_FILES, MOST_LINES = 60, 20_000
"""What is scanned at most: two seconds or so, beside runs that take longer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedNumber:
    """A number that becomes a seed.

    taken  the call that takes it
    made   the call that makes it, the same one where the number is made in its arguments
    of     all calls of what it is made of
    """

    taken: Call
    made: Call
    of: tuple[Call, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """What the scan makes of the texts of a program; modules by the names of their files."""

    modules: Mapping[str, Module]
    orders: tuple[Order, ...]
    findings: tuple[Finding, ...]
    places: tuple[Place, ...]

    def feeding(self, line: SourceLine) -> tuple[int, ...]:
        """Return what a line is fed by, the nearest first: ids of nodes."""
        file, cell = numbered(line.file)
        module = self.modules.get(file)
        if module is None:
            return ()
        return tuple(dict.fromkeys(feeding(self.orders, module, _joined(module, cell, line.line))))

    def seeds(self) -> Iterator[SeedNumber]:
        """Yield the numbers that become seeds."""
        for order in self.orders:
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
    """Yield the calls that give a number, or a part of what it is computed from."""
    for option in value.options():
        if isinstance(option, Made):
            yield option.call
        elif isinstance(option, Derived):
            yield from chain.from_iterable(map(_makers, option.parts))


def program_of(sources: Sources, names: Iterable[str]) -> Program:
    """Return the program of a check whose files have these names, with its script or notebook.

    Empty where they are too many to be scanned beside a run.
    """
    texts = _texts(sources, names)
    return _scanned(tuple(texts.items()), sources.script or sources.notebook, tag())


def shown_line(module: Module, joined_line: int, sources: Sources) -> SourceLine:
    """Return a line of the text that was scanned, as a report names it, with its text."""
    cell, line = module.source.place(joined_line)
    file = module.shown
    if cell is not None:
        file = f"{file}{CELL}{cell}"
    found = sources.with_text(SourceLine(file=file, line=line))
    assert found is not None
    return found


def _joined(module: Module, cell: int, line: int) -> int:
    """Return a line in the text that was scanned."""
    begins = {one.number: one.first_line - 1 for one in module.source.cells or ()}
    return begins.get(cell, 0) + line


def _texts(sources: Sources, names: Iterable[str]) -> dict[str, str]:
    """Return the script and the files that were imported, as they were."""
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
        return {}
    return texts


@lru_cache(maxsize=2)
def _scanned(texts: tuple[tuple[str, str], ...], script: str, language: str) -> Program:
    """Return what is found there, said in the language that is spoken."""
    project = of_program(dict(texts), script)
    modules = list(project)
    found, _ = judged(modules)
    orders = tuple(order for module in modules for order in module.orders)
    (said,) = promised([(project, finished(project, found))])
    wanted = (one for one in said if one.code != UNUSED_IGNORE)
    return Program(
        modules={module.shown: module for module in modules},
        orders=orders,
        findings=tuple(one for one in wanted if one.suppressed is None),
        places=places(orders, modules),
    )
