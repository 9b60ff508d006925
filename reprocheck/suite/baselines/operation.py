"""The first operation in which a training differs from the last green night: its deeper recording
and that of the night, compared as `reprocheck compare` compares two recordings.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reprocheck.language import shortlist
from reprocheck.suite import check_report
from reprocheck.suite.check_report import CheckReport, Rung
from reprocheck.suite.surface import compare_recordings

_AROUND = ("environment", "files and arguments")
"""Rungs that say what was changed around the training, and not where in it the numbers differ."""
MOST_AROUND = 3
"""Of these, how many a sentence names."""
_SIZE = {"rounding": "rounding-level", "gross": "gross"}
_AGREES = (
    "The deeper recording agrees with that of {since} in everything that both hold: what differs"
    " lies in iterations that it does not reach, or comes and goes from run to run."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """The first difference of two deeper recordings, in the order of the ladder.

    rung      the rung of the ladder that differs; "" if none differs in what both recorded
    place     the module, parameter, loader or hyper-parameter that differs
    culprit   the operation that made the difference; "" if that is not known
    relative  ||a - b|| / ||b||, estimated; None if it cannot be estimated
    around    the places that differ on the rungs environment, and files and arguments, and facts of
              the environment that may change numbers
    sentence  the difference as a sentence for people
    report    the folder of the comparison, with its report
    """

    rung: str = ""
    place: str = ""
    culprit: str = ""
    iteration: int | None = None
    rank: int | None = None
    size: str | None = None
    relative: float | None = None
    around: tuple[str, ...] = ()
    sentence: str = ""
    report: Path | None = None


def between(kept: Path, now: Path, folder: Path, *, names: tuple[str, str]) -> Operation:
    """Return the first operation in which two deeper recordings of a target differ.

    The report of the comparison is written into a new folder below `folder`. Raises ReportError.
    """
    since, _ = names
    place = compare_recordings(kept, now, folder, names)
    report = check_report.read(place, CheckReport)
    if report.ladder is None:
        sentence = f"The deeper recordings of {since} and now cannot be compared."
        return Operation(sentence=sentence, report=place)
    differing = [rung for rung in report.ladder.rungs if rung.status == "differs"]
    around = _around(report, differing)
    changed = ""
    if around:
        changed = f" Around it {shortlist(around, MOST_AROUND)} changed."
    first = next((rung for rung in differing if rung.rung not in _AROUND), None)
    if first is None:
        sentence = f"{_AGREES.format(since=since)}{changed}"
        return Operation(around=around, sentence=sentence, report=place)
    return Operation(
        rung=first.rung,
        place=first.place or "",
        culprit=first.culprit or "",
        iteration=first.iteration,
        rank=first.rank,
        size=first.size,
        relative=first.relative_difference,
        around=around,
        sentence=f"{_sentence(first, since)}{changed}",
        report=place,
    )


def _around(report: CheckReport, differing: list[Rung]) -> tuple[str, ...]:
    """Return the other differences: files, arguments and environment facts that may change numbers.
    A commit is not listed, because the files that it changed are.
    """
    names = [rung.place or rung.rung for rung in differing if rung.rung in _AROUND]
    for drift in report.compared.drift if report.compared else ():
        if drift.expects == "nothing":
            continue
        facts = (key for key in drift.keys if not key.startswith("git."))
        names += (key.removeprefix("source.") for key in facts)
    return tuple(dict.fromkeys(names))


def _sentence(rung: Rung, since: str) -> str:
    what = rung.culprit or rung.place or f"the {rung.rung}"
    parts = [f"First to differ from {since}: {what}"]
    if rung.culprit and rung.place and rung.place not in rung.culprit:
        parts.append(f"seen at {rung.place}")
    if rung.iteration is not None:
        parts.append(f"in iteration {rung.iteration}")
    parts.append(f"on the rung {rung.rung}")
    if rung.size is not None:
        relative = ""
        if rung.relative_difference is not None:
            relative = f" ({rung.relative_difference:.2g} relative)"
        parts.append(f"{_SIZE[rung.size]}{relative}")
    return f"{', '.join(parts)}."
