"""Two recordings that were made apart: what each is, and the drift between them, for every kind of
report.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from reprocheck.language import count, joined, mark, sentences, tr
from reprocheck.model import (
    Between,
    Check,
    Drift,
    EnvironmentDifference,
    Noise,
    Side,
    SourceDifference,
)
from reprocheck.report.json_parts import attributes
from reprocheck.report.text import fact, line, moment, number, printable

MOST_FACTS = 8
EXPECTS = {
    "nothing": mark("expect no difference."),
    "rounding": mark("expect differences at rounding level."),
    "anything": mark("expect any difference."),
}


def sides(check: Check) -> tuple[tuple[str, str], ...]:
    """(`run 1`, what it is) for both sides."""
    return tuple(
        (tr("run {number}", number=number), _side(side))
        for number, side in enumerate(check.record.compared, start=1)
    )


def _side(side: Side) -> str:
    by = tr("by reprocheck {version}", version=line(side.reprocheck_version))
    runs = count(len(side.runs), "run")
    return tr(
        "{name}: recorded {moment} {by}, {runs}",
        name=line(side.name),
        moment=moment(side.started),
        by=by,
        runs=runs,
    )


def _between(check: Check) -> Between:
    return check.between or Between(sentence="")


def drift(check: Check) -> tuple[tuple[str, str, str], ...]:
    """Return a row for each class of differences of the environment: the class, what differs, what
    is to be expected of it.
    """
    return tuple(
        (tr(one.title), _facts(one, check), sentences(tr(EXPECTS[one.expects]), tr(one.why)))
        for one in _between(check).drift
    )


def _facts(drift: Drift, check: Check) -> str:
    shown = [_fact(one, check) for one in drift.differences[:MOST_FACTS]]
    more = len(drift.differences) - len(shown)
    if more > 0:
        shown.append(tr("and {number} more", number=more))
    return joined(tr("; "), shown)


def _fact(one: EnvironmentDifference, check: Check) -> str:
    """Return a fact on both sides; of a file of the user's, its first line that differs."""
    known = {f"source.{source.file}": source for source in _between(check).sources}
    source = known.get(one.key)
    if source is not None:
        return _of_source(source)
    return f"{line(one.key)}: {fact(one.reference)} → {fact(one.value)}"


def _of_source(source: SourceDifference) -> str:
    name = line(source.file)
    if source.only_in is not None:
        return tr("{name}: on side {only_in} alone", name=name, only_in=source.only_in)
    if source.same_code:
        return tr("{name}: comments or layout alone", name=name)
    pair = next(iter(source.changed), None)
    if pair is None or pair.first is None or pair.second is None:
        return tr("{name}: lines differ", name=name)
    return f"{name}:{pair.first.line}: {line(pair.first.text)} → {line(pair.second.text)}"


def diffs(check: Check) -> tuple[tuple[str, str], ...]:
    """(file, unified diff) of the user's files that are not the same on both sides."""
    return tuple((line(one.file), printable(one.diff)) for one in _between(check).sources)


def noise(check: Check) -> tuple[str, ...]:
    """Return a sentence for each side that was run more than once."""
    return tuple(_noise(check, one) for one in _between(check).noise)


def _noise(check: Check, noise: Noise) -> str:
    name = line(check.record.compared[noise.side - 1].name)
    if noise.equal:
        return tr("The {runs} runs of {name} agree in every bit.", runs=noise.runs, name=name)
    if noise.equal is None:
        return tr("The {runs} runs of {name} cannot be compared.", runs=noise.runs, name=name)
    said = tr("The {runs} runs of {name} differ among themselves", runs=noise.runs, name=name)
    if noise.largest is not None:
        said += tr(", by up to {largest} in a checked loss", largest=number(noise.largest))
    return tr("{sentence}.", sentence=said)


def statement(check: Check) -> str:
    """Return what the number of runs says; of two recordings, how often each was run."""
    if check.between is None:
        return check.verdict.outcomes.statement
    said = sentences(*noise(check))
    unknown = tr(
        "Each side is one run: how much its own runs differ is not known."
        " Record with `--runs 3` to see it."
    )
    return said or unknown


def next_command(check: Check) -> tuple[str, str]:
    """(why, command) to type next."""
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


def summary(check: Check) -> Iterator[str]:
    """Yield lines of plain text."""
    if check.between is not None:
        yield check.between.sentence
        yield from (f"{title}: {facts}" for title, facts, _ in drift(check))


def document(check: Check) -> dict[str, object] | None:
    """Return the part `compared` of report.json; None where the runs were made here, one after the
    other.
    """
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
