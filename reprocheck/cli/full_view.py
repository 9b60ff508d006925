"""The verdict with all there is: the ladder, causes, both checks, facts and remarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reprocheck.cli.labels import INDENT, Labels
from reprocheck.cli.reasons import (
    print_causes,
    print_controls,
    print_ladder,
    print_scan,
    print_search,
)
from reprocheck.cli.sentences import (
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
from reprocheck.language import joined, mark, sentences, tr
from reprocheck.model import Check, Comparison, Run
from reprocheck.report import compared, files, ladder, seeds, series, text, variations, words

if TYPE_CHECKING:
    from rich.table import Table

    from reprocheck.cli.console import Console
    from reprocheck.cli.terminal import Stream

LABEL = 19
_ROW_STYLES = {True: "green", False: "red", None: "yellow"}
"""Of the row of a check, by whether it passed."""
_REMARK_STYLES = {"caveats": "yellow"}
"""Of the remarks that are not dim."""


def print_all(check: Check, console: Console) -> None:
    """Print the verdict and everything that is known about it."""
    out = console.out
    labels = Labels(out, LABEL)
    if out.tty and console.err.tty:
        out.line()
    _print_headline(check, out)
    for label, sentence in compared.sides(check):
        labels.row(label, sentence)
    for title, facts, _ in compared.drift(check):
        labels.row(title, facts)
    if check.between is not None:
        out.line()
    if check.ladder is not None:
        print_ladder(check.ladder, out)
        print_causes(check, out, every=console.verbose)
    if check.scan is not None:
        print_scan(check.scan, out, every=console.verbose)
    print_search(check, out, every=console.verbose)
    print_controls(check, out)
    _print_checks(check, out, every=console.verbose)
    for label, sentence in (*variations.facts(check), *seeds.facts(check)):
        labels.row(label, sentence)
    for label, sentence in _facts(check):
        labels.row(label, sentence)
    for label, said in _remarks(check, verbose=console.verbose):
        style = _REMARK_STYLES.get(label, "dim")
        labels.column(label, map(text.line, said), style)
    _print_log(check, out)


def _print_headline(check: Check, out: Stream) -> None:
    lead = ladder.lead(check)
    out.paragraph(check.verdict.title, style=STYLES[check.verdict.tone])
    if lead:
        out.paragraph(lead, indent=INDENT, style="bold")
    out.paragraph(text.line(check.verdict.reason), indent=INDENT)
    if check.between is not None:
        out.paragraph(text.line(check.between.sentence), indent=INDENT)
    out.line()


def _print_checks(check: Check, out: Stream, *, every: bool) -> None:
    """Print the worst row of the forward check and of the backward check; all rows if `every`."""
    rows: Sequence[Comparison] = check.verdict.comparisons
    if not every:
        rows = deciding(rows)
    if not rows:
        return
    table = _table(check, rows, gap=2)
    if out.columns(table) > out.width - INDENT:
        table = _table(check, rows, gap=1)
    out.draw(table, indent=INDENT)
    moved = words.moved(check)
    if moved:
        out.paragraph(moved, indent=INDENT)
    out.line()


def _table(check: Check, rows: Sequence[Comparison], *, gap: int) -> Table:
    from rich.table import Table

    table = Table(box=None, header_style="dim", padding=(0, gap, 0, 0), pad_edge=False)
    table.add_column("check")
    losses = "run 1", _other_run(rows)
    for title in ("iteration", *losses, "difference", "allowed"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("")
    for row in rows:
        table.add_row(*_numbers(row), _result(check, row), style=_ROW_STYLES[row.passed])
    return table


def _other_run(rows: Sequence[Comparison]) -> str:
    others = {row.run for row in rows}
    if len(others) > 1:
        return "other run"
    return f"run {others.pop()}"


def _numbers(row: Comparison) -> list[str]:
    """Return one row: the check, the iteration, both losses, their distance, the tolerance."""
    return [
        tr(row.kind),
        f"{row.iteration:,}",
        shown_loss(row.reference),
        shown_loss(row.value),
        text.number(row.max_difference),
        text.number(row.allowed),
    ]


def _result(check: Check, row: Comparison) -> str:
    """Format a row's result: `fail (run 3, rank 1)`; run and rank only if there are several."""
    where = []
    if len(check.runs) > 2:
        where.append(f"run {row.run}")
    if words.rank_count(check) > 1:
        where.append(f"rank {row.rank}")
    if not where:
        return words.result(row)
    return f"{words.result(row)} ({joined(', ', where)})"


def _facts(check: Check) -> list[tuple[str, str]]:
    verdict = check.verdict
    facts = [(mark("recorded"), words.subtitle(check))]
    if verdict.comparisons:
        facts.append((mark("bitwise"), joined(": ", words.bitwise(check))))
        facts.append((mark("first divergence"), joined(": ", words.divergence(check))))
    if verdict.series:
        facts.append((mark("series"), joined(": ", series.summary(check))))
    if verdict.verdict in ("reproducible", "not_reproducible"):
        facts.append((mark("sample"), compared.statement(check)))
    return [(label, sentence) for label, sentence in facts if sentence]


def _remarks(check: Check, *, verbose: bool) -> list[tuple[str, Sequence[str]]]:
    """Return the caveats and other remarks of the report; empty ones are left out."""
    settings = [
        f"{item.name} = {item.value} ({item.origin})"
        for item in check.record.settings
        if item.origin != "default"
    ]
    remarks: dict[str, Sequence[str]] = {
        mark("environment"): environment_said(check),
        mark("state left by run 1"): [state_said(check)],
        mark("caveats"): caveats_said(check),
        mark("coverage"): check.coverage,
        mark("files"): files.sentences(check),
        mark("settings"): settings,
        mark("changed to observe"): [sentences(*check.changed_to_observe)],
    }
    if not verbose:
        del remarks["files"], remarks["settings"]
    if not verbose and not nothing_recorded(check):
        del remarks["coverage"]
    return [(label, said) for label, said in remarks.items() if any(said)]


def _print_log(check: Check, out: Stream) -> None:
    """Print the end of stderr of the first run that failed or was ended, if that is the verdict."""
    run = ended_badly(check)
    if run is not None:
        print_log(run, out)


def print_log(run: Run, out: Stream) -> None:
    """Print the end of a run's log."""
    out.line()
    out.paragraph(tail_title(run), indent=INDENT)
    for row in tail(run, out.width - 6):
        out.line(out.joined("  ", ("│ ", "dim"), row))
