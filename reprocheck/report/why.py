"""Why the runs differ, in rows and words: the ladder and the causes for the page, the Markdown and
the terminal. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reprocheck.model import Cause, Check, Confidence, Ladder, Rung, RungName, SourceLine
from reprocheck.model.evidence import LeftBehind
from reprocheck.model.letters import small
from reprocheck.model.ranks import named
from reprocheck.report.text import line, number, printable
from reprocheck.rules import entry

STATUS: Mapping[str, str] = {"equal": "equal", "differs": "differs", "not_recorded": "not recorded"}
SIGN: Mapping[str, str] = {"equal": "=", "differs": "≠", "not_recorded": "·"}
SIZE: Mapping[str, str] = {"rounding": "rounding-level", "gross": "gross"}
CONFIDENCE: Mapping[Confidence, str] = {
    "observed": "the recorded runs show it",
    "confirmed": "a control removes the difference",
    "suspected": "a rule fits, the runs do not show it",
}
MEANS: Mapping[RungName, str] = {
    "environment": "interpreter, packages, devices and variables",
    "files and arguments": "what the runs read, and what run 1 left for run 2",
    "hyper-parameters": "learning rate and the other settings of the optimizer",
    "initial weights": "parameters and buffers before the first iteration",
    "RNG state": "process-wide generators, where something is drawn from them",
    "batch": "the samples of an iteration and their order",
    "forward": "outputs of modules, in the order in which they return",
    "loss": "what lies between the last module and the loss",
    "gradient": "gradients, in the order of the backward pass",
    "reduced gradient": "gradients after they were combined over ranks",
    "update": "weights and optimizer state after the update",
    "later": "iterations after those that were recorded in full",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A rung as a row: what is printable in each column.

    `facts` are (name, value) pairs of a rung that differs.
    """

    name: str
    means: str
    status: str
    sign: str
    where: str
    first: bool
    differs: bool
    detail: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    source: SourceLine | None = None


def lead(check: Check) -> str:
    """The one sentence that says where the runs diverge; empty without a ladder."""
    if check.ladder is None:
        return ""
    shown = leading(check)
    if shown is not None and shown.rung != check.ladder.first and shown.detail:
        return (
            f"In iteration {shown.iteration:,} {small(line(shown.detail))}"
            if shown.iteration
            else line(shown.detail)
        )
    return line(check.ladder.sentence)


def leading(check: Check) -> Rung | None:
    """The rung that is named first.

    What run 1 left is not it where runs that find the same agree under a control for another cause.
    """
    if check.ladder is None:
        return None
    first = check.ladder.first_rung
    if first is None or not isinstance(first.evidence, LeftBehind) or not check.causes:
        return first
    best = check.causes[0]
    acquitted = best.confidence == "confirmed" and best.code != entry("state-left").code
    return check.ladder.first_of_training or first if acquitted else first


def rows(ladder: Ladder) -> tuple[Row, ...]:
    """A row for each rung, in ladder order."""
    return tuple(_row(rung, ladder) for rung in ladder.rungs)


def _row(rung: Rung, ladder: Ladder) -> Row:
    differs = rung.status == "differs"
    return Row(
        name=rung.rung,
        means=MEANS.get(rung.rung, ""),
        status=STATUS[rung.status],
        sign=SIGN[rung.status],
        where=where(rung) if differs else "",
        first=rung.rung == ladder.first,
        differs=differs,
        detail=line(rung.detail),
        facts=tuple(_facts(rung)) if differs else (),
        source=rung.source if differs else None,
    )


def where(rung: Rung) -> str:
    """`block.drop, iteration 1, gross`; of several ranks with those on which it differs in that
    iteration.
    """
    when = f"iteration {rung.iteration:,}" if rung.iteration else ""
    return ", ".join(
        filter(None, [line(rung.place or ""), when, _ranks(rung), SIZE.get(rung.size or "", "")])
    )


def _ranks(rung: Rung) -> str:
    if not rung.iterations:
        return ""
    same = [rank for rank, iteration in rung.iterations.items() if iteration == rung.iteration]
    return named(same or [rung.rank or 0])


def _facts(rung: Rung) -> list[tuple[str, str]]:
    apart = rung.relative_difference
    size = SIZE.get(rung.size or "", "")
    if apart is not None:
        size = (
            f"{size}, about {number(apart)} relative" if size else f"about {number(apart)} relative"
        )
    named = [
        ("place", line(rung.place or "")),
        ("made by", line(rung.culprit or "")),
        ("iteration", f"{rung.iteration:,}" if rung.iteration else ""),
        ("rank", "" if rung.rank is None else str(rung.rank)),
        ("difference", size),
    ]
    return [(name, value) for name, value in named if value]


def evidence(check: Check) -> str:
    """What the ladder was read from: `two more runs, recorded at levels module and op`."""
    pairs = check.record.deeper
    levels = [
        f"level {pair.level}" + (f" inside {line(pair.inside)}" if pair.inside else "")
        for pair in pairs
    ]
    again = "two more runs" if len(pairs) == 1 else f"{2 * len(pairs)} more runs"
    if check.record.compared:
        again = "one run of each side" if len(pairs) == 1 else f"{len(pairs)} runs of each side"
    return f"Read from {again}, recorded at {' and '.join(levels)}." if pairs else ""


def origin(source: SourceLine | None) -> str:
    """`train.py:12`; empty where there is none."""
    return f"{line(source.file)}:{source.line}" if source else ""


def cause_title(cause: Cause) -> str:
    """`R101 Dropout without a seed (observed)`."""
    return f"{line(cause.code)} {line(cause.title)} ({cause.confidence})"


def fix(cause: Cause) -> str:
    """The fix, printable, its line breaks and indents kept."""
    return printable(cause.fix).expandtabs(4).strip("\n").rstrip()


def is_code(text: str) -> bool:
    """Whether a fix is to be pasted, or is a sentence to be read."""
    return "\n" in text or not (text.endswith((".", "!")) and " " in text)


def summary(check: Check, *, every: bool = True) -> list[str]:
    """A few plain lines: where the runs diverge, with `every` rung, and the causes."""
    if check.ladder is None:
        return []
    found = [f"first difference: {lead(check)}"] if lead(check) else []
    found += [
        f"  {row.name}: {row.status}" + (f", {row.where}" if row.where else "")
        for row in rows(check.ladder)
        if every or row.first
    ]
    return found + [
        f"cause: {cause_title(cause)}" + (f", {origin(cause.source)}" if cause.source else "")
        for cause in check.causes
    ]
