"""A check that does not simply pass, in a few lines: verdict, where, cause, line, fix.

All the rest stands behind `--verbose`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reprocheck.cli.console import Console
    from reprocheck.cli.terminal import Stream
    from reprocheck.model import Cause, Check, Run
    from reprocheck.report.repair import Repair

MOST = 25
"""Lines of a whole check on the terminal."""
BELOW = 4
"""Lines that follow at most: the report's place, and the next command with its reason."""
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
SAID = 3
"""Rows of what is known of a patch."""
LABEL = 11
SHORTEST_CODE = 10
"""Columns that are left behind a path, in which the beginning of a line of code says something."""
TAIL_CHARACTERS = 2000


def shown(check: Check, console: Console) -> bool:
    """Whether a check is told in this form: where there is more to say than that the runs agree,
    unless all of it is asked for.
    """
    verdict = check.verdict
    plain = (
        verdict.verdict == "reproducible"
        and verdict.exit_code == 0
        and verdict.first_divergence is None
    )
    return not plain and not console.verbose


def print_brief(check: Check, console: Console) -> None:
    """Prints the verdict and what follows from it, in as many lines as are left of `MOST`."""
    out = console.out
    on_one_screen = out.tty and console.err.tty
    outside = BELOW + (1 + console.rows if on_one_screen else 0)
    above, below = _around(check, out, ROWS)
    left = MOST - outside - len(above) - len(below)
    answer = _answer(check, out, max(LEAST, left))
    above, below = _around(check, out, _widened(check, out, left - len(answer)))
    for row in (*([""] if on_one_screen else []), *above, *answer, *below):
        out.line(row)


def _around(check: Check, out: Stream, rows: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """What stands above the fix and below it; `rows`: how many each part has at most."""
    return [*_headline(check, out, rows), "", *_found(check, out, rows)], [
        *_aside(check, out, rows),
        *_hidden(check, out),
    ]


def _widened(check: Check, out: Stream, spare: int) -> Mapping[str, int]:
    """The rows of each part where `spare` more rows than in `ROWS` may be taken."""

    def taken(rows: Mapping[str, int]) -> int:
        return sum(map(len, _around(check, out, rows)))

    rows, now = ROWS, taken(ROWS)
    most = now + spare
    for part in ROWS:
        while now < most and taken(wider := {**rows, part: rows[part] + 1}) > now:
            rows, now = wider, now + 1
    return rows


# -------------------------------------------------------------------------------------- the verdict


def _headline(check: Check, out: Stream, rows: Mapping[str, int]) -> Iterator[str]:
    """The verdict, and the sentence that says most about it."""
    from reprocheck.cli.summary import STYLES
    from reprocheck.report import text, why

    for row in out.wrapped(check.verdict.title, 0):
        yield out.style(row, STYLES[check.verdict.verdict])
    lead = why.lead(check)
    between = text.line(check.between.sentence) if check.between else ""
    reason = text.line(check.verdict.reason)
    if lead:
        yield from (out.style(row, "bold") for row in out.wrapped(lead, 2, rows["lead"]))
    if between:
        yield from out.wrapped(between, 2, rows["between"])
    if not lead or check.verdict.verdict != "not_reproducible":
        yield from out.wrapped(reason, 2, rows["reason"] if lead else rows["reason"] + 2)


def _found(check: Check, out: Stream, rows: Mapping[str, int]) -> Iterator[str]:
    """The losses, the first rung that differs, the proof, and the best cause with its line."""
    from reprocheck.report import compared, text

    for name, what in compared.sides(check):
        yield _row(out, name, what)
    for title, facts, _ in compared.drift(check)[:2]:
        yield _row(out, title, facts)
    if said := _losses(check):
        yield from _rows(out, "losses", said, rows["losses"])
    if said := _where(check):
        yield _row(out, "where", said)
    if check.search is not None:
        proved = check.search.smallest or check.search.patch
        yield from _rows(
            out,
            "proof" if proved else "search",
            text.line(check.search.sentence),
            rows["proof"],
            "bold",
        )
    for cause in check.causes[:1]:
        yield from _cause(cause, out, rows, with_evidence=check.search is None)


def _losses(check: Check) -> str:
    """Of the check that decides: both losses, how far they are apart and may be."""
    from reprocheck.cli.summary import deciding, shown_loss
    from reprocheck.report import text, words

    row = next((one for one in deciding(check.verdict.comparisons) if one.passed is False), None)
    if row is None:
        later = check.verdict.first_divergence
        if later is None or later.reference is None or later.value is None:
            return ""
        return (
            f"iteration {later.iteration:,}: {shown_loss(later.reference)},"
            f" {shown_loss(later.value)}"
        )
    place = f" of rank {row.rank}" if words.rank_count(check) > 1 else ""
    other = f" (run {row.run})" if len(check.runs) > 2 else ""
    said = (
        f"iteration {row.iteration:,}{place}: {shown_loss(row.reference)},"
        f" {shown_loss(row.value)}{other}"
    )
    return (
        f"{said}; {text.number(row.max_difference)} apart, {text.number(row.allowed)}"
        f" allowed{_bits(check, row.iteration)}"
    )


def _bits(check: Check, iteration: int) -> str:
    """Where the losses differ at all, if that is before `iteration`."""
    first = check.verdict.bitwise.first_iteration
    return (
        f"; bits differ from iteration {first:,} on"
        if first is not None and first < iteration
        else ""
    )


def _where(check: Check) -> str:
    """`batch: DataLoader[0] (loader), iteration 1, gross`."""
    from reprocheck.report import why

    rung = why.leading(check)
    if rung is None:
        return ""
    place = why.where(rung)
    return f"{rung.rung}: {place}" if place else rung.rung


def _cause(
    cause: Cause, out: Stream, rows: Mapping[str, int], *, with_evidence: bool
) -> Iterator[str]:
    from reprocheck.report import text, why

    yield from _rows(out, "cause", why.cause_title(cause), rows["cause"], "bold")
    evidence = " ".join(map(text.line, cause.evidence[:1] if with_evidence else ()))
    if evidence:
        yield from _rows(out, "", evidence, rows["evidence"])
    if cause.source:
        place = out.cut_head(why.origin(cause.source), _room(out))
        room = _room(out) - len(place)
        code = (
            f"  {text.line(cause.source.text)}"
            if cause.source.text and room > SHORTEST_CODE
            else ""
        )
        yield _row(out, "line", place + code)


# --------------------------------------------------------------------------------------- what to do


def _answer(check: Check, out: Stream, room: int) -> list[str]:
    """The fix; the end of the log of a run that did not end well; what is known where nothing was
    recorded.
    """
    from reprocheck.report import repair

    if check.verdict.verdict in ("script_failed", "timed_out"):
        return _log(check, out, room)
    found = repair.best(check)
    if found is not None:
        return _fix(found, out, room)
    silent = not check.verdict.comparisons or any(not run.traces for run in check.runs)
    return (
        _within([row for text in check.coverage for row in _rows(out, "", text, 3)], room, out)
        if silent
        else []
    )


def _fix(found: Repair, out: Stream, room: int) -> list[str]:
    if found.kind == "words":
        return _rows(out, "fix", found.text, room)
    lines = found.text.split("\n")
    said = [
        row.rstrip()
        for row in _rows(out, "patch" if found.kind == "patch" else "fix", found.said, SAID)
    ]
    room -= len(said)
    if found.kind == "patch" and len(lines) > room:
        lines = [line for line in lines if line[:1] in ("+", "-") and not line.startswith("+++")]
    if len(lines) > room:
        lines = [line for line in lines if line and not line.startswith("--- ")]
    styles = {"+": "green", "-": "red"} if found.kind == "patch" else {}
    style = "" if found.kind == "patch" else "cyan"
    code = [
        f"    {out.style(out.fit(line), styles.get(line[:1], style))}".rstrip() for line in lines
    ]
    return [*said, *_within(code, max(1, room), out)]


def _within(rows: list[str], room: int, out: Stream) -> list[str]:
    """The first rows, and how many are left out."""
    if len(rows) <= room:
        return rows
    return [
        *rows[: room - 1],
        out.style(out.fit(f"    … {len(rows) - room + 1} more lines (-v)"), "dim"),
    ]


def _log(check: Check, out: Stream, room: int) -> list[str]:
    """The end of the log of the first run that failed or was ended."""
    from reprocheck.report import words

    bad: Run | None = next(
        (run for run in check.runs if run.record.ended in ("failed", "timed_out")), None
    )
    if bad is None:
        return []
    from reprocheck.cli.summary import tail

    head = out.wrapped(f"Run {bad.number} {words.ending(bad)}. The end of its log:", 2, 1)
    rows = tail(bad, out.width - 6)[-(room - 1) :]
    return [*head, *("  " + out.style(out.fit("│ "), "dim") + row for row in rows)]


# ------------------------------------------------------------------------------------ and what else


def _aside(check: Check, out: Stream, rows: Mapping[str, int]) -> Iterator[str]:
    """What limits the verdict, the first sentence of each: controls that were on, state of run 1,
    the environment, caveats.
    """
    from reprocheck.cli.summary import environment_said, state_said
    from reprocheck.report import controls, text, words

    caveats = [one for one in words.caveats(check) if one != check.state_caveat]
    told = (
        ("controls", [controls.names(check.record.controls)] if check.record.controls else []),
        ("conflict", [controls.conflict_sentence(one) for one in controls.conflicts(check)]),
        ("state left", [state_said(check)] if check.state_left else []),
        ("environment", environment_said(check)),
        ("caveat", caveats),
    )
    for label, sentences in told:
        if sentences:
            more = f" (and {len(sentences) - 1} more)" if len(sentences) > 1 else ""
            yield from _rows(out, label, text.line(sentences[0]), rows.get(label, 1), end=more)


def _hidden(check: Check, out: Stream) -> Iterator[str]:
    """What `--verbose` adds."""
    from reprocheck.report import text

    others = [cause.code for cause in check.causes[1:]]
    named = ", ".join(others[:4]) + (", …" if len(others) > 4 else "")
    parts = [
        f"{text.count(len(others), 'more cause')} ({named})" if others else "",
        "the ladder" if check.ladder else "",
        "what was tried" if check.search else "",
        "what the scan finds" if check.scan and check.scan.findings else "",
        "both checks" if check.verdict.comparisons else "",
    ]
    if any(parts):
        yield from _rows(out, "more", "-v prints " + ", ".join(filter(None, parts)), 1)


def _row(out: Stream, label: str, said: str) -> str:
    """One row, cut to the width."""
    label = out.cut(label, LABEL)
    cut = out.cut(said, _room(out))
    return f"  {out.style(label, 'dim')}{' ' * (LABEL + 2 - len(label))}{cut}".rstrip()


def _room(out: Stream) -> int:
    """The columns of a row behind its label."""
    return out.width - 1 - LABEL - 4


def _rows(
    out: Stream, label: str, said: str, most: int, style: str = "dim", end: str = ""
) -> list[str]:
    return out.labelled_rows(label, said, style, indent=2, label_width=LABEL, most=most, end=end)
