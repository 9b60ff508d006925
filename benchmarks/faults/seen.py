"""What a fault came to: what was seen of it, what was wrong about it, and its row in the table."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.place import Ended, Place
from reprocheck.errors import ReprocheckError
from reprocheck.model import Check
from reprocheck.recording import record
from reprocheck.workflow import replay

MOST_SHOWN = 3
"""Different ends of a fault at many points that its row shows."""
LONGEST = 170
"""Characters of a message in the table."""
_NOT_SAME = [
    (re.compile(re.escape(sys.executable)), "python"),
    (re.compile(r"\x1b\[[0-9;?]*[A-Za-z]"), ""),
    (re.compile(r"/[^\s`'\"]*?/project(?=[/ :.,`])"), "PROJECT"),
    (re.compile(r"/tmp/[\w./-]*"), "TMP"),
    (re.compile(r"\b\d{8}-\d{6}(?:-\d+)?"), "DATE"),
    (re.compile(r"(?<=\(pid )\d+|(?<=process )\d+"), "N"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-\w{4}"), "NIGHT"),
]
"""What is another text in each run of the table."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What one fault at one point came to.

    end       exit status of the command, negative for a signal that ended it
    said      the first line of its error, else its verdict
    advice    what it says to do; "" where nothing is to be done
    kept      how many runs are recorded in its report folder; None where there is none
    wrong     what is wrong: a verdict that the training contradicts, a traceback, a recording that
              cannot be read
    left      what was left running
    lost      files of the user's that are not as they were
    after     the verdict of the next check, as its advice has it; "" where none was made
    """

    end: int
    said: str
    advice: str = ""
    kept: int | None = None
    wrong: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    after: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """A fault of the table.

    make    makes it in a place, at a point
    points  how many there are
    ends    the exit statuses that are right; a signal's is negative
    """

    group: str
    name: str
    make: Callable[[Path, int], Seen | None]
    points: int = 1
    ends: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A fault, and all that was seen of it. `seen` is empty where it cannot be made here."""

    fault: Fault
    seen: Sequence[Seen]

    @property
    def wrong(self) -> Iterator[str]:
        """What is wrong at any point."""
        for one in self.seen:
            yield from one.wrong
            if self.fault.ends and one.end not in self.fault.ends:
                yield f"exit {one.end}: {one.said}"

    @property
    def left(self) -> Iterator[str]:
        """What was left running after any point."""
        return (name for one in self.seen for name in one.left)

    @property
    def lost(self) -> Iterator[str]:
        """Files that were lost at any point."""
        return (name for one in self.seen for name in one.lost)

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong, left or lost."""
        return not any((*self.wrong, *self.left, *self.lost))


# ------------------------------------------------------------------------------------------ looking


def looked_at(place: Place, command: Ended, *, after: Ended | None = None) -> Seen:
    """What a command came to, whose fault is over. `after`: the check that followed its advice."""
    left = place.alive()
    wrong = [*_wrong_verdicts(place), *_tracebacks(command)]
    next_one = ""
    if after is not None:
        next_one = first_line(after)
        wrong += _wrong_after(place, after)
    if scratch := place.scratch():
        wrong.append(f"left in the folder for temporary files: {scratch}")
    return Seen(
        end=command.status,
        said=said(command),
        advice=advice(command),
        kept=_kept(place),
        wrong=tuple(wrong),
        left=left,
        lost=place.lost(),
        after=next_one,
    )


def first_line(command: Ended) -> str:
    """The error that it printed; else its verdict."""
    text = _paragraph(command.stderr, "error:")
    if text:
        return text
    lines = [line.strip() for line in command.stdout.splitlines() if line.strip()]
    return plain(lines[0]) if lines else ""


def said(command: Ended) -> str:
    """The error that it printed; else its verdict with the reason."""
    text = _paragraph(command.stderr, "error:")
    if text:
        return text
    verdict, _, reason = command.stdout.strip().partition("\n\n")[0].partition("\n")
    if not reason:
        return plain(verdict)
    return plain(f"{verdict}: {' '.join(reason.split())}")


def advice(command: Ended) -> str:
    """What it says to do: behind its error, or as the next step behind its verdict."""
    return _paragraph(command.stderr, "fix:") or _paragraph(command.stdout, "  next ")


def _paragraph(text: str, label: str) -> str:
    """What stands behind a label, with the lines that are set in below it."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith(label):
            found = [line.removeprefix(label)]
            for more in lines[number + 1 :]:
                if not more.startswith(" "):
                    break
                found.append(more)
            return plain(" ".join(" ".join(found).split()))
    return ""


def plain(text: str) -> str:
    """A text without what is another one in each run."""
    for pattern, instead in _NOT_SAME:
        text = pattern.sub(instead, text)
    return text


def _kept(place: Place) -> int | None:
    """Runs in the record of the first folder that has one."""
    for folder in place.folders():
        try:
            return len(record.read(folder).runs)
        except ReprocheckError:
            continue
    return None


def _wrong_verdicts(place: Place) -> Iterator[str]:
    """Verdicts and losses that the training contradicts, in reports and in what was recorded."""
    for folder in place.folders():
        report = folder / "report.json"
        if report.exists():
            said = json.loads(report.read_text())
            yield from _contradicted(place, said["verdict"], said["first_divergence"])
        if not (folder / "record.json").exists():
            continue
        try:
            check = replay.load(folder)
        except ReprocheckError:
            continue
        except Exception as error:
            yield f"{type(error).__name__} in reading {folder.name}: {error}"
            continue
        yield from _contradicted(place, check.verdict.verdict, check.verdict.diverges_from)
        if (
            place.training == "same"
            and not place.other_losses
            and not all(map(_is_prefix, _losses(check)))
        ):
            yield "recorded losses that are not those of the training"


def _contradicted(place: Place, verdict: str, diverges_from: int | None) -> Iterator[str]:
    """Why a verdict is wrong of this training."""
    if place.training == "varies" and verdict == "reproducible":
        yield "REPRODUCIBLE, and the training never is"
    if place.training == "same" and verdict == "not_reproducible":
        yield "NOT REPRODUCIBLE, and the training always is"
    if place.training == "same" and diverges_from is not None:
        yield f"diverges from iteration {diverges_from}, and the training never does"


def _losses(check: Check) -> Iterator[list[float]]:
    """The losses of each run and rank."""
    for run in check.runs:
        for trace in run.traces:
            yield trace.losses.values.tolist()


def _is_prefix(losses: list[float]) -> bool:
    """Whether these are the first losses of the training `same`."""
    return losses == [1.0 / step for step in range(1, len(losses) + 1)]


def _tracebacks(command: Ended) -> Iterator[str]:
    """A traceback of reprocheck itself, which no user should see."""
    if "reprocheck itself failed" in command.stderr:
        yield first_line(command)
    before_logs = command.stderr.partition("Last lines")[0]
    if "Traceback (most recent call last)" in before_logs:
        yield "a traceback on stderr"


def _wrong_after(place: Place, after: Ended) -> Iterator[str]:
    """Whether the check that follows is as if there had been no fault."""
    expected = {"same": "REPRODUCIBLE", "varies": "NOT REPRODUCIBLE (forward)"}[place.training]
    said = first_line(after)
    if said != expected:
        yield f"the next check: {said}"


# ------------------------------------------------------------------------------------------- a row


def shown(texts: Iterable[str]) -> str:
    """Texts of many points as one cell: the most frequent ones, with how often."""
    counts = Counter(text for text in texts if text)
    if not counts:
        return ""
    cells = [cell(text) for text in counts]
    if len(counts) == 1:
        return cells[0]
    most = [f"{cell(text)} (×{count})" for text, count in counts.most_common(MOST_SHOWN)]
    rest = len(counts) - len(most)
    if rest:
        most.append(f"and {rest} more")
    return "<br>".join(most)


def cell(text: str) -> str:
    """A text as a cell of a table of Markdown."""
    text = " ".join(text.split())
    shortened = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return shortened.replace("|", "\\|").replace("<", "&lt;")
