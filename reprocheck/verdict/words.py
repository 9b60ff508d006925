"""The sentences of a verdict."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from math import isfinite
from operator import attrgetter

from reprocheck.model import Comparison, Divergence, Run, SeriesComparison

_ERROR = re.compile(r"^(?:\[rank\d+\]:\s*)?((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)\b.*)")


def number(value: float) -> str:
    """Nine digits: enough for a float32."""
    return f"{value:.9g}"


def numbers(a: float, b: float) -> tuple[str, str]:
    """Both losses with as many digits as it takes to tell them apart."""
    if a != b and number(a) == number(b):
        return repr(a), repr(b)
    return number(a), number(b)


_PLURAL = {"loss": "losses", "process": "processes"}

RANKS = "RANKS"
"""Stands in a sentence for the ranks of which it is said."""
_PHRASES = (f" ({RANKS})", f", {RANKS}", f" of {RANKS}")
"""The forms in which a sentence names them: without its phrase it still reads well."""


def of_ranks(text: str, ranks: str, *, several: bool) -> str:
    """A sentence with the ranks of which it is said.

    Where all runs have one rank alone, it names none.
    """
    if several:
        return text.replace(RANKS, ranks)
    for phrase in _PHRASES:
        text = text.replace(phrase, "")
    return text


def several_ranks(runs: Sequence[Run]) -> bool:
    """Whether the runs have more than one rank."""
    return len({trace.rank for run in runs for trace in run.traces}) > 1


_AGREES, _DIFFERS = {1: "agrees"}, {1: "differs"}
"""A number of series -> the verb that is said of so many, where it is not that of several."""


def of_series(series: Sequence[SeriesComparison]) -> str:
    """What a pass adds of the numbers beside the losses; "" where none were reported."""
    compared = list(filter(attrgetter("compared"), series))
    differing = unequal(series)
    if not compared:
        return ""
    if not differing:
        agree = _AGREES.get(len(compared), "agree")
        return f"; {len(compared)} series beside them {agree} in every bit, too"
    first = differing[0]
    place = first.first_unequal
    assert place is not None, "chosen by it"
    how = "within the tolerance"
    if first.state == "differs":
        how = "beyond the tolerance"
    differ = _DIFFERS.get(len(differing), "differ")
    said = f"{len(differing)} of {len(compared)} series beside them {differ}"
    return f"; {said}: {first.name} {how} from {place.where} on ({place.sizes})"


def unequal(series: Sequence[SeriesComparison]) -> list[SeriesComparison]:
    """The series that are not equal in every bit, and are no clock's: those beyond the tolerance
    first.
    """
    return sorted(filter(attrgetter("unequal"), series), key=attrgetter("state"))


def place(row: Comparison, ranks: int) -> str:
    """`iteration 2`, with the loss and the rank where there are several."""
    said = f"iteration {row.iteration}"
    if row.loss_index:
        said += f", loss {row.loss_index + 1}"
    if ranks > 1:
        said += f", rank {row.rank}"
    return said


def difference(row: Comparison, ranks: int) -> str:
    """The two losses, how far apart they are and what was allowed."""
    if row.value is None or row.reference is None:
        return row.detail
    value, reference = numbers(row.value, row.reference)
    sizes = f"run {row.run} has loss {value} where run 1 has {reference}"
    if value == reference and row.detail:
        sizes = row.detail
    if row.max_difference is None:
        apart = "finite in one run only"
        if all(map(isfinite, (row.value, row.reference))):
            apart = "too far apart for a number"
        return f"in {place(row, ranks)}, {sizes}: {apart}"
    allowed = row.allowed or 0.0
    return (
        f"in {place(row, ranks)}, {sizes}, a difference of {row.max_difference:.3g} where"
        f" {allowed:.3g} is allowed"
    )


def count(number: int, noun: str) -> str:
    """`1 iteration`, `468 iterations`, `2 losses`."""
    if number == 1:
        return f"{number} {noun}"
    plural = _PLURAL.get(noun, f"{noun}s")
    return f"{number} {plural}"


def was(number: int) -> str:
    """`was` of one, `were` of several."""
    return {1: "was"}.get(number, "were")


def reached(iteration: int, *, unfinished: bool) -> str:
    """`in iteration 5` where it was under way, `after iteration 4` where that had ended; empty
    where none was recorded.
    """
    if not iteration:
        return ""
    preposition = {True: "in", False: "after"}[unfinished]
    return f"{preposition} iteration {iteration}"


def behind(detail: str) -> str:
    """A part of a sentence that is added to it; empty where it is."""
    return detail and f"; {detail}"


def later(divergence: Divergence) -> str:
    """Where runs diverge whose checks pass: the first loss outside the tolerance."""
    if divergence.value is None or divergence.reference is None:
        return f"then the runs diverge: {divergence.detail}"
    value, reference = numbers(divergence.value, divergence.reference)
    return (
        f"from iteration {divergence.iteration} on the runs diverge: run {divergence.run} has loss"
        f" {value} where run 1 has {reference}"
    )


def ending(run: Run, where: str = "", *, several: bool = False) -> str:
    """How a run ended, such as `ended in iteration 5 with ValueError: …`; `several`: of several
    runs.
    """
    record = run.record
    place = where and f" {where}"
    was = {True: "were", False: "was"}[several]
    if record.ended == "timed_out":
        return f"{was} stopped{place} by --timeout after {record.seconds:.0f} s"
    if record.ended == "interrupted":
        return f"{was} interrupted{place}"
    if record.exit_status is None:
        return f"ended{place} in an unknown way"
    if record.exit_status < 0:
        return f"{was} ended{place} by {_signal(-record.exit_status)}"
    how = _error(run) or f"exit status {record.exit_status}{_refusal(run)}"
    return f"ended{place} with {how}"


def _refusal(run: Run) -> str:
    """What a parser of command lines says of one that it refuses: argparse and click exit with 2,
    and the reason is their last line.
    """
    last = run.stderr_tail.strip().rpartition("\n")[2]
    if run.record.exit_status != 2 or "error: " not in last.lower():
        return ""
    return f" ({last.strip()[:200]})"


def _error(run: Run) -> str:
    """The exception that ended the run. What its log names besides may have been caught."""
    errors = map(attrgetter("error"), run.processes)
    named: str = next(filter(None, errors), "")
    if named:
        return named
    ended = {process.ended for process in run.processes}
    if ended == {True}:
        return ""
    return last_error(run.stderr_tail)


def last_error(stderr: str) -> str:
    """The last line that names an exception; empty where none does."""
    from_the_end = map(str.strip, reversed(stderr.splitlines()))
    found = next(filter(None, map(_ERROR.match, from_the_end)), None)
    if found is None:
        return ""
    return found[1][:200]


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
