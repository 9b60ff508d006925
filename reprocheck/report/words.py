"""Say what a check found, in plain words.

The same sentences for the page, the Markdown and the terminal. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reprocheck.language import count, mark, sentences, tr
from reprocheck.model import Check, Comparison, Run, Trace, VerdictName
from reprocheck.report import causes, compared, controls, series
from reprocheck.report.command_line import again
from reprocheck.report.next_step import next_command
from reprocheck.report.text import UNKNOWN, joined, line, number, seconds, ulps

KIND_MEANS: Mapping[str, str] = {
    "forward": (
        "losses before the first update of the weights: data, initial weights and the forward pass"
    ),
    "backward": (
        "losses after the first update that changed weights: also gradients and the update"
    ),
}


def subtitle(check: Check) -> str:
    """Return the subtitle of a report: `2 runs of 10 iterations on 4 ranks`."""
    runs = count(len(check.runs), "run")
    if not check.traces:
        return f"{runs}, no iteration recorded"
    ranks = max(len(run.traces) for run in check.runs)
    on_ranks = f" on {ranks} ranks" if ranks > 1 else ""
    return f"{runs} of {_iterations(check.traces)}{on_ranks}"


def _iterations(traces: Sequence[Trace]) -> str:
    """Return the number of iterations in words: `10 iterations`, `8 to 10 iterations`."""
    lengths = [len(trace.losses) for trace in traces]
    least, most = min(lengths), max(lengths)
    if least != most:
        return f"{least:,} to {most:,} iterations"
    return count(most, "iteration")


def meaning(check: Check) -> tuple[str, ...]:
    """Return a few sentences on what the verdict says and what it does not say."""
    name = check.verdict.verdict
    if check.between is not None and name in ("reproducible", "not_reproducible"):
        return (check.between.sentence, *compared.noise(check))
    return _MEANS[name](check)


def _passed(check: Check) -> tuple[str, ...]:
    if check.verdict.bitwise.equal:
        return (_limits(check),)
    return _agreement(check), _limits(check)


def _failed(check: Check) -> tuple[str, ...]:
    if check.variations is not None and check.variations.guilty:
        return (
            tr(
                "Started as it is, and with other values of what must not matter, this training"
                " does not give the same losses: the difference is larger than the tolerance"
                " allows."
            ),
        )
    times = tr("twice")
    if len(check.runs) != 2:
        times = tr("{number:,} times", number=len(check.runs))
    failed = tr(
        "Started {times} in the same way, this training does not give the same losses: the"
        " difference is larger than the tolerance allows.",
        times=times,
    )
    if check.ladder and check.ladder.first:
        return (failed,)
    return failed, tr(_LOOK_AT[check.verdict.failed_check == "forward"])


def _script_failed(check: Check) -> tuple[str, ...]:
    return _until_the_end(check, tr("ended with an error")), tr("The end of its log is below.")


_LOOK_AT: Mapping[bool, str] = {
    True: mark(
        "The runs already differ before any weight was updated, so look at the data, the initial"
        " weights, dropout and other random draws, and the operators of the forward pass."
    ),
    False: mark(
        "The runs agree before the first update of the weights and differ after it, so look at the"
        " gradients, the optimizer, the learning rate, and what is drawn or loaded for the next"
        " iteration."
    ),
}
"""Whether the forward check failed -> where to look."""
_MEANS: Mapping[VerdictName, Callable[[Check], tuple[str, ...]]] = {
    "reproducible": _passed,
    "not_reproducible": _failed,
    "seed_without_effect": lambda check: (
        tr(
            "Trainings with several seeds give one result then, and say nothing of how much the"
            " seed matters."
        ),
    ),
    "script_failed": _script_failed,
    "timed_out": lambda check: (_until_the_end(check, tr("exceeded the timeout and was ended")),),
    "inconclusive": lambda check: (
        tr("A check could not be made: this is neither a pass nor a failure."),
    ),
}


def criterion(check: Check) -> str:
    """Return the criterion of the check with its numbers."""
    tolerance = check.record.tolerance
    return f"|loss − loss of run 1| ≤ {tolerance.atol:g} + {tolerance.rtol:g} · |loss of run 1|"


_NOTHING_COMPARED = ("not known", "there was nothing to compare")


def bitwise(check: Check) -> tuple[str, str]:
    """Return (headline, detail) of the bitwise comparison."""
    result = check.verdict.bitwise
    if result.equal is None:
        return _NOTHING_COMPARED
    if result.equal:
        return "equal", "every recorded loss, in every bit"
    if result.one_is_longer:
        missing = f"iteration {result.first_iteration:,} is missing in the other"
        return "equal as far as both go", f"one run is longer: {missing}"
    ulp = "not measurable in ULP"
    if result.ulp is not None:
        ulp = f"by {ulps(result.ulp)} ULP"
    if not result.first_iteration:
        return "different", ulp
    return "different", f"from iteration {result.first_iteration:,}, {ulp}"


def divergence(check: Check) -> tuple[str, str]:
    """Return (headline, detail) of the first divergence."""
    first = check.verdict.first_divergence
    if first is None:
        if all(row.passed is None for row in check.verdict.comparisons):
            return _NOTHING_COMPARED
        return "none", "within the tolerance in all recorded iterations"
    rank = f"rank {first.rank}" if rank_count(check) > 1 else ""
    where = joined(", ", f"run {first.run}", rank, line(first.detail))
    return f"iteration {first.iteration:,}", f"first loss outside the tolerance: {where}"


def largest(check: Check) -> tuple[str, str]:
    """Return (headline, detail) of the largest difference in the forward and the backward check."""
    row = check.verdict.largest
    if row is None:
        return "not known", "neither check could be made"
    where = f"{row.kind} check, iteration {row.iteration:,}"
    if row.ulp is not None:
        where += f", {ulps(row.ulp)} ULP"
    return number(row.max_difference), f"{number(row.allowed)} was allowed; {where}"


def result(row: Comparison) -> str:
    """Return the result of a comparison: `pass`, `fail` or `not made`."""
    return _RESULTS[row.passed]


_RESULTS = {True: "pass", False: "fail", None: "not made"}


def moved(check: Check) -> str:
    """Return which iteration the backward check used, if it was not iteration 2."""
    for trace in check.runs[0].traces if check.runs else ():
        reason = _moved(trace)
        if trace.backward and reason:
            return f"The backward check takes iteration {trace.backward.iteration:,}: {reason}"
    return ""


def _moved(trace: Trace) -> str:
    if trace.unchanged_updates:
        return f"{count(trace.unchanged_updates, 'update')} before it changed no weight."
    if trace.unchanged_passes:
        return "the losses before it come from the same weights."
    return ""


def losses_each(check: Check) -> bool:
    """Return whether iterations hold several losses."""
    return any(len(trace.losses.values) > len(trace.losses) for trace in check.traces)


def rank_count(check: Check) -> int:
    """Return the number of ranks that reported in any run."""
    return len({trace.rank for trace in check.traces})


def ending(run: Run) -> str:
    """Return how a run ended, such as `failed with exit status 1`.

    Another example is `stopped by reprocheck after iteration 10`.
    """
    match run.record.ended:
        case "stopped":
            return _stopped(run)
        case "failed":
            return _failed_run(run)
        case "completed":
            return "ran to its end"
        case "timed_out":
            return "ended by the timeout"
        case other:
            return other.replace("_", " ")


def _stopped(run: Run) -> str:
    stops = [trace.stopped_at for trace in run.traces if trace.stopped_at is not None]
    if not stops:
        return "stopped by reprocheck"
    return f"stopped by reprocheck after iteration {min(stops):,}"


def _failed_run(run: Run) -> str:
    status = run.record.exit_status
    if status is not None and status < 0:
        return f"killed by signal {-status}"
    return f"failed with exit status {exit_status(run)}"


def exit_status(run: Run) -> str:
    """Return the return code, or an en dash if the process could not be waited for."""
    if run.record.exit_status is None:
        return UNKNOWN
    return str(run.record.exit_status)


def iterations(run: Run) -> str:
    """Return the number of iterations of a run, a range if the ranks differ."""
    if not run.traces:
        return "0"
    lengths = [len(trace.losses) for trace in run.traces]
    least, most = min(lengths), max(lengths)
    if least != most:
        return f"{least:,} to {most:,}"
    return f"{most:,}"


def caveats(check: Check) -> tuple[str, ...]:
    """Return all caveats, each once."""
    return tuple(dict.fromkeys((*check.verdict.caveats, *check.caveats)))


def frameworks(check: Check) -> str:
    """Return the frameworks of all ranks of run 1: `torch 2.13.0, lightning 2.5`."""
    found: dict[str, str] = {}
    for run in check.runs[:1]:
        for trace in run.traces:
            found |= trace.frameworks
    return ", ".join(f"{line(name)} {line(version)}".strip() for name, version in found.items())


def numbers(check: Check) -> tuple[tuple[str, str, str], ...]:
    """Return (name, headline, detail) for the numbers of a verdict, and of its series."""
    rows = (
        ("largest difference", *largest(check)),
        ("bitwise", *bitwise(check)),
        ("first divergence", *divergence(check)),
        ("series", *series.summary(check)),
    )
    return tuple(row for row in rows if row[1])


def summary(check: Check) -> list[str]:
    """Return a few lines of plain text: verdict, reason, numbers, ladder, causes, next command."""
    return [
        f"{check.verdict.title}: {line(check.verdict.reason)}",
        *(f"{name}: {headline} ({detail})" for name, headline, detail in numbers(check)),
        *causes.summary(check),
        *compared.summary(check),
        *controls.summary(check),
        f"next: {next_command(check)[1]}",
    ]


def search_with(check: Check, options: str) -> str:
    """Return the command that searches with further options."""
    return again(check, options, "explain")


def _until_the_end(check: Check, how: str) -> str:
    rows = check.verdict.comparisons
    if rows and all(row.passed for row in rows):
        return tr(
            "A run {how}, so the check did not succeed; both checks pass up to that point.", how=how
        )
    return tr(
        "A run {how} before both checks could be made: this is neither a pass nor a failure.",
        how=how,
    )


def _agreement(check: Check) -> str:
    seen = tr("In {subtitle}", subtitle=subtitle(check))
    if check.verdict.bitwise.equal is not False:
        return tr("{seen}, no difference larger than the tolerance was seen.", seen=seen)
    later = ""
    if check.verdict.first_divergence:
        diverging = check.verdict.first_divergence.iteration
        later = tr(", and iteration {diverging:,} is outside the tolerance", diverging=diverging)
    agree = tr(
        "{seen}, both checks agree within the tolerance, but not all losses are equal in every"
        " bit{later}.",
        seen=seen,
        later=later,
    )
    loose = tr(
        "A tolerance of {rtol:g} is loose: trainings that are not reproducible can pass it for"
        " several iterations.",
        rtol=check.record.tolerance.rtol,
    )
    return sentences(agree, loose)


def _limits(check: Check) -> str:
    proof = tr(
        "A pass does not prove that the training always gives the same result, on this machine or"
        " another."
    )
    if len(check.runs) != 2:
        return proof
    two = tr(
        "Two runs exclude almost nothing: they would mostly miss a difference that shows in one"
        " run of ten."
    )
    return sentences(two, proof)


def duration(run: Run) -> str:
    """Return the wall time of a run."""
    return seconds(run.record.seconds)
