"""Why the runs differ, in rows and words: the ladder and the causes for the page, the Markdown and
the terminal. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from reprocheck.model import (
    Cause,
    Check,
    Confidence,
    DeeperPair,
    Ladder,
    Rung,
    RungName,
    SourceLine,
)
from reprocheck.model.evidence import LeftBehind
from reprocheck.model.letters import small
from reprocheck.model.ranks import named
from reprocheck.report.text import joined, line, number, printable
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
    if shown is None or shown.rung == check.ladder.first or not shown.detail:
        return line(check.ladder.sentence)
    detail = line(shown.detail)
    if not shown.iteration:
        return detail
    return f"In iteration {shown.iteration:,} {small(detail)}"


def replayed(check: Check) -> str:
    """What `replay.py` runs, beside its name; empty where there is no such file."""
    if check.ladder is None or check.ladder.replay is None:
        return ""
    inputs = "equal inputs"
    if check.ladder.replay.values:
        inputs = "inputs as recorded"
    name = line(check.ladder.replay.name)
    return f"runs `{name}` alone with {inputs}, and compares its results"


def leading(check: Check) -> Rung | None:
    """The rung that is named first.

    What run 1 left is not it where runs that find the same agree under a control for another cause.
    """
    if check.ladder is None:
        return None
    first = check.ladder.first_rung
    if first is None or not isinstance(first.evidence, LeftBehind):
        return first
    if not _confirmed_elsewhere(check):
        return first
    return check.ladder.first_of_training or first


def _confirmed_elsewhere(check: Check) -> bool:
    """Whether a control confirms that the best cause is another one than what run 1 left."""
    if not check.causes:
        return False
    best = check.causes[0]
    return best.confidence == "confirmed" and best.code != entry("state-left").code


def rows(ladder: Ladder) -> tuple[Row, ...]:
    """A row for each rung, in ladder order."""
    return tuple(_row(rung, ladder) for rung in ladder.rungs)


def _row(rung: Rung, ladder: Ladder) -> Row:
    row = Row(
        name=rung.rung,
        means=MEANS.get(rung.rung, ""),
        status=STATUS[rung.status],
        sign=SIGN[rung.status],
        where="",
        first=rung.rung == ladder.first,
        differs=False,
        detail=line(rung.detail),
    )
    if rung.status != "differs":
        return row
    facts = tuple(_facts(rung))
    return replace(row, differs=True, where=where(rung), facts=facts, source=rung.source)


def where(rung: Rung) -> str:
    """`block.drop, iteration 1, gross`; of several ranks with those on which it differs in that
    iteration.
    """
    when = ""
    if rung.iteration:
        when = f"iteration {rung.iteration:,}"
    return joined(", ", line(rung.place or ""), when, _ranks(rung), _size(rung))


def _size(rung: Rung) -> str:
    return SIZE.get(rung.size or "", "")


def _ranks(rung: Rung) -> str:
    if not rung.iterations:
        return ""
    same = [rank for rank, iteration in rung.iterations.items() if iteration == rung.iteration]
    return named(same or [rung.rank or 0])


def _facts(rung: Rung) -> list[tuple[str, str]]:
    apart = ""
    if rung.relative_difference is not None:
        apart = f"about {number(rung.relative_difference)} relative"
    named = [
        ("place", line(rung.place or "")),
        ("made by", line(rung.culprit or "")),
        ("iteration", _whole(rung.iteration)),
        ("rank", _whole(rung.rank)),
        ("difference", joined(", ", _size(rung), apart)),
    ]
    return [(name, value) for name, value in named if value]


def _whole(number: int | None) -> str:
    if number is None:
        return ""
    return f"{number:,}"


def evidence(check: Check) -> str:
    """What the ladder was read from: `the runs of the check, recorded at level module, and two more
    runs, recorded at level op`.
    """
    own = [pair for pair in check.record.deeper if pair.of_check]
    more = [pair for pair in check.record.deeper if not pair.of_check]
    sources = [f"{_own_runs(check)}, recorded at level module" for _ in own]
    if more:
        levels = " and ".join(map(_level, more))
        sources.append(f"{_deeper_runs(check, len(more))}, recorded at {levels}")
    if not sources:
        return ""
    return f"Read from {', and from '.join(sources)}."


def _own_runs(check: Check) -> str:
    return "the runs of both sides" if check.record.compared else "the runs of the check"


def _deeper_runs(check: Check, pairs: int) -> str:
    if check.record.compared:
        return "one run of each side" if pairs == 1 else f"{pairs} runs of each side"
    return "two more runs" if pairs == 1 else f"{2 * pairs} more runs"


def _level(pair: DeeperPair) -> str:
    said = f"level {pair.level}"
    if pair.inside:
        said += f" inside {line(pair.inside)}"
    if pair.begin > 1:
        said += f" from iteration {pair.begin:,} on"
    return said


def origin(source: SourceLine | None) -> str:
    """`train.py:12`; empty where there is none."""
    if source is None:
        return ""
    return f"{line(source.file)}:{source.line}"


def cause_title(cause: Cause) -> str:
    """`R101 Dropout without a seed (observed)`."""
    return f"{line(cause.code)} {line(cause.title)} ({cause.confidence})"


def fix(cause: Cause) -> str:
    """The fix, printable, its line breaks and indents kept."""
    return printable(cause.fix).expandtabs(4).strip("\n").rstrip()


def is_code(text: str) -> bool:
    """Whether a fix is to be pasted, or is a sentence to be read."""
    sentence = " " in text and text.endswith((".", "!"))
    return "\n" in text or not sentence


def summary(check: Check, *, every: bool = True) -> list[str]:
    """A few plain lines: where the runs diverge, with `every` rung, and the causes."""
    if check.ladder is None:
        return []
    found = []
    first = lead(check)
    if first:
        found.append(f"first difference: {first}")
    shown = (row for row in rows(check.ladder) if every or row.first)
    found += [joined(", ", f"  {row.name}: {row.status}", row.where) for row in shown]
    causes = ((cause_title(cause), origin(cause.source)) for cause in check.causes)
    found += [joined(", ", f"cause: {title}", place) for title, place in causes]
    return found
