"""What a check says, in plain words: the same sentences for the page, the Markdown and the
terminal. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reprocheck.language import count, mark, sentences, tr
from reprocheck.model import Check, Comparison, Run, Trace, VerdictName
from reprocheck.report import compared, controls, series, why
from reprocheck.report.command_line import again
from reprocheck.report.next_step import next_command
from reprocheck.report.text import UNKNOWN, joined, line, number, seconds, ulps

KIND_MEANS: Mapping[str, str] = {
    "forward": mark(
        "losses before the first update of the weights: data, initial weights and the forward pass"
    ),
    "backward": mark(
        "losses after the first update that changed weights: also gradients and the update"
    ),
}


def subtitle(check: Check) -> str:
    """`2 runs of 10 iterations on 4 ranks`."""
    runs = count(len(check.runs), "run")
    if not check.traces:
        return tr("{runs}, no iteration recorded", runs=runs)
    said = tr("{runs} of {iterations}", runs=runs, iterations=_iterations(check.traces))
    ranks = max(len(run.traces) for run in check.runs)
    if ranks > 1:
        said += tr(" on {ranks} ranks", ranks=ranks)
    return said


def _iterations(traces: Sequence[Trace]) -> str:
    """`10 iterations`, `8 to 10 iterations`."""
    lengths = [len(trace.losses) for trace in traces]
    least, most = min(lengths), max(lengths)
    if least != most:
        return tr("{least:,} to {most:,} iterations", least=least, most=most)
    return count(most, "iteration")


def meaning(check: Check) -> tuple[str, ...]:
    """Return what the verdict says and what it does not, in a few sentences."""
    name = check.verdict.verdict
    if check.between is not None and name in ("reproducible", "not_reproducible"):
        return (check.between.sentence, *compared.noise(check))
    return _MEANS[name](check)


def _passed(check: Check) -> tuple[str, ...]:
    if check.verdict.bitwise.equal:
        return (_limits(check),)
    return _agreement(check), _limits(check)


def _failed(check: Check) -> tuple[str, ...]:
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
    "script_failed": _script_failed,
    "timed_out": lambda check: (_until_the_end(check, tr("exceeded the timeout and was ended")),),
    "inconclusive": lambda check: (
        tr("A check could not be made: this is neither a pass nor a failure."),
    ),
}


def criterion(check: Check) -> str:
    """Return the criterion with its numbers."""
    tolerance = check.record.tolerance
    return tr(
        "|loss − loss of run 1| ≤ {atol:g} + {rtol:g} · |loss of run 1|",
        atol=tolerance.atol,
        rtol=tolerance.rtol,
    )


def _nothing_compared() -> tuple[str, str]:
    return tr("not known"), tr("there was nothing to compare")


def bitwise(check: Check) -> tuple[str, str]:
    """(headline, detail) of the bitwise comparison."""
    found = check.verdict.bitwise
    if found.equal is None:
        return _nothing_compared()
    if found.equal:
        return tr("equal"), tr("every recorded loss, in every bit")
    if found.one_is_longer:
        missing = tr(
            "iteration {iteration:,} is missing in the other",
            iteration=found.first_iteration,
        )
        return tr("equal as far as both go"), tr("one run is longer: {missing}", missing=missing)
    ulp = tr("not measurable in ULP")
    if found.ulp is not None:
        ulp = tr("by {ulp} ULP", ulp=ulps(found.ulp))
    if not found.first_iteration:
        return tr("different"), ulp
    return tr("different"), tr(
        "from iteration {iteration:,}, {ulp}", iteration=found.first_iteration, ulp=ulp
    )


def divergence(check: Check) -> tuple[str, str]:
    """(headline, detail) of the first divergence."""
    found = check.verdict.first_divergence
    if found is None:
        if all(row.passed is None for row in check.verdict.comparisons):
            return _nothing_compared()
        return tr("none"), tr("within the tolerance in all recorded iterations")
    rank = ""
    if rank_count(check) > 1:
        rank = tr("rank {rank}", rank=found.rank)
    where = joined(tr(", "), tr("run {number}", number=found.run), rank, line(found.detail))
    return tr("iteration {iteration:,}", iteration=found.iteration), tr(
        "first loss outside the tolerance: {where}", where=where
    )


def largest(check: Check) -> tuple[str, str]:
    """(headline, detail) of the largest difference in the two checks."""
    row = check.verdict.largest
    if row is None:
        return tr("not known"), tr("neither check could be made")
    where = tr("{kind} check, iteration {iteration:,}", kind=tr(row.kind), iteration=row.iteration)
    if row.ulp is not None:
        where += tr(", {ulp} ULP", ulp=ulps(row.ulp))
    return number(row.max_difference), tr(
        "{allowed} was allowed; {where}", allowed=number(row.allowed), where=where
    )


def result(row: Comparison) -> str:
    """`pass`, `fail` or `not made`."""
    return tr(_RESULTS[row.passed])


_RESULTS = {True: mark("pass"), False: mark("fail"), None: mark("not made")}


def moved(check: Check) -> str:
    """Return where the second check looked, if that was not iteration 2."""
    for run in check.runs[:1]:
        for trace in run.traces:
            why = _moved(trace)
            if trace.backward and why:
                return tr(
                    "The backward check takes iteration {iteration:,}: {why}",
                    iteration=trace.backward.iteration,
                    why=why,
                )
    return ""


def _moved(trace: Trace) -> str:
    if trace.unchanged_updates:
        return tr(
            "{updates} before it changed no weight.",
            updates=count(trace.unchanged_updates, "update"),
        )
    if trace.unchanged_passes:
        return tr("the losses before it come from the same weights.")
    return ""


def losses_each(check: Check) -> bool:
    """Return whether iterations hold several losses."""
    return any(len(trace.losses.values) > len(trace.losses) for trace in check.traces)


def rank_count(check: Check) -> int:
    """Return the number of ranks that reported in any run."""
    return len({trace.rank for trace in check.traces})


def ending(run: Run) -> str:
    """Return how a run ended, such as `failed with exit status 1`.

    Another one is `stopped by reprocheck after iteration 10`.
    """
    how = run.record.ended
    say = _ENDINGS.get(how)
    if say is None:
        return tr(how.replace("_", " "))
    return say(run)


def _stopped(run: Run) -> str:
    stops = [trace.stopped_at for trace in run.traces if trace.stopped_at is not None]
    if not stops:
        return tr("stopped by reprocheck")
    return tr("stopped by reprocheck after iteration {iteration:,}", iteration=min(stops))


def _failed_run(run: Run) -> str:
    status = run.record.exit_status
    if status is not None and status < 0:
        return tr("killed by signal {number}", number=-status)
    return tr("failed with exit status {status}", status=exit_status(run))


_ENDINGS: Mapping[str, Callable[[Run], str]] = {
    "stopped": _stopped,
    "failed": _failed_run,
    "completed": lambda run: tr("ran to its end"),
    "timed_out": lambda run: tr("ended by the timeout"),
}


def exit_status(run: Run) -> str:
    """Return the return code, or an en dash where the process could not be waited for."""
    if run.record.exit_status is None:
        return UNKNOWN
    return str(run.record.exit_status)


def iterations(run: Run) -> str:
    """Return the number of iterations of a run, a range where the ranks differ."""
    if not run.traces:
        return "0"
    lengths = [len(trace.losses) for trace in run.traces]
    least, most = min(lengths), max(lengths)
    if least != most:
        return tr("{least:,} to {most:,}", least=least, most=most)
    return f"{most:,}"


def caveats(check: Check) -> tuple[str, ...]:
    """Return all caveats, each once."""
    return tuple(dict.fromkeys((*check.verdict.caveats, *check.caveats)))


def frameworks(check: Check) -> str:
    """`torch 2.13.0, lightning 2.5`, of all ranks of run 1."""
    found: dict[str, str] = {}
    for run in check.runs[:1]:
        for trace in run.traces:
            found |= trace.frameworks
    return ", ".join(f"{line(name)} {line(version)}".strip() for name, version in found.items())


def numbers(check: Check) -> tuple[tuple[str, str, str], ...]:
    """(name, headline, detail) of the numbers of a verdict; of the series, where there are some."""
    found = (
        (tr("largest difference"), *largest(check)),
        (tr("bitwise"), *bitwise(check)),
        (tr("first divergence"), *divergence(check)),
        (tr("series"), *series.summary(check)),
    )
    return tuple(row for row in found if row[1])


def summary(check: Check) -> list[str]:
    """Return a few lines of plain text: verdict, reason, numbers, ladder and causes, next
    command.
    """
    return [
        tr("{name}: {value}", name=check.verdict.title, value=line(check.verdict.reason)),
        *(
            tr("{name}: {value} ({detail})", name=name, value=headline, detail=detail)
            for name, headline, detail in numbers(check)
        ),
        *why.summary(check),
        *compared.summary(check),
        *controls.summary(check),
        tr("next: {command}", command=next_command(check)[1]),
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
    """Wall time of a run."""
    return seconds(run.record.seconds)
