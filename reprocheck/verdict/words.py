"""The sentences of a verdict."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from math import isfinite
from operator import attrgetter

from reprocheck.language import form, replaced, tr
from reprocheck.model import Comparison, Divergence, Run, SeriesComparison

_ERROR = re.compile(r"^(?:\[rank\d+\]:\s*)?((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)\b.*)")


def number(value: float) -> str:
    """Nine digits: enough for a float32."""
    return f"{value:.9g}"


def numbers(a: float, b: float) -> tuple[str, str]:
    """Return both losses with as many digits as it takes to tell them apart."""
    if a != b and number(a) == number(b):
        return repr(a), repr(b)
    return number(a), number(b)


RANKS = "RANKS"
"""Stands in a sentence for the ranks of which it is said."""
_PHRASES = (
    f" ({RANKS})",
    f", {RANKS}",
    f" of {RANKS}",
    f"（{RANKS}）",
    f"，{RANKS}",
    f"{RANKS} 的",
)
"""The forms in which a sentence names them, also in Chinese: without its phrase it still reads
well.
"""


def of_ranks(text: str, ranks: str, *, several: bool) -> str:
    """Return a sentence with the ranks of which it is said.

    Where all runs have one rank alone, it names none.
    """
    if several:
        return replaced(text, RANKS, ranks)
    for phrase in _PHRASES:
        text = replaced(text, phrase, "")
    return text


def several_ranks(runs: Sequence[Run]) -> bool:
    """Return whether the runs have more than one rank."""
    return len({trace.rank for run in runs for trace in run.traces}) > 1


def of_series(series: Sequence[SeriesComparison]) -> str:
    """Return what a pass adds of the numbers beside the losses; "" where none were reported."""
    compared = list(filter(attrgetter("compared"), series))
    differing = unequal(series)
    if not compared:
        return ""
    if not differing:
        return form(
            len(compared),
            "; {compared} series beside them agrees in every bit, too",
            "; {compared} series beside them agree in every bit, too",
            compared=len(compared),
        )
    first = differing[0]
    place = first.first_unequal
    assert place is not None, "chosen by it"
    how = tr("within the tolerance")
    if first.state == "differs":
        how = tr("beyond the tolerance")
    said = form(
        len(differing),
        "{differing} of {compared} series beside them differs",
        "{differing} of {compared} series beside them differ",
        differing=len(differing),
        compared=len(compared),
    )
    return tr(
        "; {said}: {name} {how} from {where} on ({sizes})",
        said=said,
        name=first.name,
        how=how,
        where=place.where,
        sizes=place.sizes,
    )


def unequal(series: Sequence[SeriesComparison]) -> list[SeriesComparison]:
    """Return the series that are not equal in every bit, and are no clock's: those beyond the
    tolerance first.
    """
    return sorted(filter(attrgetter("unequal"), series), key=attrgetter("state"))


def place(row: Comparison, ranks: int) -> str:
    """`iteration 2`, with the loss and the rank where there are several."""
    said = tr("iteration {iteration}", iteration=row.iteration)
    if row.loss_index:
        said += tr(", loss {loss_index}", loss_index=row.loss_index + 1)
    if ranks > 1:
        said += tr(", rank {rank}", rank=row.rank)
    return said


def difference(row: Comparison, ranks: int) -> str:
    """Return the two losses, how far apart they are and what was allowed."""
    if row.value is None or row.reference is None:
        return row.detail
    value, reference = numbers(row.value, row.reference)
    sizes = tr(
        "run {run} has loss {value} where run 1 has {reference}",
        run=row.run,
        value=value,
        reference=reference,
    )
    if value == reference and row.detail:
        sizes = row.detail
    if row.max_difference is None:
        apart = tr("finite in one run only")
        if all(map(isfinite, (row.value, row.reference))):
            apart = tr("too far apart for a number")
        return tr("in {place}, {sizes}: {apart}", place=place(row, ranks), sizes=sizes, apart=apart)
    return tr(
        "in {place}, {sizes}, a difference of {max_difference:.3g} where {allowed:.3g} is allowed",
        place=place(row, ranks),
        sizes=sizes,
        max_difference=row.max_difference,
        allowed=row.limit,
    )


def reached(iteration: int, *, unfinished: bool) -> str:
    """Return `in iteration 5` where it was under way, `after iteration 4` where that had ended;
    empty where none was recorded.
    """
    if not iteration:
        return ""
    if unfinished:
        return tr("in iteration {iteration}", iteration=iteration)
    return tr("after iteration {iteration}", iteration=iteration)


def behind(detail: str) -> str:
    """Return a part of a sentence that is added to it; empty where it is."""
    return detail and tr("; {detail}", detail=detail)


def later(divergence: Divergence) -> str:
    """Return where runs diverge whose checks pass: the first loss outside the tolerance."""
    if divergence.value is None or divergence.reference is None:
        return tr("then the runs diverge: {detail}", detail=divergence.detail)
    value, reference = numbers(divergence.value, divergence.reference)
    return tr(
        "from iteration {iteration} on the runs diverge: run {run} has loss"
        " {value} where run 1 has {reference}",
        iteration=divergence.iteration,
        run=divergence.run,
        value=value,
        reference=reference,
    )


def ending(run: Run, where: str = "", *, several: bool = False) -> str:
    """Return how a run ended, such as `ended in iteration 5 with ValueError: …`; `several`: of
    several runs.
    """
    record = run.record
    place = where and f" {where}"
    runs = 1 + several
    if record.ended == "timed_out":
        return form(
            runs,
            "was stopped{place} by --timeout after {seconds:.0f} s",
            "were stopped{place} by --timeout after {seconds:.0f} s",
            place=place,
            seconds=record.seconds,
        )
    if record.ended == "interrupted":
        return form(runs, "was interrupted{place}", "were interrupted{place}", place=place)
    if record.exit_status is None:
        return tr("ended{place} in an unknown way", place=place)
    if record.exit_status < 0:
        return form(
            runs,
            "was ended{place} by {signal}",
            "were ended{place} by {signal}",
            place=place,
            signal=_signal(-record.exit_status),
        )
    # argparse and click exit with 2, and the reason is their last line
    refusal = ""
    if record.exit_status == 2 and "error: " in run.last_words.lower():
        refusal = f" ({run.last_words[:200]})"
    how = _error(run) or tr(
        "exit status {exit_status}{refusal}", exit_status=record.exit_status, refusal=refusal
    )
    return tr("ended{place} with {how}", place=place, how=how)


def _error(run: Run) -> str:
    """Return the exception that ended the run. What its log names besides may have been caught."""
    errors = map(attrgetter("error"), run.processes)
    named: str = next(filter(None, errors), "")
    if named:
        return named
    ended = {process.ended for process in run.processes}
    if ended == {True}:
        return ""
    return last_error(run.stderr_tail)


def last_error(stderr: str) -> str:
    """Return the last line that names an exception; empty where none does."""
    from_the_end = map(str.strip, reversed(stderr.splitlines()))
    found = next(filter(None, map(_ERROR.match, from_the_end)), None)
    if found is None:
        return ""
    return found[1][:200]


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return tr("signal {number}", number=number)
