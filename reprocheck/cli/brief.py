"""A check that does not simply pass, in a few lines: verdict, where, cause, line, fix.

All the rest stands behind `--verbose`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from reprocheck.cli.labels import INDENT
from reprocheck.cli.sentences import (
    PATCH_STYLES,
    STYLES,
    caveats_said,
    deciding,
    ended_badly,
    environment_said,
    nothing_recorded,
    shown_loss,
    state_said,
    tail,
    tail_title,
)
from reprocheck.cli.terminal import padded
from reprocheck.language import count, joined, mark, tr
from reprocheck.report import compared, controls, diffs, repair, series, text, why, words

if TYPE_CHECKING:
    from rich.text import Text

    from reprocheck.cli.console import Console
    from reprocheck.cli.terminal import Stream
    from reprocheck.model import Cause, Check, Run
    from reprocheck.report.repair import Repair

MOST = 25
"""Lines of a whole check on the terminal."""
BELOW = 4
"""Lines that follow at most: the report's place, and the next command with its reason."""
REPLAY = 1
"""A further line where the report has a `replay.py`."""
LEAST = 3
"""Lines that a fix, or the end of a log, has in any case."""
ROWS: Mapping[str, int] = MappingProxyType(
    {
        "proof": 2,
        "evidence": 2,
        "reason": 2,
        "lead": 3,
        "cause": 2,
        "between": 2,
        "losses": 2,
        "caveat": 1,
        "state left": 1,
        "conflict": 1,
    }
)
"""Rows that each part has in any case.

Those that are left go to the parts in this order, as many as each needs.
"""
LONGER_REASON = 2
"""Rows that the reason has besides where nothing else says where the runs diverge."""
SAID = 3
"""Rows of what is known of a patch."""
COVERAGE = 3
"""Rows of each sentence on what was recorded."""
LABEL = 11
SHORTEST_CODE = 10
"""Columns that are left behind a path, in which the beginning of a line of code says something."""
MOST_CODES = 4
"""Further causes that are named."""


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """Rows that can be cut.

    name  by which `ROWS` knows it; a part that is not there is never longer than `least`
    draw  its rows, as many as are given at most; all of them for None
    """

    name: str
    least: int
    draw: Callable[[int | None], list[Text]]

    @property
    def needed(self) -> int:
        """How many rows it has where nothing is cut."""
        if self.name not in ROWS:
            return self.least
        return len(self.draw(None))


def shown(check: Check, console: Console) -> bool:
    """Whether a check is told in this form: where there is more to say than that the runs agree,
    unless all of it is asked for.
    """
    return not check.verdict.plainly_passes and not console.verbose


def print_brief(check: Check, console: Console) -> None:
    """Prints the verdict and what follows from it, in as many lines as are left of `MOST`."""
    out = console.out
    on_one_screen = out.tty and console.err.tty
    title = [_styled(row, STYLES[check.verdict.tone]) for row in out.wrapped(check.verdict.title)]
    headline = list(_headline(check, out))
    found = list(_found(check, out))
    aside = list(_aside(check, out))
    parts = [*headline, *found, *aside]
    below = BELOW
    if why.replayed(check):
        below += REPLAY
    taken = below + len(title) + 1 + sum(len(part.draw(part.least)) for part in parts)
    if on_one_screen:
        taken += 1 + console.rows
        out.line()
    answer = _answer(check, out, max(LEAST, MOST - taken))
    rows_of = _allotted(parts, MOST - taken - len(answer))

    def drawn(some: Sequence[Part]) -> list[Text]:
        return [row for part in some for row in part.draw(rows_of[part])]

    empty = out.text("")
    for row in (*title, *drawn(headline), empty, *drawn(found), *answer, *drawn(aside)):
        out.line(row)


def _allotted(parts: Sequence[Part], spare: int) -> dict[Part, int]:
    """How many rows each part gets where `spare` more than the least may be taken."""
    rows = {part: part.least for part in parts}
    order = list(ROWS)
    growing = [part for part in parts if part.name in ROWS]
    for part in sorted(growing, key=lambda part: order.index(part.name)):
        more = min(max(0, spare), max(0, part.needed - part.least))
        rows[part] += more
        spare -= more
    return rows


# -------------------------------------------------------------------------------------- the verdict


def _headline(check: Check, out: Stream) -> Iterator[Part]:
    """The sentences that say most about the verdict."""
    lead = why.lead(check)
    if lead:
        yield _paragraph(out, "lead", lead, "bold")
    if check.between:
        yield _paragraph(out, "between", text.line(check.between.sentence))
    reason = text.line(check.verdict.reason)
    if not lead:
        yield _paragraph(out, "reason", reason, more=LONGER_REASON)
    elif check.verdict.verdict != "not_reproducible":
        yield _paragraph(out, "reason", reason)


def _found(check: Check, out: Stream) -> Iterator[Part]:
    """The losses, the first rung that differs, the proof, and the best cause with its line."""
    for name, what in compared.sides(check):
        yield _row(out, name, what)
    for title, facts, _ in compared.drift(check)[:2]:
        yield _row(out, title, facts)
    losses = _losses(check)
    if losses:
        yield _labelled(out, "losses", losses)
    if check.verdict.differing_series:
        yield _labelled(out, "series", joined(tr(": "), series.summary(check)))
    where = _where(check)
    if where:
        yield _row(out, "where", where)
    if check.search is not None:
        label = mark("search")
        if check.search.smallest or check.search.patch:
            label = mark("proof")
        yield _labelled(out, label, text.line(check.search.sentence), "bold", name="proof")
    for cause in check.causes[:1]:
        yield from _cause(cause, out, with_evidence=check.search is None)


def _losses(check: Check) -> str:
    """Of the check that decides: both losses, how far they are apart and may be."""
    row = next((one for one in deciding(check.verdict.comparisons) if one.passed is False), None)
    if row is None:
        return _later_losses(check)
    where = tr("iteration {iteration:,}", iteration=row.iteration)
    if words.rank_count(check) > 1:
        where += tr(" of rank {rank}", rank=row.rank)
    losses = f"{shown_loss(row.reference)}, {shown_loss(row.value)}"
    if len(check.runs) > 2:
        losses += tr(" (run {number})", number=row.run)
    return tr(
        "{where}: {losses}; {difference} apart, {allowed} allowed{bits}",
        where=where,
        losses=losses,
        difference=text.number(row.max_difference),
        allowed=text.number(row.allowed),
        bits=_bits(check, row.iteration),
    )


def _later_losses(check: Check) -> str:
    """Both losses at the first divergence, where the checks themselves pass."""
    later = check.verdict.first_divergence
    if later is None or later.reference is None or later.value is None:
        return ""
    return tr(
        "iteration {iteration:,}: {losses}",
        iteration=later.iteration,
        losses=f"{shown_loss(later.reference)}, {shown_loss(later.value)}",
    )


def _bits(check: Check, iteration: int) -> str:
    """Where the losses differ at all, if that is before `iteration`."""
    first = check.verdict.bitwise.first_iteration
    if first is None or first >= iteration:
        return ""
    return tr("; bits differ from iteration {iteration:,} on", iteration=first)


def _where(check: Check) -> str:
    """`batch: DataLoader[0] (loader), iteration 1, gross`."""
    rung = why.leading(check)
    if rung is None:
        return ""
    return text.joined(tr(": "), tr(rung.rung), why.where(rung))


def _cause(cause: Cause, out: Stream, *, with_evidence: bool) -> Iterator[Part]:
    yield _labelled(out, "cause", why.cause_title(cause), "bold")
    if with_evidence and cause.evidence and text.line(cause.evidence[0]):
        yield _labelled(out, "", text.line(cause.evidence[0]), name="evidence")
    if cause.source:
        room = _room(out)
        place = out.cut_head(why.origin(cause.source), room)
        if room - len(place) > SHORTEST_CODE:
            place = text.joined("  ", place, text.line(cause.source.text))
        yield _row(out, "line", place)


# --------------------------------------------------------------------------------------- what to do


def _answer(check: Check, out: Stream, room: int) -> list[Text]:
    """The fix; the end of the log of a run that did not end well; what is known where nothing was
    recorded.
    """
    bad = ended_badly(check)
    if bad is not None:
        return _log(bad, out, room)
    found = repair.best(check)
    if found is not None:
        return _fix(found, out, room)
    if not nothing_recorded(check):
        return []
    said = [row for sentence in check.coverage for row in _rows(out, "", sentence, COVERAGE)]
    return _within(said, room, out)


def _fix(found: Repair, out: Stream, room: int) -> list[Text]:
    if found.kind == "words":
        return _rows(out, "fix", found.text, room)
    look = _LOOKS[found.kind == "patch"]
    said = _rows(out, look.label, found.said, SAID)
    room = max(1, room - len(said))
    code = [
        out.text(f"    {line}".rstrip(), look.styles.get(line[:1], look.style))
        for line in _most_telling(found, room)
    ]
    return [*said, *_within(code, room, out)]


@dataclass(frozen=True, slots=True)
class _Look:
    """How a fix is drawn: its label, the styles of rows by their first character, the style of
    all others.
    """

    label: str
    styles: Mapping[str, str]
    style: str


_LOOKS = {
    True: _Look(mark("patch"), PATCH_STYLES, ""),
    False: _Look(mark("fix"), {}, "cyan"),
}
"""Whether the fix is a patch -> how it is drawn."""


def _most_telling(found: Repair, room: int) -> list[str]:
    """The lines of a fix; where they do not fit, those that are changed, and none that is empty."""
    lines = found.text.split("\n")
    if len(lines) <= room:
        return lines
    if found.kind != "patch":
        return list(filter(None, lines))
    changes = list(_changes(found.text))
    if len(changes) <= room:
        return changes
    return [line for line in changes if line.startswith(("+", "-")) and line != "+"]


def _changes(patch: str) -> Iterator[str]:
    """Yield the changed lines of a patch, each block of them below its place: `train.py:8`."""
    is_new_block = True
    for one in diffs.lines(patch):
        if one.sign == " ":
            is_new_block = True
            continue
        if is_new_block:
            yield f"{one.file}:{one.before}"
        yield f"{one.sign}{one.text}"
        is_new_block = False


def _within(rows: list[Text], room: int, out: Stream) -> list[Text]:
    """The first rows, and how many are left out."""
    if len(rows) <= room:
        return rows
    hidden = len(rows) - room + 1
    return [*rows[: room - 1], out.text(tr("    … {number} more lines (-v)", number=hidden), "dim")]


def _log(run: Run, out: Stream, room: int) -> list[Text]:
    """The end of the log of a run that failed or was ended."""
    head = out.wrapped(tail_title(run), INDENT, 1)
    rows = tail(run, out.width - 6)[-(room - 1) :]
    return [*head, *(out.joined("  ", ("│ ", "dim"), row) for row in rows)]


# ------------------------------------------------------------------------------------ and what else


def _aside(check: Check, out: Stream) -> Iterator[Part]:
    """What limits the verdict, the first sentence of each: controls that were on, state of run 1,
    the environment, caveats. Then what is not printed.
    """
    on = check.record.controls
    conflicts = controls.conflicts(check)
    told: dict[str, list[str]] = {
        mark("conflict"): [controls.conflict_sentence(one) for one in conflicts],
        mark("state left"): [state_said(check)],
        mark("environment"): environment_said(check),
        mark("caveat"): caveats_said(check),
    }
    if on:
        told = {mark("controls"): [controls.names(on)], **told}
    for label, sentences in told.items():
        if any(sentences):
            yield _labelled(out, label, text.line(sentences[0]), end=_and_more(sentences[1:]))
    hidden = _hidden(check)
    if hidden:
        yield _labelled(out, "more", tr("-v prints {parts}", parts=hidden))


def _and_more(others: Sequence[str]) -> str:
    if not others:
        return ""
    return tr(" (and {number} more)", number=len(others))


def _hidden(check: Check) -> str:
    """What `--verbose` adds."""
    parts: dict[str, object] = {
        _other_causes(check): check.causes[1:],
        tr("the ladder"): check.ladder,
        tr("what was tried"): check.search,
        tr("what the scan finds"): check.scan is not None and check.scan.findings,
        tr("both checks"): check.verdict.comparisons,
    }
    return joined(tr(", "), (part for part, there in parts.items() if there))


def _other_causes(check: Check) -> str:
    codes = [cause.code for cause in check.causes[1:]]
    named = codes[:MOST_CODES]
    if len(codes) > MOST_CODES:
        named.append("…")
    return tr("{number} ({codes})", number=count(len(codes), "more cause"), codes=", ".join(named))


# --------------------------------------------------------------------------------------------- rows


def _paragraph(out: Stream, name: str, said: str, style: str = "", more: int = 0) -> Part:
    """A text without a label."""

    def draw(most: int | None) -> list[Text]:
        return [_styled(row, style) for row in out.wrapped(said, INDENT, most)]

    return Part(name, ROWS[name] + more, draw)


def _labelled(
    out: Stream, label: str, said: str, style: str = "dim", *, name: str = "", end: str = ""
) -> Part:
    """A text beside a label, which is its name unless that is given."""
    name = name or label
    return Part(name, ROWS.get(name, 1), lambda most: _rows(out, label, said, most, style, end))


def _row(out: Stream, label: str, said: str) -> Part:
    """One row, cut to the width."""
    label, said = out.cut(tr(label), LABEL), out.cut(said, _room(out))
    row = out.joined("  ", (padded(label, LABEL), "dim"), "  ", said)
    row.rstrip()
    return Part("", 1, lambda _: [row])


def _rows(
    out: Stream, label: str, said: str, most: int | None, style: str = "dim", end: str = ""
) -> list[Text]:
    rows = out.labelled_rows(
        tr(label), said, style, indent=INDENT, label_width=LABEL, most=most, end=end
    )
    for row in rows:
        row.rstrip()
    return rows


def _room(out: Stream) -> int:
    """The columns of a row behind its label."""
    return out.width - 1 - LABEL - 4


def _styled(row: Text, style: str) -> Text:
    row.stylize(style)
    return row
