"""report.md: to paste into an issue.

Whatever stands in logs, paths and arguments cannot break out of its place: a line that is not made
of `Markdown` is escaped where the document is put together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import singledispatch

from reprocheck.language import tr
from reprocheck.report.blocks import (
    Block,
    Bullets,
    CausePanel,
    Code,
    Fact,
    Facts,
    FileLink,
    Fold,
    Log,
    Numbers,
    Repair,
    Report,
    Rungs,
    Section,
    Source,
    Table,
    Text,
)
from reprocheck.report.text import joined, line, origin, printable, tail

MOST_ITEMS = 50
"""Of a list."""
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]|~])")
_CALLS = re.compile(r"([@#])(?=\w)")
_BLOCK = re.compile(r"^(?:[-+=#](?=[-=\s]|$)|\d+[.)](?=\s|$))")
_SPAN = re.compile(r"`([^`]*[^`\s][^`]*)`")
"""What our sentences mean as code. A backtick without another stays a character."""


class Markdown(str):
    """A piece of Markdown, in which text from outside is always escaped."""


def document(lines: Iterable[str]) -> str:
    """Join lines to Markdown; a line that is no Markdown is escaped."""
    return "\n".join(map(safe, lines)).rstrip("\n") + "\n"


def md(template: str, *values: object) -> Markdown:
    """Fill the places of a template of ours; values that are no Markdown are text."""
    return Markdown(template.format(*map(safe, values)))


def say(message: str, /, **values: object) -> Markdown:
    """Return a translated message with its placeholders filled by escaped Markdown."""
    shown = {
        name: safe(value) if isinstance(value, str) else value for name, value in values.items()
    }
    return Markdown(tr(message, **shown))


def safe(value: object) -> Markdown:
    """Return a value as Markdown; escape it if it is not Markdown already."""
    return value if isinstance(value, Markdown) else prose(str(value))


def render(report: Report) -> bytes:
    """Return report.md."""
    return document(_lines(report)).encode()


def prose(text: str) -> Markdown:
    """Return text in one line of Markdown: text between backticks becomes code.

    Everything that Markdown, HTML or a forge would interpret is escaped.
    """
    shown = "".join(_pieces(text, code, _escaped))
    return Markdown(_BLOCK.sub(lambda found: found[0][:-1] + "\\" + found[0][-1], shown))


def cell(text: str) -> Markdown:
    """Return `prose` for a table cell, with pipes escaped even in code."""
    if isinstance(text, Markdown):
        return text
    pieces = _pieces(text, lambda inside: code(inside).replace("|", "\\|"), _escaped)
    return Markdown("".join(pieces))


def summary(text: str) -> Markdown:
    """Return `prose` for use in an HTML element, in which Markdown is not read."""
    pieces = _pieces(text, lambda inside: f"<code>{_as_html(inside)}</code>", _as_html)
    return Markdown("".join(pieces))


def _pieces(
    text: str, as_code: Callable[[str], str], as_text: Callable[[str], str]
) -> Iterator[str]:
    """Yield the parts of a sentence: those between backticks as code, others as text."""
    for number, piece in enumerate(_SPAN.split(line(text))):
        yield as_code(piece) if number % 2 else as_text(piece)


def _as_html(text: str) -> str:
    """Escape tags, mentions and addresses with entities: a backslash would not help.

    Empty comments part what entities do not.
    """
    html = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    html = _CALLS.sub(r"\1<!-- -->", html)
    return html.replace("://", ":<!-- -->//").replace("www.", "www<!-- -->.")


def _escaped(text: str) -> str:
    return _as_html(_PUNCTUATION.sub(r"\\\1", text))


def code(text: str) -> Markdown:
    """Return a code span in one line."""
    text = line(text)
    if not text:
        return Markdown()
    fence = "`" * (_longest_fence(text) + 1)
    # A space keeps the text's own backticks apart from the fence; readers take it away again.
    pad = ""
    if "`" in (text[0], text[-1]):
        pad = " "
    return Markdown(f"{fence}{pad}{text}{pad}{fence}")


def block(text: str, language: str = "text") -> list[Markdown]:
    """Return a fenced block with a fence longer than any in the text."""
    text = printable(text)
    fence = "`" * max(3, _longest_fence(text) + 1)
    return [*map(Markdown, (fence + language, *text.split("\n"), fence))]


def _longest_fence(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _lines(report: Report) -> Iterator[str]:
    yield from (md("## reprocheck: {}", report.title), "")
    sentences = list(filter(None, (report.lead, *report.reasons)))
    yield from (line for first in sentences[:1] for line in (md("**{}**", first), ""))
    if sentences[1:]:
        yield from (*sentences[1:], "")
    yield from (*facts(report.about), "")
    for section in report.sections:
        yield from section_lines(section)
    reason, command = report.next
    if command:
        yield from (md("### {}", tr("Next")), "", reason, "", *block(command, "sh"), "")
    yield md("<sub>reprocheck {}</sub>", report.version)


def section_lines(section: Section | None) -> Iterator[str]:
    """Yield a section under its heading; nothing if no part of it is for a text report."""
    if section is None or section.detail:
        return
    lines = list(lines_of(section.blocks))
    if not lines:
        return
    if not isinstance(section.blocks[0], CausePanel):
        yield from (md("### {}", section.title), "")
    yield from lines


def lines_of(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield blocks, each followed by an empty line."""
    for part in blocks:
        yield from _drawn(part)


@singledispatch
def _drawn(part: Block) -> Iterable[str]:
    """Return the lines of a block; none for a block that only the HTML page shows."""
    return ()


@_drawn.register
def _text(part: Text) -> Iterable[str]:
    if part.style == "hint":
        return ()
    return (prose(part.text), "")


@_drawn.register
def _file(part: FileLink) -> Iterable[str]:
    return (prose(f"`{part.name}` {part.does}."), "")


@_drawn.register
def _table(part: Table) -> Iterable[str]:
    if not part.rows:
        return ()
    title = [md("#### {}", part.title), ""] if part.captioned else []
    note = [part.note, ""] if part.note else []
    return [*title, *pipe_table(part), *note]


@_drawn.register
def _bullets(part: Bullets) -> Iterator[str]:
    show = code if part.literal else prose
    yield from (md("- {}", show(item)) for item in part.items[:MOST_ITEMS])
    if len(part.items) > MOST_ITEMS:
        yield Markdown(f"- … and {len(part.items) - MOST_ITEMS:,} more")
    yield ""


@_drawn.register
def _numbers(part: Numbers) -> Iterable[str]:
    rows = tuple((fact.name, fact.value, fact.detail) for fact in part.facts)
    return pipe_table(Table(title="", heads=("", "", ""), rows=rows))


@_drawn.register
def _facts(part: Facts) -> Iterable[str]:
    if part.heads_texts:
        return ()
    return (*facts(part.facts), "")


def facts(rows: Iterable[Fact]) -> Iterator[str]:
    """Yield a list of names with their values."""
    for fact in rows:
        shown = code(fact.value) if fact.code else prose(fact.value)
        yield md("- {}: {}", fact.name, shown)


@_drawn.register
def _code(part: Code) -> Iterable[str]:
    return (*block(part.text, part.language), "")


@_drawn.register
def _log(part: Log) -> Iterable[str]:
    if not part.short:
        return ()
    return folded(part.title, block(tail(part.text, 30, 3000)))


@_drawn.register
def _source(part: Source) -> Iterable[str]:
    text = joined(": ", code(origin(part.line)), code(part.line.text))
    return (Markdown(joined(" ", text, part.role)), "")


@_drawn.register
def _fold(part: Fold) -> Iterable[str]:
    if part.detail:
        return ()
    return folded(part.title, lines_of(part.blocks))


@_drawn.register
def _repair(part: Repair) -> Iterable[str]:
    if part.kind == "patch":
        known = say("Patch. {said}", said=part.said)
        return (known, "", *block(part.text, "diff"), "")
    if part.kind == "code":
        return (tr("Fix:"), "", *block(part.text, part.language), "")
    return (say("Fix: {text}", text=part.text), "")


@_drawn.register
def _cause(part: CausePanel) -> Iterator[str]:
    title = say(
        "{code} {title} ({confidence})",
        code=line(part.code),
        title=line(part.title),
        confidence=part.badge,
    )
    yield from (md("### {}: {}", part.heading, title), "")
    if part.evidence:
        yield from (*(md("- {}", text) for text in part.evidence), "")
    for source in part.sources:
        yield from _source(source)
    if part.repair is not None:
        yield from _repair(part.repair)


@_drawn.register
def _rungs(part: Rungs) -> Iterable[str]:
    return pipe_table(
        Table(
            title=part.title,
            heads=("rung", "", "where", "what"),
            rows=tuple((row.name, row.status, row.where, row.detail) for row in part.rows),
            marked=frozenset(index for index, row in enumerate(part.rows) if row.first),
            strong=1,
        )
    )


def pipe_table(table: Table) -> Iterator[str]:
    """Yield a pipe table; rows that fail or differ have one bold cell."""
    if not table.rows:
        return
    # numbers stand to the right, all else as it comes
    rules = ("--:" if index in table.numeric else "---" for index in range(len(table.heads)))
    yield row(table.heads)
    yield Markdown(f"|{'|'.join(rules)}|")
    for index, texts in enumerate(table.rows):
        cells = list(map(cell, texts))
        if index in table.marked and cells[table.strong]:
            cells[table.strong] = md("**{}**", cells[table.strong])
        yield row(cells)
    yield ""


def row(texts: Iterable[str]) -> Markdown:
    """Return a row of a pipe table."""
    return Markdown(f"| {' | '.join(map(cell, texts))} |")


def folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines folded under a title; nothing if there are none."""
    body = list(lines)
    while body and not body[-1]:
        body.pop()
    if body:
        opened = Markdown(f"<details><summary>{summary(title)}</summary>")
        yield from (opened, "", *body, "", Markdown("</details>"), "")
