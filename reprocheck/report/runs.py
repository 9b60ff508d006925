"""How the runs went, their logs, and in which outcomes they fall, as sections."""

from __future__ import annotations

from collections.abc import Iterator

from reprocheck.language import count, tr
from reprocheck.model import Check, Run, Trace
from reprocheck.report import compared, next_step, words
from reprocheck.report.blocks import Block, Code, Log, Section, Table, Text, section
from reprocheck.report.text import line, loss, more, number, tail
from reprocheck.wording import say

MOST_STATISTICS = 20


def how_it_ended(check: Check) -> Section | None:
    """Return the section on how the runs ended, with the log of one that failed.

    None if there is none.
    """
    opened = [log for log in _logs(check) if log.open]
    if not opened:
        return None
    return section("failed", tr("How it ended"), runs(check), opened)


def the_runs(check: Check) -> Section | None:
    """Return how each run went."""
    return section("runs", tr("The runs"), _blocks(check))


def _blocks(check: Check) -> Iterator[Block]:
    logs = list(_logs(check))
    if not any(log.open for log in logs):
        yield runs(check)
    statement = compared.statement(check)
    if statement:
        yield Text(statement)
    if len(check.runs) > 2:
        yield _outcomes(check)
        yield _statistics(check)
    yield Text("The command that was started:")
    yield Code(text=next_step.command(check), language="sh")
    yield from (log for log in logs if not log.open)


def runs(check: Check) -> Table:
    """Return a row for each run: how it ended, how far it came, how long it took."""
    rows = [
        (
            str(run.number),
            words.ending(run),
            words.exit_status(run),
            words.iterations(run),
            words.duration(run),
            _remarks(run),
        )
        for run in check.runs
    ]
    heads = ("run", "ended", "exit status", "iterations", "time", "remarks")
    width = len(heads) if any(row[-1] for row in rows) else len(heads) - 1
    return Table(
        title=tr("The runs"),
        heads=heads[:width],
        rows=tuple(row[:width] for row in rows),
        numeric=frozenset({0, 2, 3, 4}),
        marked=frozenset(index for index, run in enumerate(check.runs) if run.record.ended_badly),
        strong=1,
        captioned=False,
    )


def _remarks(run: Run) -> str:
    remarks = []
    if run.record.killed:
        killed = count(run.record.killed, "leftover process", "leftover processes")
        remarks.append(f"{killed} killed")
    for trace in run.traces:
        rank = f"rank {trace.rank}: " if len(run.traces) > 1 else ""
        remarks += [rank + remark for remark in _remarks_of(trace)]
    return "; ".join(remarks)


def _remarks_of(trace: Trace) -> Iterator[str]:
    if trace.cut:
        yield "the last line of the trace is incomplete"
    if trace.skipped:
        iterations = count(len(trace.skipped), "iteration")
        yield f"the gradient scaler skipped a step in {iterations}"
    yield from (f"recorder: {line(say(problem))}" for problem in trace.problems[:3])


def _outcomes(check: Check) -> Table:
    """Return the runs grouped by bitwise outcome."""
    groups = check.verdict.outcomes.groups
    rows = [
        (chr(ord("A") + index % 26), ", ".join(map(str, group.runs)), str(len(group.runs)))
        for index, group in enumerate(groups)
    ]
    return Table(
        title="Outcomes",
        heads=("outcome", "runs", "number of runs"),
        rows=tuple(rows),
        numeric=frozenset({2}),
        narrow=True,
    )


def _statistics(check: Check) -> Table:
    """Return mean and standard deviation over the runs, of the first iterations."""
    every = check.verdict.outcomes.statistics
    ranked = words.rank_count(check) > 1
    rows = []
    for row in every[:MOST_STATISTICS]:
        rank = [str(row.rank)] if ranked else []
        rows.append((f"{row.iteration:,}", *rank, loss(row.mean), number(row.standard_deviation)))
    rank_head = ["rank"] if ranked else []
    heads = ("iteration", *rank_head, "mean loss", "standard deviation")
    return Table(
        title="Mean and standard deviation",
        heads=heads,
        rows=tuple(rows),
        numeric=frozenset(range(len(heads))),
        note=more(len(every) - len(rows), "report.json", "more row"),
        narrow=True,
    )


def _logs(check: Check) -> Iterator[Log]:
    """Yield the end of the output of each run; unfolded if it is the error of a failed run."""
    most_lines = max(40, 200 // max(1, len(check.runs)))
    for run in check.runs:
        failed = run.record.ended_badly
        logs = {"standard error": run.stderr_tail, "standard output": run.stdout_tail}
        for name, text in logs.items():
            if text.strip():
                yield Log(
                    title=f"Run {run.number}, {name}, the end",
                    text=tail(text, most_lines, 40_000),
                    short=failed or check.verdict.verdict == "inconclusive",
                    open=failed and text is run.stderr_tail,
                )


def logs_of_failed(check: Check) -> list[Log]:
    """Return the logs that short reports have, too."""
    return [log for log in _logs(check) if log.short]
