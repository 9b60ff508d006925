"""Find the first operation in which a training differs from the last green night.

Its deeper recording and that of the night are compared as `reprocheck compare` compares two
recordings.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reprocheck.language import shortlist
from reprocheck.report import diffs
from reprocheck.suite import check_report
from reprocheck.suite.check_report import CheckReport, Rung
from reprocheck.suite.model import Suspect
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


MOST_LINES = 12
"""Lines of a difference of the source that are kept."""
_NEAR = 3
"""Lines of the file before and behind the changed one that are kept with it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """The earliest difference of two deeper recordings.

    first     the rung of the ladder with the earliest difference; None if none differs in what both
              recorded
    around    the places that differ on the rungs environment, and files and arguments, and facts of
              the environment that may change numbers
    sentence  the difference as a sentence for people
    report    the folder of the comparison, with its report
    source    the changed line that is the likeliest cause, as it is numbered now: `train.py:12`; ""
              if none is known
    diff      the lines around it, each behind a space, `-` or `+`
    """

    first: Rung | None = None
    around: tuple[str, ...] = ()
    sentence: str = ""
    report: Path
    source: str = ""
    diff: str = ""

    def suspect(self, root: Path) -> Suspect:
        """Return the changed line, with its report relative to the folder of the suite."""
        report = self.report.relative_to(root).as_posix()
        return Suspect(report=report, source=self.source, diff=self.diff)


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
    numeric = (rung for rung in differing if rung.rung not in _AROUND)
    # of one iteration, the first on the ladder; what was before the first iteration has no number
    first = min(numeric, key=lambda rung: rung.iteration or 0, default=None)
    said = _AGREES.format(since=since) if first is None else _sentence(first, since)
    source, diff = _changed_line(report, differing)
    return Operation(
        first=first,
        around=around,
        sentence=f"{said}{changed}",
        report=place,
        source=source,
        diff=diff,
    )


def _changed_line(report: CheckReport, differing: list[Rung]) -> tuple[str, str]:
    """Return the changed line that a cause names, and the lines around it.

    If no cause names one, the first that the ladder names; "" if there is none.
    """
    changed = {one.file: one.diff for one in report.compared.sources} if report.compared else {}
    lines = [cause.source for cause in report.causes]
    lines += [rung.source for rung in differing]
    guilty = next((line for line in lines if line is not None and line.file in changed), None)
    if guilty is None or guilty.line is None:
        return "", ""
    shown = list(diffs.lines(changed[guilty.file]))
    here = next((one for one in shown if one.sign == "-" and one.before == guilty.line), None)
    number = guilty.line if here is None else here.after
    near = [one for one in shown if abs(one.after - number) <= _NEAR][:MOST_LINES]
    return f"{guilty.file}:{number}", "\n".join(f"{one.sign}{one.text}" for one in near)


def _around(report: CheckReport, differing: list[Rung]) -> tuple[str, ...]:
    """Return the other differences, which may have changed numbers.

    They are files, arguments and environment facts. A commit is not listed, because the files that
    it changed are.
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
    if rung.operator:
        what = f"`{rung.operator}` in {what}"
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
