"""Tables of strings that both the page and the Markdown show.

Cells are printable, not yet escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from reprocheck import language
from reprocheck.language import count, sentences, tr
from reprocheck.model import Check, Comparison, Ladder, Run, Search, Tolerance, Trace
from reprocheck.model.static import StaticScan
from reprocheck.report import compared, controls, scan_findings, series, why, words
from reprocheck.report.curves import gaps
from reprocheck.report.document import facts
from reprocheck.report.text import UNKNOWN, fact, joined, line, loss, number, ulps
from reprocheck.report.why import origin
from reprocheck.wording import say

LOSS_ROWS = 10
CHECK_ROWS = 32
SERIES_ROWS = 100
MOST_TOUCHES = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Column heads and rows; `marked` are the rows that fail or differ."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    marked: frozenset[int] = field(default_factory=frozenset)
    note: str = ""
    strong: int = -1
    """The column that is bold in marked rows."""
    good: bool = False
    """Whether the marked rows are those that agree."""


def reported(check: Check) -> Table:
    """Return the series beside the losses, a row for each; of very many those that differ first."""
    rows = series.rows(check)
    shown = rows[:SERIES_ROWS]
    notes = (
        series.clocks(check),
        _more(len(rows) - len(shown), "report.json", "more series", "more series"),
    )
    return Table(
        title=tr("Series"),
        heads=series.heads(),
        rows=tuple(map(series.cells, shown)),
        numeric=frozenset({2, 5, 6}),
        marked=frozenset(index for index, row in enumerate(shown) if row.state == "differs"),
        note=sentences(*notes),
        strong=3,
    )


"""By whether a row passed."""


def _wanted(*cells: tuple[bool, str]) -> list[str]:
    """Return the cells of columns that are not always there: those that are."""
    return [cell for there, cell in cells if there]


def _more(number: int, file: str, noun: str, nouns: str = "") -> str:
    """`3 more rows in report.json.`; empty where nothing is left out."""
    if number <= 0:
        return ""
    return tr("{rest} in {file}.", rest=count(number, noun, nouns), file=file)


def _number_of(row: Comparison) -> str:
    """Return the number of a loss in its iteration."""
    if row.loss_index is None:
        return UNKNOWN
    return str(row.loss_index + 1)


def checks(check: Check) -> Table:
    """Return the forward and the backward check, a row for each run and rank; of very many the
    worst.
    """
    ranked = words.rank_count(check) > 1
    rows = _worst_rows(check.verdict.comparisons)
    many = any((row.loss_index or 0) > 0 for row in rows)
    table = [
        (
            tr(row.kind),
            f"{row.iteration:,}",
            tr("{run} and 1", run=row.run),
            *_wanted((ranked, str(row.rank)), (many, _number_of(row))),
            number(row.max_difference),
            number(row.allowed),
            ulps(row.ulp),
            joined(tr(": "), words.result(row), line(row.detail)),
        )
        for row in rows
    ]
    asked = _wanted((ranked, tr("rank")), (many, tr("loss")))
    heads = (
        *(tr("check"), tr("iteration"), tr("runs")),
        *asked,
        *(tr("difference"), tr("allowed"), "ULP", tr("result")),
    )
    last = len(heads) - 1
    return Table(
        title=tr("The checks"),
        heads=heads,
        rows=tuple(table),
        numeric=frozenset(range(1, last)),
        marked=frozenset(index for index, row in enumerate(rows) if row.passed is not True),
        note=_left_out(check, len(rows)),
    )


def _worst_rows(rows: Sequence[Comparison]) -> Sequence[Comparison]:
    """Return the rows that weigh most (failures, what could not be made, the largest excess) and
    the first of each check, in their order.
    """
    if len(rows) <= CHECK_ROWS:
        return rows
    first_of_each = {row.kind: row for row in reversed(rows)}
    worst = sorted(rows, key=attrgetter("badness"), reverse=True)[:CHECK_ROWS]
    kept = set(map(id, (*first_of_each.values(), *worst)))
    return [row for row in rows if id(row) in kept]


def _left_out(check: Check, shown: int) -> str:
    rows = check.verdict.comparisons
    if shown == len(rows):
        return ""
    failed = sum(row.passed is False for row in rows)
    return tr(
        "{shown} of {rows:,} rows, the worst ones; {failed:,} of all fail. All are in report.json.",
        shown=shown,
        rows=len(rows),
        failed=failed,
    )


def drift(check: Check) -> Table:
    """Return, of two recordings, the differences of their environments, by class."""
    return Table(
        title=tr("Differences of the environment"),
        heads=(tr("class"), tr("run 1 → run 2"), tr("what to expect")),
        rows=compared.drift(check),
    )


def losses(check: Check) -> tuple[Table, ...]:
    """Return the first losses of all runs side by side and the diverging one, a table for each of
    the first two ranks and the diverging rank.
    """
    if not check.runs:
        return ()
    ranks = [trace.rank for trace in check.runs[0].traces[:2]]
    found = check.verdict.first_divergence
    if found:
        ranks.append(found.rank)
    each_once = dict.fromkeys(ranks)
    return tuple(table for rank in each_once for table in _losses_of(check, rank))


def _losses_of(check: Check, rank: int) -> list[Table]:
    shown_runs = {
        run.number: trace for run in check.runs[:6] for trace in run.traces if trace.rank == rank
    }
    traces = list(shown_runs.values())
    longest = max((len(trace.losses) for trace in traces), default=0)
    if not longest:
        return []
    shown = list(range(1, min(longest, LOSS_ROWS) + 1))
    found = check.verdict.first_divergence
    if found and found.rank == rank and found.iteration > LOSS_ROWS:
        shown.append(found.iteration)
    # Without a trace of run 1 there is nothing that the others could be compared with.
    compared_runs = traces if check.runs[0].number in shown_runs else []
    gaps_shown = [_worst(check.record.tolerance, compared_runs, iteration) for iteration in shown]
    rows = [
        (
            f"{iteration:,}",
            *(_loss(trace, iteration) for trace in traces),
            number(gap.apart),
            number(gap.allowed),
        )
        for iteration, gap in zip(shown, gaps_shown, strict=True)
    ]
    heads = (
        tr("iteration"),
        *(tr("run {number}", number=number) for number in shown_runs),
        tr("difference"),
        tr("allowed"),
    )
    title = tr("The first losses")
    if words.rank_count(check) > 1:
        title = tr("The first losses of rank {rank}", rank=rank)
    return [
        Table(
            title=title,
            heads=heads,
            rows=tuple(rows),
            numeric=frozenset(range(len(heads))),
            marked=frozenset(index for index, gap in enumerate(gaps_shown) if gap.beyond > 0),
            strong=len(heads) - 2,
            note=_more(longest - len(shown), "losses.csv", "more iteration"),
        )
    ]


@dataclass(frozen=True, slots=True)
class _Gap:
    """A difference in one iteration, and what is allowed there; None where there is none."""

    apart: float | None = None
    allowed: float | None = None

    @property
    def beyond(self) -> float:
        """Return how far the difference is beyond what is allowed."""
        if self.apart is None or self.allowed is None:
            return -math.inf
        return self.apart - self.allowed


def _worst(tolerance: Tolerance, traces: Sequence[Trace], iteration: int) -> _Gap:
    """Return the difference from the first trace that is furthest beyond what is allowed."""
    found = [_Gap()]
    for trace in traces[1:]:
        apart, allowed = gaps(traces[0], trace, tolerance, iteration, iteration)
        gap = _Gap(float(apart[0]), float(allowed[0]))
        if not math.isnan(gap.beyond):
            found.append(gap)
    return max(found, key=attrgetter("beyond"))


def _loss(trace: Trace, iteration: int) -> str:
    """Return the losses of an iteration: all of up to three, the first two of more."""
    if iteration > len(trace.losses):
        return UNKNOWN
    start, end = trace.losses.span(iteration)
    several = end - start
    last = end
    if several > 3:
        last = start + 2
    parts = [loss(trace.losses.values[i], trace.losses.dtype(i)) for i in range(start, last)]
    if last < end:
        parts.append(f"… ({several})")
    return ", ".join(parts) or tr("none")


def runs(check: Check) -> Table:
    """Return how each run went."""
    rows = [
        (
            str(run.number),
            words.ending(run),
            words.exit_status(run),
            words.iterations(run),
            words.duration(run),
            _aside(run),
        )
        for run in check.runs
    ]
    heads = (
        *(tr("run"), tr("ended"), tr("exit status")),
        *(tr("iterations"), tr("time"), tr("remarks")),
    )
    width = len(heads)
    if not any(row[-1] for row in rows):
        width -= 1
    return Table(
        title=tr("The runs"),
        heads=heads[:width],
        rows=tuple(row[:width] for row in rows),
        numeric=frozenset({0, 2, 3, 4}),
        marked=frozenset(index for index, run in enumerate(check.runs) if run.record.ended_badly),
        strong=1,
    )


def _aside(run: Run) -> str:
    remarks = []
    if run.record.killed:
        killed = count(run.record.killed, "leftover process", "leftover processes")
        remarks.append(tr("{killed} killed", killed=killed))
    for trace in run.traces:
        name = ""
        if len(run.traces) > 1:
            name = tr("rank {rank}: ", rank=trace.rank)
        remarks += [name + remark for remark in _remarks(trace)]
    return language.joined(tr("; "), remarks)


def _remarks(trace: Trace) -> Iterator[str]:
    """Yield what is to be said of one rank's trace."""
    if trace.cut:
        yield tr("the last line of the trace is incomplete")
    if trace.skipped:
        iterations = count(len(trace.skipped), "iteration")
        yield tr("the gradient scaler skipped a step in {iterations}", iterations=iterations)
    yield from (
        tr("recorder: {problem}", problem=line(say(problem))) for problem in trace.problems[:3]
    )


def ladder(found: Ladder) -> Table:
    """Return a row for each rung; the first that differs is marked."""
    table = why.rows(found)
    return Table(
        title=tr("Where the runs diverge"),
        heads=(tr("rung"), "", tr("where"), tr("what")),
        rows=tuple((row.name, row.status, row.where, row.detail) for row in table),
        marked=frozenset(index for index, row in enumerate(table) if row.first),
        strong=1,
    )


def scanned(found: StaticScan) -> Table:
    """Return what the scan finds, a row for each place."""
    marked = frozenset(index for index, one in enumerate(found.findings) if one.precedes)
    return Table(
        title=tr("What the source shows"),
        heads=(tr("rule"), tr("place"), tr("what"), tr("ran")),
        rows=scan_findings.rows(found),
        marked=marked,
        strong=3,
    )


def controls_on(check: Check) -> Table:
    """Return the controls that were on in the runs of the check: class, and what each touched in
    run 1.
    """
    rows = tuple(
        (line(name), controls.control_class(name), controls.acted(check, name))
        for name in check.record.controls
    )
    return Table(
        title=tr("Controls that were on"),
        heads=(tr("control"), tr("class"), tr("touched")),
        rows=rows,
        strong=0,
    )


def touched(check: Check) -> Table:
    """Return every call and value that controls touched."""
    found = controls.touches(check)
    rows = tuple(
        (
            line(touch.control),
            line(touch.what),
            f"{touch.count:,}",
            controls.touched_value(touch),
            origin(touch.source),
        )
        for touch in found[:MOST_TOUCHES]
    )
    left = len(found) - len(rows)
    return Table(
        title=tr("What the controls touched"),
        heads=(tr("control"), tr("what"), tr("times"), tr("value"), tr("line")),
        rows=rows,
        numeric=frozenset({2}),
        note=_more(left, "report.json", "more row"),
    )


def overridden(check: Check) -> Table:
    """Return values of the user's that controls replaced in the search, and those that stood
    against a control.
    """
    rows = [
        (
            line(one.control),
            line(one.what),
            controls.value(one.old),
            controls.value(one.new),
            origin(one.source),
        )
        for one in controls.overrides(check)
    ]
    rows += [
        (
            line(one.control),
            line(one.what),
            controls.value(one.value),
            tr("stood; {wanted} wanted", wanted=controls.value(one.wanted)),
            origin(one.source),
        )
        for one in controls.conflicts(check)
    ]
    return Table(
        title=tr("Overrides and conflicts"),
        heads=(tr("control"), tr("what"), tr("the user's value"), tr("became"), tr("line")),
        rows=tuple(rows),
    )


def tried(search: Search) -> Table:
    """Return a row for each arm of the search; those that agree are marked."""
    rows = tuple(
        (controls.arm(one), str(one.runs), controls.outcome(one), line(one.note))
        for one in search.tried
    )
    marked = frozenset(index for index, one in enumerate(search.tried) if one.agrees)
    return Table(
        title=tr("What was tried"),
        heads=(tr("controls"), tr("runs"), tr("result"), tr("why")),
        rows=rows,
        numeric=frozenset({1}),
        marked=marked,
        strong=2,
        good=True,
    )


def outcomes(check: Check) -> Table:
    """Run grouped by bitwise outcome."""
    groups = check.verdict.outcomes.groups
    rows = [
        (chr(ord("A") + index % 26), ", ".join(map(str, group.runs)), str(len(group.runs)))
        for index, group in enumerate(groups)
    ]
    return Table(
        title=tr("Outcomes"),
        heads=(tr("outcome"), tr("runs"), tr("number of runs")),
        rows=tuple(rows),
        numeric=frozenset({2}),
    )


def statistics(check: Check) -> Table:
    """Mean and standard deviation over the runs, the first iterations."""
    every = check.verdict.outcomes.statistics
    if len(check.runs) < 2:
        every = ()
    ranked = words.rank_count(check) > 1
    rows = [
        (
            f"{row.iteration:,}",
            *_wanted((ranked, str(row.rank))),
            loss(row.mean),
            number(row.standard_deviation),
        )
        for row in every[: 2 * LOSS_ROWS]
    ]
    heads = (
        tr("iteration"),
        *_wanted((ranked, tr("rank"))),
        tr("mean loss"),
        tr("standard deviation"),
    )
    return Table(
        title=tr("Mean and standard deviation"),
        heads=heads,
        rows=tuple(rows),
        numeric=frozenset(range(len(heads))),
        note=_more(len(every) - len(rows), "report.json", "more row"),
    )


def environment_differences(check: Check) -> Table:
    """Return facts that are not the same in all runs."""
    rows = [
        (line(row.key), f"{row.run}", fact(row.reference), fact(row.value))
        for row in check.environment_differences
    ]
    marked = frozenset(range(len(rows)))
    return Table(
        title=tr("Differences between the runs"),
        heads=(tr("fact"), tr("run"), tr("in run 1"), tr("in this run")),
        rows=tuple(rows),
        marked=marked,
    )


def environment(check: Check) -> Table:
    """Return all facts of run 1; those that differ in another run are marked."""
    known = sorted(facts(check).items())
    differing = {row.key for row in check.environment_differences}
    marked = frozenset(index for index, (key, _) in enumerate(known) if key in differing)
    rows = tuple((line(key), fact(value)) for key, value in known)
    return Table(
        title=tr("Environment of run 1"), heads=(tr("fact"), tr("value")), rows=rows, marked=marked
    )


def settings(check: Check) -> Table:
    """Return each setting, its value and where it came from."""
    rows = tuple(
        (line(setting.name), fact(setting.value), line(setting.origin))
        for setting in check.record.settings
    )
    return Table(title=tr("Settings"), heads=(tr("setting"), tr("value"), tr("from")), rows=rows)
