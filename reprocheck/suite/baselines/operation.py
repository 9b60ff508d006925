"""The first operation in which a training differs from the last green night: its deeper recording
and that of the night, compared as `reprocheck compare` compares two recordings.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from reprocheck import settings
from reprocheck.language import shortlist
from reprocheck.model import Check, Ladder, Rung, RungName, Size
from reprocheck.recording import bundle
from reprocheck.report.why import SIZE
from reprocheck.workflow import replay
from reprocheck.workflow.check import written

_AROUND: tuple[RungName, ...] = ("environment", "files and arguments")
"""Rungs that say what was changed around the training, and not where in it the numbers differ."""
MOST_AROUND = 3
"""Of these, how many a sentence names."""
_AGREES = (
    "The deeper recording agrees with that of {since} in everything that both hold: what differs"
    " lies in iterations that it does not reach, or comes and goes from run to run."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """The first difference of two deeper recordings, in the order of the ladder.

    rung      its rung; "" where none differs in what both recorded
    place     module, parameter, loader or hyper-parameter
    culprit   the operation that made the difference; "" where that is not known
    relative  ||a - b|| / ||b||, estimated; None where it cannot be
    around    the places that differ on the rungs environment, and files and arguments, and facts of
              the environment that may change numbers
    sentence  for people
    report    the folder of the comparison, with its report
    """

    rung: str = ""
    place: str = ""
    culprit: str = ""
    iteration: int | None = None
    rank: int | None = None
    size: Size | None = None
    relative: float | None = None
    around: tuple[str, ...] = ()
    sentence: str = ""
    report: Path | None = None


def between(kept: Path, now: Path, folder: Path, *, names: tuple[str, str]) -> Operation:
    """Return the first operation in which two deeper recordings of a target differ.

    The report of the comparison is written into a new folder below `folder`. Raises ReportError.
    """
    held = settings.load({"output": str(folder)}, folder, {}, files=False)
    with ExitStack() as stack:
        sides = (stack.enter_context(bundle.opened(kept)), stack.enter_context(bundle.opened(now)))
        check, report = replay.joined(sides, names, replace(held, keep=None), force=True)
    written(check, report, draw=True)
    return replace(_read(check, since=names[0]), report=report)


def _read(check: Check, *, since: str) -> Operation:
    ladder = check.ladder
    if ladder is None:
        return Operation(sentence=f"The deeper recordings of {since} and now cannot be compared.")
    around = _around(check, ladder)
    first = check.training_rung
    if first is None:
        return Operation(around=around, sentence=f"{_AGREES.format(since=since)}{_changed(around)}")
    return Operation(
        rung=first.rung,
        place=first.place or "",
        culprit=first.culprit or "",
        iteration=first.iteration,
        rank=first.rank,
        size=first.size,
        relative=first.relative_difference,
        around=around,
        sentence=_sentence(first, around, since),
    )


def _around(check: Check, ladder: Ladder) -> tuple[str, ...]:
    """Return what else is not the same: files, arguments and facts of the environment that may
    change numbers. A commit is none of them, its files are.
    """
    rungs = (rung for rung in map(ladder.rung, _AROUND) if rung.status == "differs")
    places = [rung.place or rung.rung for rung in rungs]
    drift = check.between.drift if check.between else ()
    acting = (one for one in drift if one.expects != "nothing")
    keys = (difference.key for one in acting for difference in one.differences)
    named = (key.removeprefix("source.") for key in keys if not key.startswith("git."))
    return tuple(dict.fromkeys((*places, *named)))


def _sentence(rung: Rung, around: tuple[str, ...], since: str) -> str:
    what = rung.culprit or rung.place or f"the {rung.rung}"
    parts = [f"First to differ from {since}: {what}"]
    if rung.culprit and rung.place and rung.place not in rung.culprit:
        parts.append(f"seen at {rung.place}")
    if rung.iteration is not None:
        parts.append(f"in iteration {rung.iteration}")
    parts.append(f"on the rung {rung.rung}")
    if rung.size is not None:
        parts.append(f"{SIZE[rung.size]}{_relative(rung)}")
    return f"{', '.join(parts)}.{_changed(around)}"


def _relative(rung: Rung) -> str:
    if rung.relative_difference is None:
        return ""
    return f" ({rung.relative_difference:.2g} relative)"


def _changed(around: tuple[str, ...]) -> str:
    if not around:
        return ""
    return f" Around it {shortlist(around, MOST_AROUND)} changed."
