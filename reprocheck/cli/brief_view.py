"""A check that does not simply pass, in a few lines: verdict, where, cause, line, fix.

All the rest stands behind `--verbose`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from reprocheck.report import (
    causes,
    compared,
    controls,
    diffs,
    ladder,
    seeds,
    series,
    text,
    variations,
    words,
)

if TYPE_CHECKING:
    from rich.text import Text

    from reprocheck.cli.console import Console
    from reprocheck.cli.terminal import Stream
    from reprocheck.model import Cause, Check, Run
    from reprocheck.report.blocks import Repair

MOST = 25
"""Lines of a check on the terminal that a fix, or the end of a log, leaves room for. Sentences are
never cut.
"""
BELOW = 4
"""Lines that follow at most: the report's place, and the next command with its reason."""
REPLAY = 1
"""A further line where the report has a `replay.py`."""
LEAST = 3
"""Lines that a fix, or the end of a log, has in any case."""
LABEL = 11
SHORTEST_CODE = 10
"""Columns that are left behind a path, in which the beginning of a line of code says something."""
MOST_CODES = 4
"""Further causes that are named."""


def shown(check: Check, console: Console) -> bool:
    """Return whether to print the brief form.

    That is so if the runs do not simply agree, and `--verbose` is not set.
    """
    return not check.verdict.plainly_passes and not console.verbose


def print_brief(check: Check, console: Console) -> None:
    """Print the verdict and what follows from it, in as many lines as are left of `MOST`."""
    out = console.out
    on_one_screen = out.tty and console.err.tty
    title = [_styled(row, STYLES[check.verdict.tone]) for row in out.wrapped(check.verdict.title)]
    headline = list(_headline(check, out))
    found = list(_found(check, out))
    aside = list(_aside(check, out))
    below = BELOW
    if ladder.replayed(check):
        below += REPLAY
    others = list(_other_confirmed(check, out))
    taken = below + len(title) + 1 + sum(map(len, (headline, found, others, aside)))
    if on_one_screen:
        taken += 1 + console.rows
        out.line()
    answer = _answer(check, out, max(LEAST, MOST - taken))
    told = (*answer, *others)
    if check.search is not None and check.search.patch:
        told = (*others, *answer)  # one patch for all of them
    for row in (*title, *headline, out.text(""), *found, *told, *aside):
        out.line(row)


def _headline(check: Check, out: Stream) -> Iterator[Text]:
    """Yield the sentences that say most about the verdict."""
    lead = ladder.lead(check)
    if lead:
        yield from _paragraph(out, lead, "bold")
    if check.between:
        yield from _paragraph(out, text.line(check.between.sentence))
    reason = text.line(check.verdict.reason)
    if not lead or check.verdict.verdict != "not_reproducible":
        yield from _paragraph(out, reason)


def _found(check: Check, out: Stream) -> Iterator[Text]:
    """Yield the losses, the first differing rung, the proof, and the best cause with its line."""
    for name, what in compared.sides(check):
        yield from _rows(out, name, what)
    for title, facts, _ in compared.drift(check)[:2]:
        yield from _rows(out, title, facts)
    for label, sentence in (*variations.facts(check), *seeds.facts(check)):
        yield from _rows(out, label, sentence, "bold" if label == "proof" else "dim")
    losses = _losses(check)
    if losses:
        yield from _rows(out, "losses", losses)
    if check.verdict.differing_series:
        yield from _rows(out, "series", joined(": ", series.summary(check)))
    where = _where(check)
    if where:
        yield from _rows(out, "where", where)
    if check.search is not None:
        label = mark("search")
        if check.search.smallest or check.search.fixes:
            label = mark("proof")
        yield from _rows(out, label, text.line(check.search.sentence), "bold")
    for cause in check.causes[:1]:
        first = check.leading.detail if check.leading else ""
        is_said = check.search is not None or cause.evidence[:1] == (first,)
        yield from _cause(cause, out, with_evidence=not is_said)


def _losses(check: Check) -> str:
    """Return both losses at the deciding check, their distance, and the tolerance.

    The deciding check is the forward or the backward check.
    """
    row = next((one for one in deciding(check.verdict.comparisons) if one.passed is False), None)
    if row is None:
        return _later_losses(check)
    where = f"iteration {row.iteration:,}"
    if words.rank_count(check) > 1:
        where += f" of rank {row.rank}"
    losses = f"{shown_loss(row.reference)}, {shown_loss(row.value)}"
    if len(check.runs) > 2:
        losses += f" (run {row.run})"
    return (
        f"{where}: {losses}; {text.number(row.max_difference)} apart, {text.number(row.allowed)}"
        f" allowed{_bits(check, row.iteration)}"
    )


def _later_losses(check: Check) -> str:
    """Return both losses at the first divergence, if the forward and backward checks pass."""
    later = check.verdict.first_divergence
    if later is None or later.reference is None or later.value is None:
        return ""
    losses = f"{shown_loss(later.reference)}, {shown_loss(later.value)}"
    return f"iteration {later.iteration:,}: {losses}"


def _bits(check: Check, iteration: int) -> str:
    """Return where the losses first differ bitwise, if that is before `iteration`."""
    first = check.verdict.bitwise.first_iteration
    if first is None or first >= iteration:
        return ""
    return f"; bits differ from iteration {first:,} on"


def _where(check: Check) -> str:
    """Format the place of the first difference: `batch: DataLoader[0] (loader), iteration 1`."""
    rung = check.leading
    if rung is None:
        return ""
    return text.joined(": ", tr(rung.rung), ladder.where(rung))


def _cause(cause: Cause, out: Stream, *, with_evidence: bool) -> Iterator[Text]:
    yield from _rows(out, "cause", causes.cause_title(cause), "bold")
    if with_evidence and cause.evidence and text.line(cause.evidence[0]):
        yield from _rows(out, "", text.line(cause.evidence[0]))
    if cause.source:
        room = _room(out)
        place = out.cut_head(text.origin(cause.source), room)
        if room - len(place) > SHORTEST_CODE:
            place = text.joined("  ", place, text.line(cause.source.text))
        yield _row(out, "line", place)


def _answer(check: Check, out: Stream, room: int) -> list[Text]:
    """Return the fix, else what is known.

    For a run that failed, that is the end of its log.
    """
    bad = ended_badly(check)
    if bad is not None:
        return _log(bad, out, room)
    found = causes.best(check)
    if found is not None:
        return _fix(found, out, room)
    if not nothing_recorded(check):
        return []
    said = [row for sentence in check.coverage for row in _rows(out, "", sentence)]
    return _within(said, room, out)


def _fix(found: Repair, out: Stream, room: int) -> list[Text]:
    if found.kind == "words":
        return _rows(out, "fix", found.text)
    label, styles, style = _LOOKS[found.kind == "patch"]
    said = _rows(out, label, found.said)
    room = max(1, room - len(said))
    code = [
        out.text(f"    {line}".rstrip(), styles.get(line[:1], style))
        for line in _most_telling(found, room)
    ]
    return [*said, *_within(code, room, out)]


def _other_confirmed(check: Check, out: Stream) -> Iterator[Text]:
    """Yield the confirmed causes after the first, each with its line and fix; all are shown."""
    for cause in check.causes[1:]:
        if cause.confidence != "confirmed":
            continue
        yield from _cause(cause, out, with_evidence=False)
        fix = causes.of(check, cause)
        if fix is not None:
            yield from _fix(fix, out, LEAST)


_LOOKS: Mapping[bool, tuple[str, Mapping[str, str], str]] = {
    True: (mark("patch"), PATCH_STYLES, ""),
    False: (mark("fix"), {}, "cyan"),
}
"""Whether the fix is a patch -> its label, the styles of rows by their first character, the style
of all others.
"""


def _most_telling(found: Repair, room: int) -> list[str]:
    """Return the lines of a fix; if they do not fit, only changed lines without empty ones."""
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
    """Yield the changed lines of a patch, each block below its place: `train.py:8`."""
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
    """Return the first rows that fit into `room` rows, and a note of how many are left out."""
    if len(rows) <= room:
        return rows
    hidden = len(rows) - room + 1
    return [*rows[: room - 1], out.text(f"    … {hidden} more lines (-v)", "dim")]


def _log(run: Run, out: Stream, room: int) -> list[Text]:
    """Return the end of the log of a run that failed or was ended."""
    head = out.wrapped(tail_title(run), INDENT)
    rows = tail(run, out.width - 6)[-(room - 1) :]
    return [*head, *(out.joined("  ", ("│ ", "dim"), row) for row in rows)]


def _aside(check: Check, out: Stream) -> Iterator[Text]:
    """Yield one row for each thing that limits the verdict, then one for what is not printed.

    Controls that were on, state left by run 1, the environment, and caveats limit it.
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
            yield from _rows(out, label, text.line(sentences[0]) + _and_more(sentences[1:]))
    if any((check.causes[1:], check.ladder, check.search, check.verdict.comparisons)):
        yield from _rows(out, "more", text.joined("; ", _other_causes(check), "-v prints all"))


def _and_more(others: Sequence[str]) -> str:
    if not others:
        return ""
    return f" (and {len(others)} more)"


def _other_causes(check: Check) -> str:
    """Format the codes of causes that are not printed; "" if there are none."""
    codes = [cause.code for cause in check.causes[1:] if cause.confidence != "confirmed"]
    if not codes:
        return ""
    named = codes[:MOST_CODES]
    if len(codes) > MOST_CODES:
        named.append("…")
    causes = count(len(codes), "more cause")
    return f"{causes} ({', '.join(named)})"


def _paragraph(out: Stream, said: str, style: str = "") -> Iterator[Text]:
    """Return the rows of a text without a label."""
    return (_styled(row, style) for row in out.wrapped(said, INDENT))


def _row(out: Stream, label: str, said: str) -> Text:
    """Return one row with a label, cut to the width of the stream."""
    label, said = out.cut(tr(label), LABEL), out.cut(said, _room(out))
    row = out.joined("  ", (padded(label, LABEL), "dim"), "  ", said)
    row.rstrip()
    return row


def _rows(out: Stream, label: str, said: str, style: str = "dim") -> list[Text]:
    """Return the rows of a text beside a label."""
    rows = out.labelled_rows(tr(label), said, style, indent=INDENT, label_width=LABEL)
    for row in rows:
        row.rstrip()
    return rows


def _room(out: Stream) -> int:
    """Return how many columns a row has after its label."""
    return out.width - 1 - LABEL - 4


def _styled(row: Text, style: str) -> Text:
    row.stylize(style)
    return row
