"""`reprocheck suite show`: a night as a table, or a target in it with all that is known of it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.parameters import argument, option
from reprocheck.errors import UsageError

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.suite.history import History
    from reprocheck.suite.model import NightReport, TargetReport
    from reprocheck.suite.targets import Suite

_LABELS = 12
"""Columns of the names of facts; a longer one takes a row of its own."""
_WIDEST_NAME = 30
_WIDEST_STATE = 14
_STYLES = {True: "bold red", False: ""}
"""Whether a target fails -> how its state is printed."""


def command(
    name: Annotated[
        str,
        argument(
            metavar="[NIGHT|TARGET]",
            help="A night, or a target; the newest night where nothing is named.",
        ),
    ] = "last",
    night: Annotated[
        str, option("--night", metavar="NIGHT", help="The night in which a target is shown. [last]")
    ] = "last",
    all_targets: Annotated[
        bool, option("-a", "--all", help="Of a night: unchanged targets, too.")
    ] = False,
    issue: Annotated[
        bool, option("--issue", help="Of a target: a text for an issue, in Markdown.")
    ] = False,
) -> int:
    """Show a night or a target. Exit 0 whatever the night came to."""
    from reprocheck.cli.terminal import standard_output
    from reprocheck.suite import texts
    from reprocheck.suite.history import open_suite
    from reprocheck.suite.targets import load

    suite = load(Path.cwd())
    out = standard_output()
    with open_suite(suite, create=False) as history:
        report, one = _asked(history, suite, name, night)
    if one is None:
        _print_night(out, report, all_targets=all_targets)
    elif issue:
        out.data(texts.issue(report.night, one))
    else:
        _print_target(out, report, one, suite)
    return 0


def _asked(
    history: History, suite: Suite, name: str, night: str
) -> tuple[NightReport, TargetReport | None]:
    """Return the night, and the named target in it; None if `name` is a night."""
    from reprocheck.cli.suite.report import one_night
    from reprocheck.settings import nearest
    from reprocheck.suite import reports

    if name == "last" or any(name == known.id for known in history.nights()):
        return reports.read(history, one_night(history, name).id, suite), None
    report = reports.read(history, one_night(history, night).id, suite)
    one = report.named(name)
    if one is None:
        known = [row.name for row in report.targets]
        meant = nearest(name, known)
        fix = f"Did you mean {meant}?" if meant else "reprocheck suite show lists the targets."
        raise UsageError(f"Night {report.night.id} has no target {name}, nor is it a night.", fix)
    return report, one


def _print_night(out: Stream, report: NightReport, *, all_targets: bool) -> None:
    """Print the head of a night, one row per target, and how many targets are not shown."""
    from reprocheck.suite.pages import words

    out.line(f"{words.headline(report)}", _HEADS[bool(report.failed)])
    out.paragraph(words.counts(report), indent=2)
    if without := words.without_baseline(report):
        out.paragraph(without, indent=2)
    for name, said in words.about(report.night):
        out.labelled(name, _plain(said), "dim", indent=2, label_width=_LABELS)
    rows = report.targets
    if not all_targets:
        rows = tuple(row for row in rows if row.failed or row.word != "unchanged")
    out.line()
    _print_rows(out, rows)
    hidden = len(report.targets) - len(rows)
    if hidden:
        out.line(f"  {hidden:,} unchanged; --all shows them.", "dim")
    if rows:
        out.line()
        out.labelled("more:", f"reprocheck suite show {shlex.quote(rows[0].name)}")


_HEADS = {True: "bold red", False: "bold green"}
"""Whether a target fails -> how the head is printed."""


def _print_rows(out: Stream, rows: Sequence[TargetReport]) -> None:
    from rich.table import Table

    from reprocheck.suite.pages import words

    if not rows:
        return
    name = min(_WIDEST_NAME, max(len(row.name) for row in rows))
    time = max(len(words.duration(row)) for row in rows)
    said = out.width - name - _WIDEST_STATE - time - 8
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=name, overflow="fold")
    table.add_column(width=_WIDEST_STATE)
    table.add_column(width=time, justify="right")
    table.add_column(width=max(20, said))
    for one in rows:
        state = out.text(one.word, _STYLES[one.failed])
        texts = map(out.text, (words.duration(one), _plain(words.sentence(one))))
        table.add_row(out.text(one.name), state, *texts)
    out.draw(table, indent=2)


def _print_target(out: Stream, report: NightReport, target: TargetReport, suite: Suite) -> None:
    """Print what changed at a target, all that is known of it, links, and commands to type next."""
    from reprocheck.report import FORMATS
    from reprocheck.suite.pages import links, words

    out.line(f"{target.name}: {target.word}", _HEADS[target.failed])
    out.paragraph(_plain(words.sentence(target)), indent=2)
    out.labelled("night", report.night.id, "dim", indent=2, label_width=_LABELS)
    facts = words.facts(target)
    files = {"page": suite.folder / links.SITE / links.target_file(target.name)}
    if target.check is not None and target.check.folder:
        files["report"] = suite.folder / target.check.folder / FORMATS["html"].filename
    if target.state is not None and (comparison := target.state.suspect.report):
        files["comparison"] = suite.folder / comparison / FORMATS["html"].filename
    facts += [(name, os.path.relpath(file)) for name, file in files.items() if file.exists()]
    for name, fact in facts:
        out.labelled(name, _plain(fact), "dim", indent=2, label_width=_LABELS)
    for row in words.diff(target).splitlines():
        out.line(f"    {row}")
    for why, command in words.commands(target):
        out.line()
        out.paragraph(why)
        out.line(f"    {command}", "cyan")


def _plain(text: str) -> str:
    """Return a sentence without the backticks around code."""
    return text.replace("`", "")
