"""Report two recordings that were made apart.

What each is, and the drift between them, for every kind of report.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from reprocheck.language import count, tr
from reprocheck.model import (
    Between,
    Check,
    Drift,
    EnvironmentDifference,
    Noise,
    Side,
    SourceDifference,
)
from reprocheck.report.blocks import Block, Bullets, Code, Section, Table, Text, section
from reprocheck.report.json_parts import attributes
from reprocheck.report.text import fact, line, moment, number, printable

MOST_FACTS = 8
EXPECTS = {
    "nothing": "expect no difference.",
    "rounding": "expect differences at rounding level.",
    "anything": "expect any difference.",
}


def sides(check: Check) -> tuple[tuple[str, str], ...]:
    """Return a pair for each of the two sides: `run 1`, and what the side is."""
    return tuple(
        (f"run {number}", _side(side)) for number, side in enumerate(check.record.compared, start=1)
    )


def _side(side: Side) -> str:
    runs = count(len(side.runs), "run")
    return (
        f"{line(side.name)}: recorded {moment(side.started)} by reprocheck"
        f" {line(side.reprocheck_version)}, {runs}"
    )


def _between(check: Check) -> Between:
    return check.between or Between(sentence="")


def drift(check: Check) -> tuple[tuple[str, str, str], ...]:
    """Return a row for each class of environment differences.

    The class, the facts that differ, and the effect that they can have.
    """
    return tuple(
        (one.title, _facts(one, check), f"{EXPECTS[one.expects]} {one.why}".rstrip())
        for one in _between(check).drift
    )


def _facts(drift: Drift, check: Check) -> str:
    shown = [_fact(one, check) for one in drift.differences[:MOST_FACTS]]
    more = len(drift.differences) - len(shown)
    if more > 0:
        shown.append(f"and {more} more")
    return "; ".join(shown)


def _fact(one: EnvironmentDifference, check: Check) -> str:
    """Return a fact with its values on both sides; of a user's file the first differing line."""
    known = {f"source.{source.file}": source for source in _between(check).sources}
    source = known.get(one.key)
    if source is not None:
        return _of_source(source)
    return f"{line(one.key)}: {fact(one.reference)} → {fact(one.value)}"


def _of_source(source: SourceDifference) -> str:
    name = line(source.file)
    if source.only_in is not None:
        return f"{name}: on side {source.only_in} alone"
    if source.same_code:
        return f"{name}: comments or layout alone"
    pair = next(iter(source.changed), None)
    if pair is None or pair.first is None or pair.second is None:
        return f"{name}: lines differ"
    return f"{name}:{pair.first.line}: {line(pair.first.text)} → {line(pair.second.text)}"


def diffs(check: Check) -> tuple[tuple[str, str], ...]:
    """Return (file, unified diff) for each of the user's files that differs between the sides."""
    return tuple((line(one.file), printable(one.diff)) for one in _between(check).sources)


def noise(check: Check) -> tuple[str, ...]:
    """Return a sentence for each side that was run more than once."""
    return tuple(_noise(check, one) for one in _between(check).noise)


def _noise(check: Check, noise: Noise) -> str:
    name = line(check.record.compared[noise.side - 1].name)
    runs = f"The {noise.runs} runs of {name}"
    if noise.equal:
        return f"{runs} agree in every bit."
    if noise.equal is None:
        return f"{runs} cannot be compared."
    if noise.largest is None:
        return f"{runs} differ among themselves."
    return f"{runs} differ among themselves, by up to {number(noise.largest)} in a checked loss."


def statement(check: Check) -> str:
    """Return a sentence on what the number of runs shows.

    Of two recordings, on how often each was run.
    """
    if check.between is None:
        return check.verdict.outcomes.statement
    if _between(check).noise:
        return " ".join(noise(check))
    return (
        "Each side is one run: how much its own runs differ is not known."
        " Record with `--runs 3` to see it."
    )


def next_command(check: Check) -> tuple[str, str]:
    """Return (why, command) for the command to type next."""
    if not _between(check).noise:
        words = check.record.compared[0].entry_point.words
        said = tr("Record each side several times to measure its own noise:")
        return said, line(
            shlex.join(["reprocheck", "record", "--runs", "3", "-o", "run.zip", *words])
        )
    if check.causes:
        return (
            tr("Read what the cause means and how else to fix it:"),
            f"reprocheck rules {line(check.causes[0].code)}",
        )
    return tr("See the reports of both sides drawn again:"), "reprocheck report reports/latest"


def what_was_compared(check: Check) -> Section | None:
    """Return the section on two recordings and how their environments and sources differ.

    None if this check made its runs itself.
    """
    if check.between is None:
        return None
    return section("compared", tr("What was compared"), _blocks(check, check.between))


def _blocks(check: Check, between: Between) -> Iterator[Block]:
    yield Bullets(items=tuple(f"{name} {description}" for name, description in sides(check)))
    if not between.drift:
        yield Text("The environments of both sides agree in everything that was recorded.")
    yield Table(
        title="Differences of the environment",
        heads=("class", "run 1 → run 2", "what to expect"),
        rows=drift(check),
    )
    for file, diff in diffs(check):
        yield Text(f"Source of `{file}`:")
        yield Code(text=diff, language="diff")


def summary(check: Check) -> Iterator[str]:
    """Yield lines of plain text."""
    if check.between is not None:
        yield check.between.sentence
        yield from (f"{title}: {facts}" for title, facts, _ in drift(check))


def document(check: Check) -> dict[str, object] | None:
    """Return the part `compared` of report.json; None if this check made its runs itself."""
    between = check.between
    if between is None:
        return None
    sides = enumerate(check.record.compared, start=1)
    return {
        "sentence": between.sentence,
        "sides": [
            {
                "run": number,
                "name": side.name,
                "command": side.entry_point.command,
                "started": side.started,
                "reprocheck_version": side.reprocheck_version,
                "runs": len(side.runs),
            }
            for number, side in sides
        ],
        "drift": list(map(_drift_document, between.drift)),
        "sources": [
            attributes(one, "file", "only_in", "same_code", "diff") for one in between.sources
        ],
        "noise": [
            {"run": one.side, **attributes(one, "runs", "equal", "largest")}
            for one in between.noise
        ],
    }


def _drift_document(drift: Drift) -> dict[str, object]:
    return {
        "class": drift.name,
        "title": drift.title,
        "expects": drift.expects,
        "why": drift.why,
        "reference": drift.reference or None,
        "keys": [difference.key for difference in drift.differences],
    }
