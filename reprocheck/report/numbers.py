"""The numbers of a verdict, the two checks and the losses, as sections."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from reprocheck.language import tr
from reprocheck.model import Check, Comparison, Tolerance, Trace
from reprocheck.report import ladder, provenance, series, words
from reprocheck.report.blocks import (
    Block,
    Chart,
    Code,
    Fact,
    Facts,
    Numbers,
    Section,
    Table,
    Text,
    section,
)
from reprocheck.report.charts import label, logarithmic
from reprocheck.report.curves import Curves, gaps
from reprocheck.report.drawings import DIFFERENCE_TITLE, LOSS_TITLE, Drawings
from reprocheck.report.text import UNKNOWN, joined, line, loss, more, number, ulps

BARS = "▁▂▃▄▅▆▇█"
BAR_COLUMNS = 60
MOST_BARS = 8
"""Rows of bars, of which each has so many columns."""
LOSS_ROWS = 10
CHECK_ROWS = 32


def in_numbers(check: Check) -> Section | None:
    """Return the section on how far the runs are apart, and which iterations were checked."""
    meaning: tuple[str, ...] = ()
    if ladder.lead(check) and check.between is None:
        meaning = words.meaning(check)
    pairs = {
        "Largest difference in the checks": words.largest(check),
        "Bitwise": words.bitwise(check),
        "First divergence": words.divergence(check),
        "Series": series.summary(check),
        "Recorded": (words.subtitle(check), words.frameworks(check)),
    }
    facts = tuple(Fact(name, value, detail) for name, (value, detail) in pairs.items() if value)
    return section(
        "numbers",
        tr("In numbers"),
        map(Text, meaning),
        Numbers(facts),
        Facts(facts=provenance.rows(check), heads_texts=True),
    )


def the_checks(check: Check) -> Section | None:
    """Return the forward and the backward check."""
    return section("checks", tr("The checks"), _check_blocks(check))


def _check_blocks(check: Check) -> Iterator[Block]:
    yield Text(
        f"The forward check takes the {words.KIND_MEANS['forward']}. The backward check takes the"
        f" {words.KIND_MEANS['backward']}.",
        "hint",
    )
    table = checks(check)
    yield table
    if not table.rows:
        yield Text("Neither check could be made: there are no losses to compare.")
    rule = f"A check passes when `{words.criterion(check)}` for every loss."
    yield Text(f"{rule} {words.moved(check)}".rstrip(), "note")


def checks(check: Check) -> Table:
    """Return a row for each check, run and rank; of very many the worst."""
    ranked = words.rank_count(check) > 1
    rows = _worst_rows(check.verdict.comparisons)
    several_losses = any((row.loss_index or 0) > 0 for row in rows)
    heads = ["check", "iteration", "runs"]
    if ranked:
        heads.append("rank")
    if several_losses:
        heads.append("loss")
    heads += ["difference", "allowed", "ULP", "result"]
    last = len(heads) - 1
    return Table(
        title=tr("The checks"),
        heads=tuple(heads),
        rows=tuple(_check_row(row, ranked, several_losses) for row in rows),
        numeric=frozenset(range(1, last)),
        marked=frozenset(index for index, row in enumerate(rows) if row.passed is not True),
        note=_left_out(check, len(rows)),
        captioned=False,
    )


def _check_row(row: Comparison, ranked: bool, several_losses: bool) -> tuple[str, ...]:
    cells = [row.kind, f"{row.iteration:,}", f"{row.run} and 1"]
    if ranked:
        cells.append(str(row.rank))
    if several_losses:
        cells.append(UNKNOWN if row.loss_index is None else str(row.loss_index + 1))
    result = joined(": ", words.result(row), line(row.detail))
    return (*cells, number(row.max_difference), number(row.allowed), ulps(row.ulp), result)


def _worst_rows(rows: Sequence[Comparison]) -> Sequence[Comparison]:
    """Return the most important rows and the first of each check, in their order.

    Failures, comparisons that could not be made, and the largest excess.
    """
    if len(rows) <= CHECK_ROWS:
        return rows
    first_of_each = {row.kind: row for row in reversed(rows)}
    worst = sorted(rows, key=attrgetter("badness"), reverse=True)[:CHECK_ROWS]
    shown = set(map(id, (*first_of_each.values(), *worst)))
    return [row for row in rows if id(row) in shown]


def _left_out(check: Check, shown: int) -> str:
    rows = check.verdict.comparisons
    if shown == len(rows):
        return ""
    failed = sum(row.passed is False for row in rows)
    return (
        f"{shown} of {len(rows):,} rows, the worst ones; {failed:,} of all fail. All are in"
        " report.json."
    )


def losses(
    check: Check, drawn: Drawings | None = None, curves: Curves | None = None
) -> Section | None:
    """Return the section on the losses of all runs; None if none was recorded.

    Charts if they are `drawn`, or `curves` as text, and a table of the first losses for each rank.
    """
    shown: Iterable[Block] = ()
    if drawn is not None and drawn.curves.total:
        shown = _charts(check, drawn)
    elif curves is not None:
        shown = _bars(curves)
    return section("losses", tr("Losses"), shown, loss_tables(check))


def _bars(curves: Curves) -> Iterator[Block]:
    """Yield the curves as a row of bars each, all on one scale."""
    import numpy as np

    curves_shown = [curve for curve in curves.losses if np.isfinite(curve.values).any()][:MOST_BARS]
    if not curves_shown:
        return
    scaled = np.array([curve.values for curve in curves_shown])
    if logarithmic(curves):
        scaled = np.log10(scaled)
    low, high = np.nanmin(scaled), np.nanmax(scaled)
    heights = (scaled - low) / ((high - low) or 1.0) * (len(BARS) - 1)
    picks = np.unique(np.linspace(0, scaled.shape[1] - 1, BAR_COLUMNS).astype(np.int64))
    width = max(len(label(curve, curves)) for curve in curves_shown)
    rows = []
    for curve, row in zip(curves_shown, heights[:, picks].tolist(), strict=True):
        bars = "".join(" " if math.isnan(height) else BARS[round(height)] for height in row)
        first, last = curve.values[np.isfinite(curve.values)][[0, -1]].tolist()
        rows.append(f"{label(curve, curves):<{width}}  {bars}  {first:.6g} to {last:.6g}")
    yield Code(text="\n".join(rows), language="text")


def _charts(check: Check, drawn: Drawings) -> Iterator[Block]:
    curves = drawn.curves
    lead = (
        "The loss of each iteration in every run. The shaded band is what is allowed around run 1."
    )
    if curves.losses and check.verdict.bitwise.equal:
        lead += " The curves lie on each other because they are equal."
    if words.losses_each(check):
        lead += " An iteration holds several losses: their sum is drawn."
    notes = []
    if curves.ranks_total > len(curves.ranks):
        notes.append(
            f"{len(curves.ranks)} of {curves.ranks_total} ranks are drawn: the first one and those"
            " that differ most."
        )
    if curves.thinned:
        notes.append(
            f"{len(curves.iterations):,} of {curves.total:,} iterations are drawn: the first ones,"
            " those that the verdict names, and of each stretch the lowest and the highest loss and"
            " the largest difference. All are in losses.csv."
        )
    yield Text(lead, "hint")
    ranks = curves.ranks if len(curves.ranks) > 1 else ()
    yield Chart(id="loss-chart", title=LOSS_TITLE, svg=drawn.loss, ranks=ranks, notes=tuple(notes))
    if len(check.runs) > 1:
        yield Chart(
            id="difference-chart",
            title=DIFFERENCE_TITLE,
            svg=drawn.difference,
            heading="Difference from run 1",
            lead="On a logarithmic scale. Above the dashed line “allowed” a loss is outside the"
            " tolerance; the bottom line, 0, means equal.",
        )


def loss_tables(check: Check) -> tuple[Table, ...]:
    """Return tables of the first losses of all runs and of the diverging iteration.

    There is one for each of the first two ranks and for the diverging rank.
    """
    if not check.runs:
        return ()
    ranks = [trace.rank for trace in check.runs[0].traces[:2]]
    divergence = check.verdict.first_divergence
    if divergence:
        ranks.append(divergence.rank)
    tables = (_losses_of(check, rank) for rank in dict.fromkeys(ranks))
    return tuple(table for table in tables if table is not None)


def _losses_of(check: Check, rank: int) -> Table | None:
    by_run = {
        run.number: trace for run in check.runs[:6] for trace in run.traces if trace.rank == rank
    }
    traces = list(by_run.values())
    longest = max((len(trace.losses) for trace in traces), default=0)
    if not longest:
        return None
    shown = list(range(1, min(longest, LOSS_ROWS) + 1))
    divergence = check.verdict.first_divergence
    if divergence and divergence.rank == rank and divergence.iteration > LOSS_ROWS:
        shown.append(divergence.iteration)
    # Without a trace of run 1 there is nothing that the others could be compared with.
    comparable = traces if check.runs[0].number in by_run else []
    worst = [_worst(check.record.tolerance, comparable, iteration) for iteration in shown]
    rows = [
        (
            f"{iteration:,}",
            *(_loss(trace, iteration) for trace in traces),
            number(gap.difference),
            number(gap.allowed),
        )
        for iteration, gap in zip(shown, worst, strict=True)
    ]
    heads = ("iteration", *(f"run {run}" for run in by_run), "difference", "allowed")
    title = "The first losses"
    if words.rank_count(check) > 1:
        title = f"The first losses of rank {rank}"
    return Table(
        title=title,
        heads=heads,
        rows=tuple(rows),
        numeric=frozenset(range(len(heads))),
        marked=frozenset(index for index, gap in enumerate(worst) if gap.beyond > 0),
        strong=len(heads) - 2,
        note=more(longest - len(shown), "losses.csv", "more iteration"),
    )


@dataclass(frozen=True, slots=True)
class _Gap:
    """The difference in one iteration, and the allowed difference; None if there is none."""

    difference: float | None = None
    allowed: float | None = None

    @property
    def beyond(self) -> float:
        """Return by how much the difference exceeds the allowed one."""
        if self.difference is None or self.allowed is None:
            return -math.inf
        return self.difference - self.allowed


def _worst(tolerance: Tolerance, traces: Sequence[Trace], iteration: int) -> _Gap:
    """Return the difference from the first trace that exceeds the allowed difference most."""
    candidates = [_Gap()]
    for trace in traces[1:]:
        difference, allowed = gaps(traces[0], trace, tolerance, iteration, iteration)
        gap = _Gap(float(difference[0]), float(allowed[0]))
        if not math.isnan(gap.beyond):
            candidates.append(gap)
    return max(candidates, key=attrgetter("beyond"))


def _loss(trace: Trace, iteration: int) -> str:
    """Return the losses of an iteration: all of up to three, the first two of more."""
    if iteration > len(trace.losses):
        return UNKNOWN
    start, end = trace.losses.span(iteration)
    number_of_losses = end - start
    last = end if number_of_losses <= 3 else start + 2
    parts = [loss(trace.losses.values[i], trace.losses.dtype(i)) for i in range(start, last)]
    if last < end:
        parts.append(f"… ({number_of_losses})")
    return ", ".join(parts) or "none"
