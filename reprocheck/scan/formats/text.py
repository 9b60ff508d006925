"""Render a result for the terminal: place, code, the line with a caret, message and fix."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence

from reprocheck.scan.finding import Finding, Result
from reprocheck.scan.formats import can_be_fixed, counted, sentence, summary

WIDTH = 80
COLORS = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
MOST_NAMED = 3
"""Files of one reason that are named."""

Part = str | tuple[str, str]
"""A text, or a text and its style, such as `bold red`."""
Row = tuple[Part, ...]


def render(result: Result, width: int = WIDTH) -> str:
    """Return all findings, the files left out, and the summary, wrapped at `width` columns."""
    return "".join(f"{''.join(map(_text, row))}\n" for row in rows(result, width))


def rows(result: Result, width: int = WIDTH) -> Iterator[Row]:
    """Yield the rows that `render` joins; a row is a sequence of texts with their styles."""
    for finding in result.findings:
        yield from _finding(finding, width)
        yield ()
    for said in left_out(result):
        yield from _wrapped(said, width, "")
    if result.unreadable or result.outside or result.unread:
        yield ()
    yield from _wrapped(summary(result), width, "")
    yield from _wrapped(can_be_fixed(result), width, "")
    yield from counts_beside(result, width)


def counts_beside(result: Result, width: int = WIDTH) -> Iterator[Row]:
    """Yield how many findings are not shown, due to ignore comments or the baseline."""
    if result.suppressed:
        yield (f"{len(result.suppressed):,} more answered by comments.",)
    if result.known:
        yield (f"{len(result.known):,} more known from the baseline.",)
    yield from _wrapped(gone(result), width, "")


def gone(result: Result) -> str:
    """Return how many findings of the baseline no longer occur, and where; empty for none."""
    number = sum(one.count for one in result.gone)
    if not number:
        return ""
    places = list(dict.fromkeys(f"{one.code} in {one.path}" for one in result.gone))
    named = _first_of(places, "more place")
    return (
        f"{counted(number, 'finding')} of the baseline not found any more ({named}):"
        " `--write-baseline` writes it anew."
    )


def _text(part: Part) -> str:
    if isinstance(part, str):
        return part
    text, _ = part
    return text


def left_out(result: Result) -> Iterator[str]:
    """Yield a sentence for each file left out or scanned in part, with the reason.

    Files that were scanned in part for the same reason share one sentence.
    """
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for one in result.unreadable:
        if one.partly:
            by_reason[one.said].append(one.path)
        elif one.line is None:
            yield f"{one.path}: {one.said}"
        else:
            yield f"{one.path}:{one.line}: {one.said}"
    for said, paths in by_reason.items():
        named = _first_of(paths, "more file", " (`--format json` names them)")
        yield f"{named}: {said}"
    yield from beyond(result)


def beyond(result: Result) -> Iterator[str]:
    """Yield how many imported files were read only for signatures, or not at all."""
    if result.outside:
        read = counted(result.outside, "file")
        yield f"Read for signatures and seeding only: {read} outside of what was asked."
    if result.unread:
        unread = counted(result.unread, "file")
        yield f"Not read, because what is imported is too much: {unread}."


def _first_of(names: Sequence[str], others: str, where: str = "") -> str:
    """Return the first names of a list, and the number of further ones.

    others  the noun for the further ones, as `more place`
    where   words to put after this number
    """
    named = ", ".join(names[:MOST_NAMED])
    rest = len(names) - MOST_NAMED
    if rest <= 0:
        return named
    return f"{named} and {counted(rest, others)}{where}"


def _finding(finding: Finding, width: int) -> Iterator[Row]:
    name = finding.name
    if finding.patchable:
        name += " [--fix]"
    place = (f"{finding.place}:", "bold")
    severity = (finding.severity, COLORS[finding.severity])
    yield place, " ", severity, " ", (finding.code, "cyan"), f" {name}"
    yield from _wrapped(sentence(finding), width, "  ")
    yield from _excerpt(finding, width)
    if finding.through and not finding.through[0].startswith(f"{finding.path}:"):
        through = " → ".join(finding.through)
        yield from _wrapped(f"reached through {through}", width, "  ", hanging=2)
    if finding.fix:
        yield from _wrapped(f"fix: {finding.fix}", width, "  ", hanging=5)


def _excerpt(finding: Finding, width: int) -> Iterator[Row]:
    """Yield the source line and a caret below the part of the finding; a long line is cut."""
    text = finding.text.rstrip()
    if not text.strip():
        return
    number = str(finding.line)
    start = finding.column - 1
    end = len(text)
    if finding.end_line == finding.line:
        end = finding.end_column - 1
    end = max(start + 1, min(end, len(text)))
    indent = len(text) - len(text.lstrip())
    cut = min(indent, start)
    room = width - len(number) - 5
    if end - cut > room:
        cut = max(cut, start - room // 3)
    shown = "".join(map(_printable, text[cut : cut + room]))
    caret = "^" * max(1, min(end, cut + room) - start)
    yield "  ", (f"{number} |", "dim"), f" {shown}"
    margin, before = " " * (len(number) + 3), " " * (start - cut + 1)
    yield margin, ("|", "dim"), before, (caret, COLORS[finding.severity])


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    return " "


def _wrapped(text: str, width: int, indent: str, *, hanging: int = 0) -> list[Row]:
    """Return the rows of a text that is wrapped at `width` columns.

    indent   text before each row
    hanging  how many more spaces to put before all rows but the first
    """
    rows = textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent + " " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [(row,) for row in rows]
