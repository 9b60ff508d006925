"""The ladder in rows and words, for the page, the Markdown and the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from reprocheck.language import mark, tr
from reprocheck.language.ranks import named
from reprocheck.model import Check, DeeperPair, Ladder, Rung, RungName
from reprocheck.report.blocks import Block, Fact, FileLink, RungRow, Rungs, Section, Text, section
from reprocheck.report.text import joined, line, number

STATUS: Mapping[str, str] = {
    "equal": mark("equal"),
    "differs": mark("differs"),
    "not_recorded": mark("not recorded"),
}
REPLAY = "replay.py"
SIGN: Mapping[str, str] = {"equal": "=", "differs": "≠", "not_recorded": "·"}
SIZE: Mapping[str, str] = {"rounding": "rounding-level", "gross": "gross"}
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


def lead(check: Check) -> str:
    """Return the one sentence that says at which point the runs diverge; empty without a ladder."""
    if check.lead is None:
        return ""
    return line(check.lead.sentence)


def ladder(check: Check) -> Section | None:
    """Return the section of the ladder; None if the check has no ladder."""
    if check.ladder is None:
        return None
    return section("ladder", tr("Where the runs diverge"), _blocks(check, check.ladder))


def _blocks(check: Check, ladder: Ladder) -> Iterator[Block]:
    yield Text(
        "The rungs are in execution order. Look at the first that differs; those below may only"
        " follow from it.",
        "hint",
    )
    yield Rungs(title=tr("Where the runs diverge"), rows=rows_of(check))
    if evidence(check):
        yield Text(evidence(check))
    if replayed(check):
        yield FileLink(name=REPLAY, does=replayed(check), command=f"python {REPLAY}")
    if not ladder.came_back:
        yield Text(
            "The runs recorded again agree, so the difference does not appear every time:"
            " `--runs 5` shows how often.",
            "note",
        )


def rows_of(check: Check) -> tuple[RungRow, ...]:
    """Return a row for each rung, with the cause in the row that it explains.

    None without a ladder.
    """
    if check.ladder is None:
        return ()
    every = rows(check.ladder)
    leading = check.leading
    if leading is None or not check.causes:
        return every
    best = check.causes[0]
    cause = f"{line(best.code)} {line(best.title)}"
    return tuple(replace(row, cause=cause) if row.rung == leading.rung else row for row in every)


def replayed(check: Check) -> str:
    """Return the operation that `replay.py` runs, for its link; empty if there is no such file."""
    if check.ladder is None or check.ladder.replay is None:
        return ""
    inputs = "equal inputs"
    if check.ladder.replay.values:
        inputs = "inputs as recorded"
    name = line(check.ladder.replay.name)
    return f"runs `{name}` alone with {inputs}, and compares its results"


def rows(ladder: Ladder) -> tuple[RungRow, ...]:
    """Return a row for each rung, in ladder order."""
    return tuple(_row(rung, ladder) for rung in ladder.rungs)


def _row(rung: Rung, ladder: Ladder) -> RungRow:
    row = RungRow(
        kind=rung.status.replace("_", "-"),
        rung=rung.rung,
        name=tr(rung.rung),
        means=MEANS.get(rung.rung, ""),
        status=tr(STATUS[rung.status]),
        sign=SIGN[rung.status],
        where="",
        first=rung.rung == ladder.first,
        differs=False,
        detail=line(rung.detail),
    )
    if rung.status != "differs":
        return row
    return replace(
        row, differs=True, where=where(rung), facts=tuple(_facts(rung)), source=rung.source
    )


def where(rung: Rung) -> str:
    """Return the place of a difference: `block.drop, iteration 1, gross`.

    Of several ranks, with those that differ there.
    """
    iteration = f"iteration {rung.iteration:,}" if rung.iteration else ""
    size = SIZE.get(rung.size or "", "")
    return joined(", ", line(rung.place or ""), iteration, _ranks(rung), size)


def _ranks(rung: Rung) -> str:
    if not rung.iterations:
        return ""
    same = [rank for rank, iteration in rung.iterations.items() if iteration == rung.iteration]
    return named(same or [rung.rank or 0])


def _facts(rung: Rung) -> Iterator[Fact]:
    """Yield the facts of a rung that differs."""
    size = SIZE.get(rung.size or "", "")
    relative = ""
    if rung.relative_difference is not None:
        relative = f"about {number(rung.relative_difference)} relative"
    iteration = "" if rung.iteration is None else f"{rung.iteration:,}"
    rank = "" if rung.rank is None else f"{rung.rank:,}"
    facts = {
        "place": line(rung.place or ""),
        "made by": line(rung.culprit or ""),
        "iteration": iteration,
        "rank": rank,
        "difference": joined(", ", size, relative),
    }
    yield from (Fact(name, value) for name, value in facts.items() if value)


def evidence(check: Check) -> str:
    """Return which runs the ladder was made from.

    `the runs of the check, recorded at level module, and two more runs, recorded at level op`
    """
    two_sides = bool(check.record.compared)
    own_runs = "the runs of both sides" if two_sides else "the runs of the check"
    own = [pair for pair in check.record.deeper if pair.of_check]
    further = [pair for pair in check.record.deeper if not pair.of_check]
    sources = [f"{own_runs}, recorded at level module" for _ in own]
    if further:
        levels = " and ".join(map(_level, further))
        sources.append(f"{_further_runs(two_sides, len(further))}, recorded at {levels}")
    if not sources:
        return ""
    return f"Read from {', and from '.join(sources)}."


def _further_runs(two_sides: bool, pairs: int) -> str:
    if two_sides and pairs == 1:
        return "one run of each side"
    if two_sides:
        return f"{pairs} runs of each side"
    if pairs == 1:
        return "two more runs"
    return f"{2 * pairs} more runs"


def _level(pair: DeeperPair) -> str:
    level = f"level {pair.level}"
    if pair.inside:
        level += f" inside {line(pair.inside)}"
    if pair.begin > 1:
        level += f" from iteration {pair.begin:,} on"
    return level
