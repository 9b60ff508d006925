"""Blocks as rows of a label and a text: for the terminal, and for the message of a failed test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import singledispatch

from reprocheck.report.blocks import Block, CausePanel, Facts, Repair, Source, Text
from reprocheck.report.text import joined, line, origin


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A text next to its label.

    `code`: lines to copy, below the label; `strong`: bold text first.
    """

    label: str
    text: str
    code: bool = False
    strong: bool = False


def label_rows(blocks: Iterable[Block]) -> Iterator[LabelRow]:
    """Yield the rows of blocks; a block that has no rows is left out."""
    for block in blocks:
        yield from _rows(block)


@singledispatch
def _rows(block: Block) -> Iterable[LabelRow]:
    return ()


@_rows.register
def _text(block: Text) -> Iterable[LabelRow]:
    return [LabelRow("", line(block.text))]


@_rows.register
def _facts(block: Facts) -> Iterable[LabelRow]:
    return [LabelRow(fact.name, line(fact.value)) for fact in block.facts]


@_rows.register
def _cause(block: CausePanel) -> Iterator[LabelRow]:
    title = f"{line(block.code)} {line(block.title)} ({block.badge})"
    yield LabelRow("cause", title, strong=True)
    for sentence in block.evidence:
        yield LabelRow("", line(sentence))
    for source in block.sources:
        yield from _source(source)
    if block.repair is not None:
        yield from _repair(block.repair)


@_rows.register
def _source(block: Source) -> Iterable[LabelRow]:
    place = joined(" ", origin(block.line), block.role)
    return [LabelRow("line", f"{place}  {line(block.line.text)}".rstrip())]


@_rows.register
def _repair(block: Repair) -> Iterable[LabelRow]:
    if block.kind == "words":
        return [LabelRow("fix", line(block.text))]
    if block.kind == "code":
        return [LabelRow("fix", block.text, code=True)]
    return [LabelRow("tried", line(block.said)), LabelRow("patch", block.text, code=True)]
