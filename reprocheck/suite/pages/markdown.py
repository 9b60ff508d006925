"""summary.md: a night for the summary page of a job; the text of an issue for one target.

GitHub takes 1 MiB a step and drops what is larger, whole
(https://docs.github.com/actions/reference/workflow-commands-for-github-actions): the summary stays
below 900 KB, says less where it has to, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reprocheck.report import provenance
from reprocheck.report.markdown import Markdown, block, document, folded, md, row
from reprocheck.report.text import seconds
from reprocheck.suite.model import Night, NightReport, TargetReport
from reprocheck.suite.pages import words

LARGEST = 900_000
"""Bytes of the summary."""
_FOR_TABLES = 500_000
"""Bytes of the summary after which its tables end; the rest is for the details and the end."""
_CALM = ("unchanged",)
"""States that are listed in the fold at the end."""


def render(report: NightReport) -> bytes:
    """summary.md."""
    changed = [one for one in report.targets if one.failed or one.word not in _CALM]
    rest = [one for one in report.targets if one not in changed]
    room = _Room(_FOR_TABLES)
    parts = [*_head(report), *_table(changed, "changed", room), *_folded(rest, room)]
    room.add(LARGEST - _FOR_TABLES - 1000)
    parts.extend(_details(report.failed, room))
    parts.append(md("<sub>reprocheck {}</sub>", report.night.reprocheck_version))
    return document(parts).encode()


class _Room:
    """How many bytes may still be written."""

    def __init__(self, size: int) -> None:
        self.left = size

    def add(self, size: int) -> None:
        """Make more of it."""
        self.left += size

    def takes(self, text: str) -> bool:
        """Return whether a text still fits; takes its place where it does."""
        size = len(text.encode()) + 1
        if size > self.left:
            self.left = 0
            return False
        self.left -= size
        return True


def _head(report: NightReport) -> Iterator[str]:
    yield md("## reprocheck suite: {}", words.headline(report))
    yield from ("", md("**{}**", words.counts(report)), "")
    yield from (md("- {}: {}", name, said) for name, said in words.about(report.night))
    yield md("- time of all checks: {}", seconds(report.seconds))
    yield ""


def _table(targets: Sequence[TargetReport], what: str, room: _Room) -> Iterator[str]:
    """Yield a row a target, as many as there is room for."""
    if not targets:
        return
    yield row(("target", "state", "since", "what changed", "time"))
    yield Markdown("|---|---|---|---|--:|")
    rows = list(_fitting(map(_row, targets), room))
    yield from (*rows, "")
    yield from _left_out(len(targets) - len(rows), f"{what} targets")


def _fitting(texts: Iterable[Markdown], room: _Room) -> Iterator[Markdown]:
    for text in texts:
        if not room.takes(text):
            return
        yield text


def _left_out(number: int, what: str) -> Iterator[str]:
    if number:
        yield from (f"… and {number:,} more {what}, which did not fit; night.json has all.", "")


def _row(one: TargetReport) -> Markdown:
    state = md("**{}**", one.word) if one.failed else one.word
    return row((one.name, state, words.since(one), words.sentence(one), words.duration(one)))


def _folded(targets: Sequence[TargetReport], room: _Room) -> Iterator[str]:
    if not targets:
        return
    yield from folded(f"{len(targets):,} unchanged", _table(targets, "unchanged", room))


def _details(targets: Sequence[TargetReport], room: _Room) -> Iterator[str]:
    """Yield a section a target that fails, as many as there is room for."""
    texts = (Markdown(document(_section(one))) for one in targets)
    shown = list(_fitting(texts, room))
    yield from shown
    yield from _left_out(len(targets) - len(shown), "targets that fail in detail")


def _section(one: TargetReport) -> Iterator[str]:
    yield from (md("### {}: {}", one.name, one.word), "", words.sentence(one), "")
    yield from (md("- {}: {}", name, said) for name, said in words.facts(one))
    yield ""
    for why, command in words.commands(one):
        yield from (why, "", *block(command, "sh"), "")


def issue(night: Night, one: TargetReport) -> bytes:
    """Return a text for an issue on one target, ready to be pasted; its first line is the title."""
    return document(_issue(night, one)).encode()


def _issue(night: Night, one: TargetReport) -> Iterator[str]:
    yield md("# {}: {} since night {}", one.name, one.word, words.since(one))
    if one.check is not None:
        known = {f"{name}.version": version for name, version in one.check.key.facts.items()}
        yield md("{}", provenance.versions({**one.check.beside, **known}, night.reprocheck_version))
    yield from ("", words.sentence(one), "", md("## What changed"), "")
    yield from (md("- {}: {}", name, said) for name, said in words.facts(one))
    yield from ("", md("## The night"), "")
    yield from (md("- {}: {}", name, said) for name, said in words.about(night))
    yield from ("", *_environment(one), md("## How to reproduce"), "")
    for why, command in words.commands(one):
        yield from (why, "", *block(command, "sh"), "")


def _environment(one: TargetReport) -> Iterator[str]:
    """Yield the facts of the environment key, which decide whether somebody else sees the same."""
    if one.check is None or not one.check.key.facts:
        return
    rows = map(row, {**one.check.key.facts, **one.check.beside}.items())
    yield from folded("Environment", [row(("fact", "value")), Markdown("|---|---|"), *rows])
