"""Why the runs differ, in rows and words: the ladder and the causes for the page, the Markdown and
the terminal. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from reprocheck import language
from reprocheck.language import form, mark, tr
from reprocheck.language.ranks import named
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
from reprocheck.report.text import joined, line, number, printable

STATUS: Mapping[str, str] = {
    "equal": mark("equal"),
    "differs": mark("differs"),
    "not_recorded": mark("not recorded"),
}
SIGN: Mapping[str, str] = {"equal": "=", "differs": "≠", "not_recorded": "·"}
SIZE: Mapping[str, str] = {"rounding": mark("rounding-level"), "gross": mark("gross")}
CONFIDENCE: Mapping[Confidence, str] = {
    "observed": mark("the recorded runs show it"),
    "confirmed": mark("a control removes the difference"),
    "suspected": mark("a rule fits, the runs do not show it"),
}
MEANS: Mapping[RungName, str] = {
    "environment": mark("interpreter, packages, devices and variables"),
    "files and arguments": mark("what the runs read, and what run 1 left for run 2"),
    "hyper-parameters": mark("learning rate and the other settings of the optimizer"),
    "initial weights": mark("parameters and buffers before the first iteration"),
    "RNG state": mark("process-wide generators, where something is drawn from them"),
    "batch": mark("the samples of an iteration and their order"),
    "forward": mark("outputs of modules, in the order in which they return"),
    "loss": mark("what lies between the last module and the loss"),
    "gradient": mark("gradients, in the order of the backward pass"),
    "reduced gradient": mark("gradients after they were combined over ranks"),
    "update": mark("weights and optimizer state after the update"),
    "later": mark("iterations after those that were recorded in full"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A rung as a row: what is printable in each column.

    For programs `kind` is its status (`equal`, `differs`, `not-recorded`) and `rung` its name.
    `facts` are (name, value) pairs of a rung that differs.
    """

    kind: str
    rung: RungName
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
    """Return the one sentence that says where the runs diverge; empty without a ladder."""
    if check.lead is None:
        return ""
    return line(check.lead.sentence)


def replayed(check: Check) -> str:
    """Return what `replay.py` runs, beside its name; empty where there is no such file."""
    if check.ladder is None or check.ladder.replay is None:
        return ""
    inputs = tr("equal inputs")
    if check.ladder.replay.values:
        inputs = tr("inputs as recorded")
    return tr(
        "runs `{name}` alone with {inputs}, and compares its results",
        name=line(check.ladder.replay.name),
        inputs=inputs,
    )


def rows(ladder: Ladder) -> tuple[Row, ...]:
    """Return a row for each rung, in ladder order."""
    return tuple(_row(rung, ladder) for rung in ladder.rungs)


def _row(rung: Rung, ladder: Ladder) -> Row:
    row = Row(
        kind=rung.status.replace("_", "-"),
        rung=rung.rung,
        name=tr(rung.rung),
        means=tr(MEANS.get(rung.rung, "")),
        status=tr(STATUS[rung.status]),
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
        when = tr("iteration {iteration:,}", iteration=rung.iteration)
    return joined(tr(", "), line(rung.place or ""), when, _ranks(rung), _size(rung))


def _size(rung: Rung) -> str:
    return tr(SIZE.get(rung.size or "", ""))


def _ranks(rung: Rung) -> str:
    if not rung.iterations:
        return ""
    same = [rank for rank, iteration in rung.iterations.items() if iteration == rung.iteration]
    return named(same or [rung.rank or 0])


def _facts(rung: Rung) -> list[tuple[str, str]]:
    apart = ""
    if rung.relative_difference is not None:
        apart = tr(
            "about {difference} relative",
            difference=number(rung.relative_difference),
        )
    named = [
        (tr("place"), line(rung.place or "")),
        (tr("made by"), line(rung.culprit or "")),
        (tr("iteration"), _whole(rung.iteration)),
        (tr("rank"), _whole(rung.rank)),
        (tr("difference"), joined(tr(", "), _size(rung), apart)),
    ]
    return [(name, value) for name, value in named if value]


def _whole(number: int | None) -> str:
    if number is None:
        return ""
    return f"{number:,}"


def evidence(check: Check) -> str:
    """Return what the ladder was read from: `the runs of the check, recorded at level module, and
    two more runs, recorded at level op`.
    """
    own = [pair for pair in check.record.deeper if pair.of_check]
    more = [pair for pair in check.record.deeper if not pair.of_check]
    sources = [tr("{runs}, recorded at level module", runs=_own_runs(check)) for _ in own]
    if more:
        levels = language.joined(tr(" and "), map(_level, more))
        sources.append(
            tr(
                "{runs}, recorded at {levels}",
                runs=_deeper_runs(check, len(more)),
                levels=levels,
            )
        )
    if not sources:
        return ""
    return tr("Read from {sources}.", sources=language.joined(tr(", and from "), sources))


def _own_runs(check: Check) -> str:
    if check.record.compared:
        return tr("the runs of both sides")
    return tr("the runs of the check")


def _deeper_runs(check: Check, pairs: int) -> str:
    if check.record.compared:
        return form(pairs, "one run of each side", "{number} runs of each side", number=pairs)
    return form(pairs, "two more runs", "{number} more runs", number=2 * pairs)


def _level(pair: DeeperPair) -> str:
    said = tr("level {level}", level=pair.level)
    if pair.inside:
        said += tr(" inside {inside}", inside=line(pair.inside))
    if pair.begin > 1:
        said += tr(" from iteration {begin:,} on", begin=pair.begin)
    return said


def origin(source: SourceLine | None) -> str:
    """`train.py:12`; empty where there is none."""
    if source is None:
        return ""
    return f"{line(source.file)}:{source.line}"


def cause_title(cause: Cause) -> str:
    """`R101 Dropout without a seed (observed)`."""
    return tr(
        "{code} {title} ({confidence})",
        code=line(cause.code),
        title=line(cause.title),
        confidence=tr(cause.confidence),
    )


def fix(cause: Cause) -> str:
    """Return the fix, printable, its line breaks and indents kept."""
    return printable(cause.fix).expandtabs(4).strip("\n").rstrip()


def is_code(text: str) -> bool:
    """Return whether a fix is to be pasted, or is a sentence to be read."""
    sentence = text.endswith("。") or (" " in text and text.endswith((".", "!")))
    return "\n" in text or not sentence


def summary(check: Check, *, every: bool = True) -> list[str]:
    """Return a few plain lines: where the runs diverge, with `every` rung, and the causes."""
    if check.ladder is None:
        return []
    found = []
    first = lead(check)
    if first:
        found.append(tr("first difference: {first}", first=first))
    shown = (row for row in rows(check.ladder) if every or row.first)
    found += [
        joined(tr(", "), tr("  {name}: {status}", name=row.name, status=row.status), row.where)
        for row in shown
    ]
    causes = ((cause_title(cause), origin(cause.source)) for cause in check.causes)
    found += [joined(tr(", "), tr("cause: {title}", title=title), place) for title, place in causes]
    return found
