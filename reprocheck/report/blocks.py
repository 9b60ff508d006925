"""The blocks that a report is made of, and the report itself: made once from a check, drawn as HTML
(`html`) and as Markdown (`markdown`).

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

    style   `lead` is the first paragraph of a section, `hint` one that explains a page to its
            reader and stands on a page alone, `note` a remark
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

    marked    rows that fail or differ; those that agree where `good`
    strong    the column that is bold in marked rows
    captioned  whether the title is shown: a section of one table has it as its heading
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
    """A name, its value, and what is to be added to it; `code`: the value is code."""

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
    """Names with their values; `heads_texts`: a text has them at its top already."""

    facts: tuple[Fact, ...]
    heads_texts: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Code(Block):
    """Text to be copied, in this language; `diff` is coloured."""

    text: str
    language: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Log(Block):
    """The end of what a run printed, behind a title that opens it.

    short   whether short reports have it, too
    open    whether it is open on a page
    """

    title: str
    text: str
    short: bool
    open: bool = False


@dataclass(frozen=True, slots=True)
class Source(Block):
    """A line of the user's code with its place; `role`: what happens there."""

    line: SourceLine
    role: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fold(Block):
    """Blocks behind a title that opens them; `detail`: on a page alone."""

    title: str
    blocks: tuple[Block, ...]
    open: bool = False
    detail: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart(Block):
    """A chart; on a page alone.

    title   for those who cannot see it
    svg     an element for the page
    heading above it; `lead` explains it
    ranks   those whose dashes a legend explains
    notes   what it does not show
    live    whether it can be zoomed: there is data for it
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
    """What to do: a patch, code to paste, or a sentence.

    said   what is known of a patch
    """

    kind: Literal["patch", "code", "words"]
    text: str
    said: str = ""
    language: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CausePanel(Block):
    """A cause, its line, what to do, and what shows it.

    heading   before its code in a text: `Cause`
    badge     the confidence in a word, `means` in a sentence
    known     whether the page has the entry of its code
    rung      the rung on which it shows first; "" where another cause is told for that
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
    """A rung of the ladder: what is printable in each column.

    kind    for programs: `equal`, `differs`, `not-recorded`, `not-compared`
    means   what the rung is about
    facts   of a rung that differs
    cause   what is told as the cause of its difference; "" for none
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
    """The ladder; `title` for those who see it as a table."""

    title: str
    rows: tuple[RungRow, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleEntry(Block):
    """What the catalogue says of a code; on a page alone.

    target   the section with its cause; rung: on which it shows first, "" without a ladder
    """

    code: str
    name: str
    why: str
    shows: str
    target: str
    rung: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A heading and what stands below it; `detail`: on a page alone."""

    id: str
    title: str
    blocks: tuple[Block, ...]
    detail: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What a check says, in the order in which it is read.

    title     the verdict
    name      of what was checked, for the title of the window
    lead      the one sentence of the difference; "" for none
    reasons   behind it
    answer    the sections before what to type next, `details` those behind it
    rungs     of the ladder that the contents of a page begin with
    preview   a small chart beside the verdict, as an element for a page
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
    """Return a section of the blocks that are there; None where nothing is."""
    present: list[Block] = []
    for block in blocks:
        if block is None:
            continue
        present.extend([block] if isinstance(block, Block) else block)
    filled = tuple(block for block in present if not (isinstance(block, Table) and not block.rows))
    if not filled:
        return None
    return Section(id=identifier, title=title, blocks=filled, detail=detail)
