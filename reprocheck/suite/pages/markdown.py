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
    """Render summary.md."""
    changed = [target for target in report.targets if target.failed or target.word not in _CALM]
    rest = [target for target in report.targets if target not in changed]
    room = _Room(_FOR_TABLES)
    parts: list[str] = [
        md("## reprocheck suite: {}", words.headline(report)),
        "",
        md("**{}**", words.counts(report)),
        "",
        *(md("- {}: {}", name, fact) for name, fact in words.about(report.night)),
        md("- time of all checks: {}", seconds(report.seconds)),
        *([f"- {without}"] if (without := words.without_baseline(report)) else ()),
        "",
        *_table(changed, "changed", room),
    ]
    if rest:
        parts += folded(f"{len(rest):,} unchanged", _table(rest, "unchanged", room))
    room.add(LARGEST - _FOR_TABLES - 1000)
    sections = (Markdown(document(_section(target))) for target in report.failed)
    shown = list(_fitting(sections, room))
    parts += [*shown, *_left_out(len(report.failed) - len(shown), "targets that fail in detail")]
    parts.append(md("<sub>reprocheck {}</sub>", report.night.reprocheck_version))
    return document(parts).encode()


class _Room:
    """Track how many bytes may still be written."""

    def __init__(self, size: int) -> None:
        self.left = size

    def add(self, size: int) -> None:
        """Add `size` bytes to the room that is left."""
        self.left += size

    def takes(self, text: str) -> bool:
        """Return whether a text still fits; if so, subtract its size from the room that is left."""
        size = len(text.encode()) + 1
        if size > self.left:
            self.left = 0
            return False
        self.left -= size
        return True


def _table(targets: Sequence[TargetReport], what: str, room: _Room) -> Iterator[str]:
    """Yield the rows of a table, one per target, as many as there is room for."""
    if not targets:
        return
    yield row(("target", "state", "since", "what changed", "time"))
    yield Markdown("|---|---|---|---|--:|")
    rows = list(_fitting(map(_row_of, targets), room))
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


def _row_of(target: TargetReport) -> Markdown:
    state = md("**{}**", target.word) if target.failed else target.word
    return row(
        (target.name, state, words.since(target), words.sentence(target), words.duration(target))
    )


def _section(target: TargetReport) -> Iterator[str]:
    yield from (md("### {}: {}", target.name, target.word), "", words.sentence(target), "")
    yield from _facts(target)
    yield ""
    for why, command in words.commands(target):
        yield from (why, "", *block(command, "sh"), "")


def _facts(target: TargetReport) -> Iterator[str]:
    """Yield all that is known of a target, and the lines of the source that changed."""
    yield from (md("- {}: {}", name, said) for name, said in words.facts(target))
    if changed := words.diff(target):
        yield from ("", *block(changed, "diff"))


def issue(night: Night, target: TargetReport) -> bytes:
    """Return a text for an issue on one target, ready to be pasted; its first line is the title."""
    return document(_issue(night, target)).encode()


def _issue(night: Night, target: TargetReport) -> Iterator[str]:
    yield md("# {}: {} since night {}", target.name, target.word, words.since(target))
    if target.check is not None:
        known = {f"{name}.version": version for name, version in target.check.key.facts.items()}
        yield md(
            "{}", provenance.versions({**target.check.beside, **known}, night.reprocheck_version)
        )
    yield from ("", words.sentence(target), "", md("## What changed"), "")
    yield from _facts(target)
    yield from ("", md("## The night"), "")
    yield from (md("- {}: {}", name, said) for name, said in words.about(night))
    yield ""
    if target.check is not None and target.check.key.facts:
        # whether somebody else sees the same depends on these
        rows = map(row, {**target.check.key.facts, **target.check.beside}.items())
        yield from folded("Environment", [row(("fact", "value")), Markdown("|---|---|"), *rows])
    yield from (md("## How to reproduce"), "")
    for why, command in words.commands(target):
        yield from (why, "", *block(command, "sh"), "")
