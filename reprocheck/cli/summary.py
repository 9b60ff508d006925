"""The verdict on the terminal: the numbers, what limits them, and what to type next.

The sentences are those of the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.cli.terminal import Stream
from reprocheck.model import Check, Comparison, Run, VerdictName

if TYPE_CHECKING:
    from reprocheck.cli.console import Console

STYLES: dict[VerdictName, str] = {
    "reproducible": "bold green",
    "not_reproducible": "bold red",
    "inconclusive": "bold yellow",
    "script_failed": "bold red",
    "timed_out": "bold yellow",
}
LABEL = 19
TAIL_LINES, TAIL_CHARACTERS = 12, 2000
MOST_FILES = 5
HEAD = ("check", "iteration", "run 1", "other run", "difference", "allowed", "")


def print_verdict(check: Check, console: Console) -> None:
    """Prints the verdict to the console's `out`: a line where quiet, all there is where verbose or
    where the runs simply agree.
    """
    from reprocheck.cli import brief
    from reprocheck.report import text, why

    if console.quiet:
        parts = (f"{check.verdict.title}: {text.line(check.verdict.reason)}", why.lead(check))
        console.out.line(" ".join(filter(None, parts)))
    elif brief.shown(check, console):
        brief.print_brief(check, console)
    else:
        _print_all(check, console)


def _print_all(check: Check, console: Console) -> None:
    from reprocheck.cli.proof import print_controls, print_search
    from reprocheck.cli.reasons import print_causes, print_ladder, print_scan
    from reprocheck.report import compared, text, why

    out = console.out
    lead = why.lead(check)
    if out.tty and console.err.tty:
        out.line()
    out.paragraph(check.verdict.title, style=STYLES[check.verdict.verdict])
    if lead:
        out.paragraph(lead, indent=2, style="bold")
    out.paragraph(text.line(check.verdict.reason), indent=2)
    if check.between is not None:
        out.paragraph(text.line(check.between.sentence), indent=2)
    out.line()
    for label, sentence in (
        *compared.sides(check),
        *((title, facts) for title, facts, _ in compared.drift(check)),
    ):
        out.labelled(label, sentence, "dim", indent=2, label_width=LABEL)
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
    for label, sentence in _facts(check):
        out.labelled(label, sentence, "dim", indent=2, label_width=LABEL)
    for label, sentences in _remarks(check, verbose=console.verbose):
        style = "yellow" if label == "caveats" else "dim"
        for number, sentence in enumerate(sentences):
            out.labelled(
                "" if number else label, text.line(sentence), style, indent=2, label_width=LABEL
            )
    _print_tails(check, out)


def print_place(check: Check, console: Console, folder: Path, written: str | None) -> None:
    """Prints where the report is: the format that was `written`, the traces where none could be.
    `folder`: from the working directory.
    """
    from reprocheck.cli import brief
    from reprocheck.report import FORMATS

    place = folder / FORMATS[written].filename if written else folder
    if console.quiet:
        console.out.line(_near(place))
        return
    short = brief.shown(check, console)
    if not short:
        console.out.line()
    label = "report" if written else "recorded"
    console.out.labelled(
        label, _near(place), "dim", indent=2, label_width=brief.LABEL if short else LABEL
    )


def print_recording(out: Stream, title: str, place: Path, why: str) -> None:
    """Prints what was recorded, where it lies, and the comparison to type next."""
    out.line(title, "bold green")
    out.labelled("recording", str(place), "dim", indent=2, label_width=LABEL)
    out.labelled("next", why, "dim", indent=2, label_width=LABEL)
    out.line("    " + out.style(f"reprocheck compare {place} OTHER", "cyan"))


def print_next(check: Check, console: Console) -> None:
    """Prints the next command to type, on a row of its own so that it can be copied."""
    from reprocheck.cli import brief
    from reprocheck.report import next_command

    if console.quiet:
        return
    why, command = next_command(check)
    console.out.labelled(
        "next",
        why,
        "dim",
        indent=2,
        label_width=brief.LABEL if brief.shown(check, console) else LABEL,
    )
    console.out.line("    " + console.out.style(command, "cyan"))


def _near(path: Path) -> str:
    """A relative path, unless it leads up and away."""
    return str(path.absolute()) if path.parts[:2] == ("..", "..") else str(path)


# ------------------------------------------------------------------------------------------ numbers


def _print_checks(check: Check, out: Stream, *, every: bool) -> None:
    """One row for each of the two checks, the worst of it; all rows where `every`."""
    from reprocheck.report import words

    rows = check.verdict.comparisons if every else deciding(check.verdict.comparisons)
    if not rows:
        return
    head = list(HEAD)
    others = {row.run for row in rows}
    runs, ranks = len(check.runs) > 2, words.rank_count(check) > 1
    if len(others) == 1:
        head[3] = f"run {others.pop()}"
    cells = [head, *(_cells(row, runs=runs, ranks=ranks) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEAD))]
    gap = "  " if sum(widths) + 2 * len(widths) <= out.width else " "
    for number, row in enumerate(cells):
        drawn = gap.join(
            cell.ljust(widths[i]) if i in (0, 6) else cell.rjust(widths[i])
            for i, cell in enumerate(row)
        )
        out.line(
            f"  {drawn}".rstrip(),
            (
                "dim"
                if not number
                else {True: "green", False: "red", None: "yellow"}[rows[number - 1].passed]
            ),
        )
    moved = words.moved(check)
    if moved:
        out.paragraph(moved, indent=2)
    out.line()


def _cells(row: Comparison, *, runs: bool, ranks: bool) -> list[str]:
    from reprocheck.report import text, words

    numbers = [
        shown_loss(row.reference) if row.reference is not None or row.passed is not None else "–",
        shown_loss(row.value) if row.value is not None or row.passed is not None else "–",
        text.number(row.max_difference),
        text.number(row.allowed),
    ]
    place = ", ".join(
        [*([f"run {row.run}"] if runs else []), *([f"rank {row.rank}"] if ranks else [])]
    )
    where = f" ({place})" if place else ""
    return [row.kind, f"{row.iteration:,}", *numbers, words.result(row) + where]


def shown_loss(value: float | None) -> str:
    """A loss with eight digits."""
    from reprocheck.report import text

    return (
        text.number(value)
        if value is None or value != value or value in (float("inf"), float("-inf"))
        else f"{value:.8g}"
    )


def deciding(rows: Iterable[Comparison]) -> list[Comparison]:
    """Of each check, the row that decides: a failure before one that could not be made before a
    pass, then the largest excess.
    """
    worst: dict[str, Comparison] = {}
    for row in rows:
        if row.kind not in worst or _badness(row) > _badness(worst[row.kind]):
            worst[row.kind] = row
    return list(worst.values())


def _badness(row: Comparison) -> tuple[int, float]:
    excess = (row.max_difference or 0.0) - (row.allowed or 0.0)
    return ({False: 2, None: 1, True: 0}[row.passed], excess if excess == excess else float("inf"))


def _facts(check: Check) -> list[tuple[str, str]]:
    from reprocheck.report import compared, words

    facts = [("recorded", words.subtitle(check))]
    if check.verdict.comparisons:
        facts += [
            (label, f"{headline}: {detail}")
            for label, (headline, detail) in (
                ("bitwise", words.bitwise(check)),
                ("first divergence", words.divergence(check)),
            )
        ]
    if check.verdict.verdict in ("reproducible", "not_reproducible"):
        facts.append(
            (
                "sample",
                compared.statement(check) if check.between else check.verdict.outcomes.statement,
            )
        )
    return [(label, sentence) for label, sentence in facts if sentence]


def _remarks(check: Check, *, verbose: bool) -> list[tuple[str, Sequence[str]]]:
    """Caveats and the like, in the words of the report; those that are empty are left out."""
    from reprocheck.report import files, words

    state = [state_said(check)] if check.state_left else []
    differences = environment_said(check)
    silent = not check.verdict.comparisons or any(not run.traces for run in check.runs)
    coverage = check.coverage if verbose or silent else ()
    settings = [
        f"{item.name} = {item.value} ({item.origin})"
        for item in check.record.settings
        if verbose and item.origin != "default"
    ]
    caveats = [caveat for caveat in words.caveats(check) if caveat != check.state_caveat]
    remarks: list[tuple[str, Sequence[str]]] = [
        ("environment", differences),
        ("state left by run 1", state),
        ("caveats", caveats),
        ("coverage", coverage),
        ("files", files.sentences(check) if verbose else ()),
        ("settings", settings),
        (
            "changed to observe",
            [" ".join(check.changed_to_observe)] if check.changed_to_observe else [],
        ),
    ]
    return [(label, sentences) for label, sentences in remarks if sentences]


def state_said(check: Check) -> str:
    """The first files that run 1 left and a later run opened."""
    from reprocheck.report import text

    files = check.state_left[:MOST_FILES]
    more = len(check.state_left) - len(files)
    return ", ".join(files) + (f" and {text.count(more, 'file')} more" if more else "")


def environment_said(check: Check) -> list[str]:
    """The facts that are not the same in all runs; none of two recordings, whose differences are
    told by class.
    """
    from reprocheck.report import text

    return [
        f"{item.key}: {text.fact(item.reference)} in run 1, {text.fact(item.value)} in run"
        f" {item.run}"
        for item in (check.environment_differences if check.between is None else ())
    ]


# -------------------------------------------------------------------------------------------- tails


def _print_tails(check: Check, out: Stream) -> None:
    """The end of stderr of the runs that failed or were ended, where that is the verdict."""
    if check.verdict.verdict not in ("script_failed", "timed_out"):
        return
    from reprocheck.report import words

    for run in check.runs:
        if run.record.ended in ("failed", "timed_out"):
            out.line()
            out.paragraph(f"Run {run.number} {words.ending(run)}. The end of its log:", indent=2)
            for row in tail(run, out.width - 6):
                out.line("  " + out.style(out.fit("│ "), "dim") + row)
            return


def tail(run: Run, width: int) -> list[str]:
    """The last rows of stderr, of stdout where that is empty, cut to the width."""
    import textwrap

    from reprocheck.report import text

    log = text.tail(run.stderr_tail, TAIL_LINES, TAIL_CHARACTERS) or text.tail(
        run.stdout_tail, TAIL_LINES, TAIL_CHARACTERS
    )
    rows: list[str] = []
    for line in log.expandtabs(4).split("\n"):
        rows += textwrap.wrap(line, width, drop_whitespace=False, replace_whitespace=False) or [""]
    return rows if log else ["(nothing)"]
