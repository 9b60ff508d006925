"""For the terminal: place, code, the line with a caret, what is wrong and what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from reprocheck.scan.finding import Finding, Result, Unreadable
from reprocheck.scan.formats import can_be_fixed, counted, sentence, summary

WIDTH = 80
COLORS = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
MOST_NAMED = 3
"""Files of one reason that are named."""

Part = str | tuple[str, str]
"""A text, or a text and its style, such as `bold red`."""
Row = tuple[Part, ...]


def render(result: Result, width: int = WIDTH) -> str:
    """All findings, files that were left out, and a sentence that counts them."""
    return "".join(f"{_plain(row)}\n" for row in rows(result, width))


def rows(result: Result, width: int = WIDTH) -> Iterator[Row]:
    """The rows of `render`, with their styles."""
    for finding in result.findings:
        yield from _finding(finding, width)
        yield ()
    for said in left_out(result):
        yield from _wrapped(said, width, "")
    if result.unreadable:
        yield ()
    yield from _wrapped(summary(result), width, "")
    yield from _wrapped(can_be_fixed(result), width, "")
    if result.suppressed:
        yield (f"{len(result.suppressed)} more answered by comments.",)


def _plain(row: Row) -> str:
    return "".join(part if isinstance(part, str) else part[0] for part in row)


def left_out(result: Result) -> Iterator[str]:
    """Which files were left out or scanned in part, and why.

    Many that were scanned in part, for one reason, are one sentence.
    """
    by_reason: dict[str, list[Unreadable]] = {}
    for one in result.unreadable:
        if one.partly:
            by_reason.setdefault(one.said, []).append(one)
        else:
            place = one.path + (f":{one.line}" if one.line is not None else "")
            yield f"{place}: {one.said}"
    for said, files in by_reason.items():
        named = ", ".join(one.path for one in files[:MOST_NAMED])
        rest = len(files) - MOST_NAMED
        more = f" and {counted(rest, 'more file')} (`--format json` names them)" if rest > 0 else ""
        yield f"{named}{more}: {said}"


def _finding(finding: Finding, width: int) -> Iterator[Row]:
    fixable = " [--fix]" if finding.patchable else ""
    place = (f"{finding.place}:", "bold")
    severity = (finding.severity, COLORS[finding.severity])
    yield place, " ", severity, " ", (finding.code, "cyan"), f" {finding.name}{fixable}"
    yield from _wrapped(sentence(finding), width, "  ")
    yield from _excerpt(finding, width)
    if finding.through and not finding.through[0].startswith(f"{finding.path}:"):
        yield from _wrapped(f"reached through {' → '.join(finding.through)}", width, "  ", "    ")
    if finding.fix:
        yield from _wrapped(f"fix: {finding.fix}", width, "  ", "       ")


def _excerpt(finding: Finding, width: int) -> Iterator[Row]:
    """The line and a caret below the part that is meant; a long line is cut around it."""
    text = finding.text.rstrip()
    if not text.strip():
        return
    number = str(finding.line)
    start = finding.column - 1
    end = finding.end_column - 1 if finding.end_line == finding.line else len(text)
    end = max(start + 1, min(end, len(text)))
    indent = len(text) - len(text.lstrip())
    cut = min(indent, start)
    room = width - len(number) - 5
    if end - cut > room:
        cut = max(cut, start - room // 3)
    shown = "".join(
        character if character.isprintable() else " " for character in text[cut : cut + room]
    )
    caret = "^" * max(1, min(end, cut + room) - start)
    yield "  ", (f"{number} |", "dim"), f" {shown}"
    indent_of_caret = " " * (start - cut + 1)
    yield (
        f"  {' ' * len(number)} ",
        ("|", "dim"),
        indent_of_caret,
        (caret, COLORS[finding.severity]),
    )


def _wrapped(text: str, width: int, indent: str, rest: str | None = None) -> list[Row]:
    rows = textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [(row,) for row in rows]
