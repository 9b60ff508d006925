"""Describe the blocks that a report is made of, and the report itself.

Both are made once from a check, and drawn as HTML (`html`) and as Markdown (`markdown`).

Texts are plain: what stands between backticks is code. Cells and values are printable, not yet
escaped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from reprocheck.model import Confidence, RungName, SourceLine
from reprocheck.model.verdict import Tone


class Block:
    """A part of a section."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Text(Block):
    """A paragraph.

    style   `lead`: the first paragraph of a section; `hint`: an explanation for the reader, shown
            only on the HTML page; `note`: a remark
    """

    text: str
    style: Literal["", "lead", "hint", "note"] = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileLink(Block):
    """A file beside the report: what it does, and the command that runs it."""

    name: str
    does: str
    command: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Table(Block):
    """Column heads and rows.

    marked     indexes of rows that fail or differ; of rows that agree if `good`
    strong     the column that is bold in marked rows
    captioned  whether the title is shown; not if the section has only this table, under its heading
    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    marked: frozenset[int] = field(default_factory=frozenset)
    note: str = ""
    strong: int = -1
    good: bool = False
    captioned: bool = True
    narrow: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Bullets(Block):
    """A list; `literal`: each item is code."""

    items: tuple[str, ...]
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A name, its value, and an additional remark; `code`: the value is code."""

    name: str
    value: str
    detail: str = ""
    code: bool = False


@dataclass(frozen=True, slots=True)
class Numbers(Block):
    """The facts that a verdict stands on, in large type."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts(Block):
    """Names with their values; `heads_texts`: whether a text report has them at its top already."""

    facts: tuple[Fact, ...]
    heads_texts: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Code(Block):
    """Text to be copied, in this language; `diff` is coloured."""

    text: str
    language: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Log(Block):
    """The end of the output of a run, folded under a title.

    short   whether short reports show the log, too
    open    whether it is unfolded on a page
    """

    title: str
    text: str
    short: bool
    open: bool = False


@dataclass(frozen=True, slots=True)
class Source(Block):
    """A line of the user's code with its place; `role`: what happens on the line."""

    line: SourceLine
    role: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fold(Block):
    """Blocks folded under a title; `detail`: shown only on the HTML page."""

    title: str
    blocks: tuple[Block, ...]
    detail: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart(Block):
    """A chart, shown only on the HTML page.

    title   the description for readers who cannot see the chart
    svg     the SVG element for the page
    heading the heading above the chart; `lead` explains the chart
    ranks   the ranks whose dash patterns a legend explains
    notes   what the chart does not show
    live    whether the chart can be zoomed, because there is data for it
    """

    id: str
    title: str
    svg: str
    heading: str = ""
    lead: str = ""
    ranks: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    live: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Repair(Block):
    """What to do about a cause: a patch, code to paste, or a sentence.

    said   what is known of a patch, such as the result of runs with it
    """

    kind: Literal["patch", "code", "words"]
    text: str
    said: str = ""
    language: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CausePanel(Block):
    """A cause, its line, the fix, and the evidence.

    heading   the words before its code in a text report: `Cause`
    badge     the confidence in a word, `means` in a sentence
    known     whether the page has the catalogue entry of its code
    rung      the rung on which the cause shows first; "" if another cause is named for that rung
    """

    heading: str
    code: str
    title: str
    confidence: Confidence
    badge: str
    means: str
    evidence: tuple[str, ...]
    sources: tuple[Source, ...] = ()
    repair: Repair | None = None
    known: bool = False
    rung: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class RungRow:
    """A rung of the ladder: the printable text of each column.

    kind    the status for programs: `equal`, `differs`, `not-recorded`, `not-compared`
    means   what the rung is about
    facts   facts of a rung that differs
    cause   the cause named for the difference of the rung; "" for none
    """

    kind: str
    rung: RungName | str
    name: str
    means: str
    status: str
    sign: str
    where: str
    first: bool
    differs: bool
    detail: str = ""
    facts: tuple[Fact, ...] = ()
    source: SourceLine | None = None
    cause: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rungs(Block):
    """The ladder; `title`: the caption if it is shown as a table."""

    title: str
    rows: tuple[RungRow, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleEntry(Block):
    """The catalogue entry of a code, shown only on the HTML page.

    target   the section with its cause; rung: the rung on which it shows first, "" without a ladder
    """

    code: str
    name: str
    why: str
    shows: str
    target: str
    rung: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A heading and its blocks; `detail`: shown only on the HTML page."""

    id: str
    title: str
    blocks: tuple[Block, ...]
    detail: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """The content of a report, in the order of reading.

    title     the verdict
    name      the name of the script, for the title of the window
    lead      the one sentence on the difference; "" for none
    reasons   the sentences that justify the verdict
    answer    the sections before the next command, `details` those after it
    rungs     the rungs of the ladder shown in the table of contents of a page
    preview   a small chart next to the verdict, as an element for a page
    """

    title: str
    tone: Tone
    name: str
    command: str
    version: str
    lead: str
    reasons: tuple[str, ...]
    about: tuple[Fact, ...]
    next: tuple[str, str]
    answer: tuple[Section, ...]
    details: tuple[Section, ...]
    rungs: tuple[RungRow, ...] = ()
    preview: str = ""

    @property
    def sections(self) -> tuple[Section, ...]:
        return (*self.answer, *self.details)


def section(
    identifier: str, title: str, *blocks: Block | Iterable[Block] | None, detail: bool = False
) -> Section | None:
    """Return a section of the blocks that are not empty; None if all are."""
    present: list[Block] = []
    for block in blocks:
        if block is None:
            continue
        present.extend([block] if isinstance(block, Block) else block)
    filled = tuple(block for block in present if not (isinstance(block, Table) and not block.rows))
    if not filled:
        return None
    return Section(id=identifier, title=title, blocks=filled, detail=detail)
