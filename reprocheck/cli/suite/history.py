"""`reprocheck suite history`: what was recorded, as a table, as JSON, or as a file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.parameters import argument, option
from reprocheck.errors import UsageError

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.suite.history import History
    from reprocheck.suite.history.timeline import TargetNight
    from reprocheck.suite.model import OverviewRow, TargetCheck
    from reprocheck.suite.targets import Suite

REBUILD = "rebuild"
FORMATS = ("text", "json")
LAST = 30
"""Nights that are printed where no other number is asked for."""
GAP = 2
INDENT = 4
NOTHING = "-"
GOOD, BAD = "green", "bold red"
RIGHT = ("seconds", "targets", "not good")
"""Columns of numbers."""


def command(
    target: Annotated[
        str,
        argument(
            metavar=f"[TARGET|{REBUILD}]",
            help=f"A target by name. {REBUILD}: record what the folders of the nights hold, where"
            " the history is lost, damaged or an older copy.",
        ),
    ] = "",
    last: Annotated[
        int | None,
        option("--last", metavar="N", help=f"Of the last N nights. [{LAST}; all with --export]"),
    ] = None,
    format: Annotated[
        str,
        option("--format", metavar="|".join(FORMATS), help="How to print it. [text]"),
    ] = "text",
    export: Annotated[
        Path | None,
        option("--export", metavar="FILE", help="Write one row a check to FILE.csv."),
    ] = None,
    series: Annotated[
        bool,
        option("--series", help="With --export: one row a value of every series."),
    ] = False,
) -> int:
    """Print the nights, or one target night by night; or makes the history anew."""
    from reprocheck.cli.terminal import standard_output
    from reprocheck.suite.history import open_suite
    from reprocheck.suite.targets import load

    if format not in FORMATS:
        raise UsageError(f"--format {format}: history has no such format.", "Take text or json.")
    if last is not None and last < 1:
        raise UsageError(f"--last {last}: that is no number of nights.", "Take 1 or more.")
    if series and export is None:
        raise UsageError(
            "--series writes a file, and none is named.",
            "reprocheck suite history --series --export series.csv",
        )
    suite = load(Path.cwd())
    if target == REBUILD and REBUILD not in [known.name for known in suite.targets]:
        return _rebuild(suite)
    with open_suite(suite, create=False) as history:
        if export is not None:
            from reprocheck.suite.history.export import Selection, export as write_rows

            number = write_rows(history, export, Selection(target, last), series=series)
            standard_output().paragraph(f"{number:,} rows in {export}")
            return 0
        if target:
            return _print_target(history, target, last or LAST, format)
        return _print_nights(history, last or LAST, format)


def _rebuild(suite: Suite) -> int:
    from reprocheck.cli.terminal import standard_output
    from reprocheck.language import count
    from reprocheck.suite.night.rebuild import rebuild

    made = rebuild(suite)
    out = standard_output()
    new = f"{count(made.nights, 'new night')}, {count(made.checks, 'new check')}"
    out.labelled("REBUILT", new, "bold")
    if made.aside is not None:
        out.paragraph(f"What could not be read: {os.path.relpath(made.aside)}", indent=2)
        out.paragraph(
            f"{count(made.baselines, 'baseline')} could be read in it. Others are in no folder of a"
            " night: `reprocheck suite baseline accept` or `import` gives them back.",
            indent=2,
        )
    if made.left_out:
        named = ", ".join(dict.fromkeys(path.name for path in made.left_out))
        out.paragraph(f"Not in the suite any more, and left out: {named}", indent=2)
    return 0


def _print_target(history: History, target: str, last: int, format: str) -> int:
    from reprocheck.cli.terminal import standard_output
    from reprocheck.suite.history.timeline import timeline

    nights = timeline(history, target)
    shown = nights[-last:]
    out = standard_output()
    if format == "json":
        out.data(_json([_target_as_json(night) for night in shown]))
        return 0
    head = ("night", "verdict", "bitwise", "state", "seconds")
    rows = [head, *map(_target_row, shown)]
    notes = [(), *(tuple(_notes(night)) for night in shown)]
    styles = ["bold"]
    for night in shown:
        style = ""
        if night.check is not None:
            style = GOOD if night.check.good else BAD
        styles.append(style)
    _table(out, rows, notes, styles)
    out.line()
    out.paragraph(_counted(len(shown), len(nights)), style="dim")
    return 0


def _target_row(night: TargetNight) -> tuple[str, ...]:
    state = night.state.state if night.state else NOTHING
    check = night.check
    if check is None:
        return night.night, NOTHING, NOTHING, state, NOTHING
    verdict = check.verdict.replace("_", " ")
    bits = "differs" if check.first_bitwise is None else f"from {check.first_bitwise}"
    if check.bitwise is None:
        bits = NOTHING
    elif check.bitwise:
        bits = "equal"
    return night.night, verdict, bits, state, f"{check.seconds:.1f}"


def _notes(night: TargetNight) -> Iterator[str]:
    """Yield the notes below a night's row."""
    from reprocheck.suite.model import short

    for attempt in night.attempts[:-1]:
        yield f"attempt {attempt.attempt}: {attempt.verdict.replace('_', ' ')}"
    for name, (then, now) in night.changed.items():
        yield f"{name}: {short(then)} → {short(now)}"


def _target_as_json(night: TargetNight) -> dict[str, object]:
    state = night.state
    return {
        "night": night.night,
        "state": state.state if state else None,
        "failed": state.failed if state else None,
        "since": state.since if state else None,
        "sentence": state.sentence if state else None,
        "changed": {name: list(pair) for name, pair in night.changed.items()},
        "attempts": [_check_as_json(check) for check in night.attempts],
    }


def _check_as_json(check: TargetCheck) -> dict[str, object]:
    from dataclasses import fields

    given = {field.name: getattr(check, field.name) for field in fields(check)}
    del given["night"], given["target"], given["curves"]
    return {**given, "key": check.key.digest, "facts": check.key.facts}


def _print_nights(history: History, last: int, format: str) -> int:
    from reprocheck.cli.terminal import standard_output

    nights = history.nights()
    shown = nights[-last:]
    found = groupby(history.overview(last), key=lambda row: row.night)
    by_night = {night: tuple(rows) for night, rows in found}
    out = standard_output()
    if format == "json":
        rows = [_night_as_json(night.id, by_night.get(night.id, ())) for night in shown]
        out.data(_json(rows))
        return 0
    head = ("night", "targets", "not good")
    table: list[tuple[str, ...]] = [head]
    notes: list[tuple[str, ...]] = [()]
    styles = ["bold"]
    for night in shown:
        rows_of_night = by_night.get(night.id, ())
        checked = sum(bool(row.verdict) for row in rows_of_night)
        bad = sum(not row.is_good for row in rows_of_night)
        table.append((night.id, str(checked), str(bad)))
        changed = (row.state for row in rows_of_night if row.state not in ("", "unchanged"))
        states = ", ".join(
            f"{number} {state}" for state, number in sorted(Counter(changed).items())
        )
        notes.append((states,) if states else ())
        styles.append(BAD if bad else GOOD)
    _table(out, table, notes, styles)
    out.line()
    out.paragraph(_counted(len(shown), len(nights)), style="dim")
    return 0


def _night_as_json(night: str, rows: Sequence[OverviewRow]) -> dict[str, object]:
    return {
        "night": night,
        "targets": sum(bool(row.verdict) for row in rows),
        "not_good": [row.target for row in rows if not row.is_good],
        "states": {row.target: row.state for row in rows if row.state},
    }


def _table(
    out: Stream,
    rows: Sequence[tuple[str, ...]],
    notes: Iterable[tuple[str, ...]],
    styles: Iterable[str],
) -> None:
    """Print rows in columns below the column names, with the notes of each row below it."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = [name in RIGHT for name in rows[0]]
    for row, below, style in zip(rows, notes, styles, strict=True):
        cells = [
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ]
        out.line((" " * GAP).join(cells).rstrip(), style)
        for note in below:
            out.paragraph(note, indent=INDENT, style="dim")


def _counted(shown: int, there: int) -> str:
    from reprocheck.language import count

    if shown == there:
        return count(there, "night")
    return f"The last {shown} of {there} nights; --last {there} shows all."


def _json(document: Sequence[Mapping[str, object]]) -> bytes:
    import json

    return (json.dumps(document, indent=2, default=dict) + "\n").encode()
