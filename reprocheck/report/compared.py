"""Two recordings that were made apart: what each is, and the drift between them, for every kind of report."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from reprocheck.model import Check, Drift, Noise, Side
from reprocheck.report.text import count, fact, line, moment, number

MOST_FACTS = 8
EXPECTS = {
    "nothing": "nothing follows from it",
    "rounding": "differences of rounding level are to be expected",
    "anything": "any difference can follow",
}


def sides(check: Check) -> tuple[tuple[str, str], ...]:
    """(`run 1`, what it is) for both sides."""
    return tuple((f"run {number}", _side(side)) for number, side in enumerate(check.record.compared, start=1))


def _side(side: Side) -> str:
    by = f"by reprocheck {line(side.reprocheck_version)}"
    return f"{line(side.name)}: recorded {moment(side.started)} {by}, {count(len(side.runs), 'run')}"


def drift(check: Check) -> tuple[tuple[str, str, str], ...]:
    """A row for each class of differences of the environment: the class, what differs, what is to be expected of it."""
    found = check.between.drift if check.between else ()
    return tuple((one.title, _facts(one), f"{EXPECTS[one.expects]}. {one.why}") for one in found)


def _facts(drift: Drift) -> str:
    shown = [f"{line(one.key)}: {fact(one.reference)} → {fact(one.value)}" for one in drift.differences[:MOST_FACTS]]
    more = len(drift.differences) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


def noise(check: Check) -> tuple[str, ...]:
    """A sentence for each side that was run more than once."""
    return tuple(_noise(check, one) for one in (check.between.noise if check.between else ()))


def _noise(check: Check, noise: Noise) -> str:
    name = line(check.record.compared[noise.side - 1].name)
    if noise.equal:
        return f"The {noise.runs} runs of {name} agree in every bit."
    if noise.equal is None:
        return f"The {noise.runs} runs of {name} cannot be compared."
    by = f", by up to {number(noise.largest)} in a checked loss" if noise.largest is not None else ""
    return f"The {noise.runs} runs of {name} differ among themselves{by}."


def statement(check: Check) -> str:
    """What the sample says: of two recordings, how often each was run."""
    said = " ".join(noise(check))
    return (
        said or "Each side is one run: how much runs of one side differ among themselves is not known. `--runs 3` when recording shows it."
    )


def next_command(check: Check) -> tuple[str, str]:
    """(why, command) to type next."""
    if not check.between or not check.between.noise:
        words = check.record.compared[0].entry_point.words
        said = "Record each side several times, to know the noise from run to run:"
        return said, line(shlex.join(["reprocheck", "record", "--runs", "3", "-o", "run.zip", *words]))
    if check.causes:
        return "See what the cause means, and other ways to repair it:", f"reprocheck rules {line(check.causes[0].code)}"
    return "See the reports of both sides drawn again:", "reprocheck report reports/latest"


def summary(check: Check) -> Iterator[str]:
    """Lines of plain text."""
    if check.between is not None:
        yield check.between.sentence
        yield from (f"{title}: {facts}" for title, facts, _ in drift(check))


def document(check: Check) -> dict[str, object] | None:
    """The part `compared` of report.json; None where the runs were made here, one after the other."""
    between = check.between
    if between is None:
        return None
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
            for number, side in enumerate(check.record.compared, start=1)
        ],
        "drift": [
            {
                "class": one.name,
                "title": one.title,
                "expects": one.expects,
                "why": one.why,
                "reference": one.reference or None,
                "keys": [difference.key for difference in one.differences],
            }
            for one in between.drift
        ],
        "noise": [{"run": one.side, "runs": one.runs, "equal": one.equal, "largest": one.largest} for one in between.noise],
    }
