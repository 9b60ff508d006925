"""For the terminal: place, code, the line with a caret, what is wrong and what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator

from reprocheck.scan.finding import Finding, Result, Unreadable
from reprocheck.scan.formats import counted, mended, sentence, summary

WIDTH = 80
COLORS = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
MOST_NAMED = 3
"""Files of one reason that are named."""

Style = Callable[[str, str], str]
"""Puts a text into a style such as `bold red`."""


def render(result: Result, *, style: Style = lambda text, style: text, width: int = WIDTH) -> str:
    """All findings, files that were left out, and a sentence that counts them."""
    rows: list[str] = []
    for finding in result.findings:
        rows += [*_finding(finding, style, width), ""]
    for said in left_out(result):
        rows += _wrapped(said, width, "")
    if result.unreadable:
        rows.append("")
    rows += _wrapped(summary(result), width, "")
    if text := mended(result):
        rows += _wrapped(text, width, "")
    if result.suppressed:
        rows.append(f"{len(result.suppressed)} more answered by comments.")
    return "\n".join(rows) + "\n"


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


def _finding(finding: Finding, style: Style, width: int) -> Iterator[str]:
    fixable = " [--fix]" if finding.patchable else ""
    place = f"{finding.place}:"
    severity = style(finding.severity, COLORS[finding.severity])
    yield f"{style(place, 'bold')} {severity} {style(finding.code, 'cyan')} {finding.name}{fixable}"
    yield from _wrapped(sentence(finding), width, "  ")
    yield from _excerpt(finding, style, width)
    if finding.through and not finding.through[0].startswith(f"{finding.path}:"):
        yield from _wrapped(f"reached through {' → '.join(finding.through)}", width, "  ", "    ")
    if finding.fix:
        yield from _wrapped(f"fix: {finding.fix}", width, "  ", "       ")


def _excerpt(finding: Finding, style: Style, width: int) -> Iterator[str]:
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
    yield f"  {style(f'{number} |', 'dim')} {shown}"
    yield (
        f"  {' ' * len(number)} {style('|', 'dim')}"
        f" {' ' * (start - cut)}{style(caret, COLORS[finding.severity])}"
    )


def _wrapped(text: str, width: int, indent: str, rest: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
