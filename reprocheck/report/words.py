"""What a check says, in plain words: the same sentences for the page, the Markdown and the
terminal. Standard library only.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from reprocheck.model import Check, Comparison, Run, is_elsewhere
from reprocheck.report import compared, controls, why
from reprocheck.report.again import again
from reprocheck.report.text import count, line, number, seconds, ulps

KIND_MEANS: Mapping[str, str] = {
    "forward": (
        "losses before the first update of the weights: data, initial weights and the forward pass"
    ),
    "backward": "losses after the first update that changed weights: gradients and the update too",
}


_ASKS_FOR_IT: Mapping[bool, str] = {True: "--fail-on any-iteration", False: "--fail-on bitwise"}
"""Whether an iteration is outside the tolerance -> what makes such a difference a failure."""


def subtitle(check: Check) -> str:
    """`2 runs of 10 iterations, stopped early by reprocheck`."""
    lengths = {len(trace.losses) for run in check.runs for trace in run.traces}
    ranks = max((len(run.traces) for run in check.runs), default=0)
    runs = count(len(check.runs), "run")
    if not lengths:
        return f"{runs}, no iteration recorded"
    each = (
        count(max(lengths), "iteration")
        if len(lengths) == 1
        else f"{min(lengths):,} to {max(lengths):,} iterations"
    )
    return f"{runs} of {each}" + (f" on {ranks} ranks" if ranks > 1 else "")


def meaning(check: Check) -> tuple[str, ...]:
    """What the verdict says and what it does not, in a few sentences."""
    verdict = check.verdict
    seen = subtitle(check)
    if check.between is not None and verdict.verdict in ("reproducible", "not_reproducible"):
        return (check.between.sentence, *compared.noise(check))
    if verdict.verdict == "reproducible":
        return (
            (_limits(check),)
            if verdict.bitwise.equal
            else (_agreement(check, seen), _limits(check))
        )
    if verdict.verdict == "not_reproducible":
        where = (
            "The runs already differ before any weight was updated, so look at the data, the"
            " initial weights, dropout and other random draws, and the operators of the forward"
            " pass."
            if verdict.failed_check == "forward"
            else (
                "The runs agree before the first update of the weights and differ after it, so look"
                " at the gradients, the optimizer, the learning rate, and what is drawn or loaded"
                " for the next iteration."
            )
        )
        times = "twice" if len(check.runs) == 2 else f"{len(check.runs)} times"
        failed = (
            f"Started {times} in the same way, this training does not give the same losses: the"
            " difference is larger than allowed."
        )
        return (failed,) if check.ladder and check.ladder.first else (failed, where)
    if verdict.verdict == "script_failed":
        return (_until_the_end(check, "ended with an error"), "The end of its log stands below.")
    if verdict.verdict == "timed_out":
        return (_until_the_end(check, "took longer than the timeout and was ended"),)
    return (
        (
            "A check could not be made, so nothing is said about reproducibility: this is neither a"
            " pass nor a failure."
        ),
    )


def criterion(check: Check) -> str:
    """The criterion with its numbers."""
    tolerance = check.record.tolerance
    return f"|loss − loss of run 1| ≤ {tolerance.atol:g} + {tolerance.rtol:g} · |loss of run 1|"


def bitwise(check: Check) -> tuple[str, str]:
    """(headline, detail) of the bitwise comparison."""
    found = check.verdict.bitwise
    if found.equal is None:
        return "not known", "there was nothing to compare"
    if found.equal:
        return "equal", "every recorded loss, in every bit"
    if found.one_is_longer:
        return (
            "equal as far as both go",
            f"one run is longer: iteration {found.first_iteration:,} is missing in the other",
        )
    ulp = f"by {ulps(found.ulp)} ULP" if found.ulp is not None else "not measurable in ULP"
    return (
        "different",
        f"from iteration {found.first_iteration:,}, {ulp}" if found.first_iteration else ulp,
    )


def divergence(check: Check) -> tuple[str, str]:
    """(headline, detail) of the first divergence."""
    found = check.verdict.first_divergence
    if found is None:
        compared = any(row.passed is not None for row in check.verdict.comparisons)
        return (
            ("none", "within the tolerance in all recorded iterations")
            if compared
            else ("not known", "there was nothing to compare")
        )
    place = f"run {found.run}" + (f", rank {found.rank}" if rank_count(check) > 1 else "")
    detail = f", {line(found.detail)}" if found.detail else ""
    return f"iteration {found.iteration:,}", f"first loss outside the tolerance: {place}{detail}"


def largest(check: Check) -> tuple[str, str]:
    """(headline, detail) of the largest difference in the two checks."""
    row = check.verdict.largest
    if row is None:
        return "not known", "neither check could be made"
    ulp = f", {ulps(row.ulp)} ULP" if row.ulp is not None else ""
    return (
        number(row.max_difference),
        f"{number(row.allowed)} was allowed ({row.kind} check, iteration {row.iteration:,}{ulp})",
    )


def result(row: Comparison) -> str:
    """`pass`, `fail` or `not made`."""
    if row.passed is None:
        return "not made"
    return "pass" if row.passed else "fail"


def moved(check: Check) -> str:
    """Where the second check looked, if that was not iteration 2."""
    traces = [trace for run in check.runs[:1] for trace in run.traces if trace.backward]
    for trace in traces:
        if trace.unchanged_updates and trace.backward:
            passed_over = count(trace.unchanged_updates, "update")
            return (
                f"The backward check takes iteration {trace.backward.iteration:,}: {passed_over}"
                " before it changed no weight."
            )
        if trace.unchanged_passes and trace.backward:
            return (
                f"The backward check takes iteration {trace.backward.iteration:,}: the losses"
                " before it come from the same weights."
            )
    return ""


def losses_each(check: Check) -> bool:
    """Whether iterations hold several losses."""
    return any(
        len(trace.losses.values) > len(trace.losses) for run in check.runs for trace in run.traces
    )


def rank_count(check: Check) -> int:
    """Number of ranks that reported in any run."""
    return len({trace.rank for run in check.runs for trace in run.traces})


def ending(run: Run) -> str:
    """How a run ended: `completed`, `stopped by reprocheck after iteration 10`, `failed with exit
    status 1`…
    """
    status, stops = (
        run.record.exit_status,
        [trace.stopped_at for trace in run.traces if trace.stopped_at is not None],
    )
    if run.record.ended == "stopped":
        return (
            f"stopped by reprocheck after iteration {min(stops):,}"
            if stops
            else "stopped by reprocheck"
        )
    if run.record.ended == "failed":
        return (
            f"killed by signal {-status}"
            if status is not None and status < 0
            else f"failed with exit status {exit_status(run)}"
        )
    return {"completed": "ran to its end", "timed_out": "ended by the timeout"}.get(
        run.record.ended, run.record.ended.replace("_", " ")
    )


def exit_status(run: Run) -> str:
    """The return code, or an en dash where the process could not be waited for."""
    return "–" if run.record.exit_status is None else str(run.record.exit_status)


def iterations(run: Run) -> str:
    """Number of iterations of a run, a range where the ranks differ."""
    lengths = sorted({len(trace.losses) for trace in run.traces})
    if not lengths:
        return "0"
    return f"{lengths[0]:,}" if len(lengths) == 1 else f"{lengths[0]:,} to {lengths[-1]:,}"


def caveats(check: Check) -> tuple[str, ...]:
    """All caveats, each once."""
    return tuple(dict.fromkeys((*check.verdict.caveats, *check.caveats)))


def frameworks(check: Check) -> str:
    """`torch 2.13.0, lightning 2.5`, of all ranks of run 1."""
    found = {
        name: version
        for run in check.runs[:1]
        for trace in run.traces
        for name, version in trace.frameworks.items()
    }
    return ", ".join(f"{line(name)} {line(version)}".strip() for name, version in found.items())


def summary(check: Check) -> list[str]:
    """A few lines of plain text: verdict, reason, numbers, ladder and causes, next command."""
    named = (
        ("largest difference", largest(check)),
        ("bitwise", bitwise(check)),
        ("first divergence", divergence(check)),
    )
    return [
        f"{check.verdict.title}: {line(check.verdict.reason)}",
        *(f"{name}: {headline} ({detail})" for name, (headline, detail) in named),
        *why.summary(check),
        *compared.summary(check),
        *controls.summary(check),
        f"next: {next_command(check)[1]}",
    ]


def command(check: Check) -> str:
    """The command that was started, quoted for a shell."""
    return line(shlex.join(check.record.entry_point.command))


def next_command(check: Check) -> tuple[str, str]:
    """(why, command) to type next."""
    verdict, runs = check.verdict, len(check.runs)
    if check.between is not None:
        return compared.next_command(check)
    differs = verdict.first_divergence is not None or verdict.bitwise.equal is False
    if (
        verdict.verdict == "reproducible"
        and differs
        and (allowed := _of_an_allowed_difference(check))
    ):
        return allowed
    if (
        check.causes
        and verdict.verdict == "not_reproducible"
        and check.search is None
        and not check.record.controls
    ):
        return "Confirm the cause, and get a fix that is tried:", again(check, "", "explain")
    if check.search is not None and check.search.broken_off:
        return "Search anew for what removes the difference:", again(check, "", "explain")
    if check.search is not None and check.search.further:
        return "Look for the other difference, which remains:", again(
            check, " ".join(check.search.further), "explain"
        )
    if check.causes:
        return (
            "See what the cause means, and other ways to repair it:",
            f"reprocheck rules {line(check.causes[0].code)}",
        )
    if verdict.verdict == "script_failed" and check.record.advice is not None:
        advised = check.record.advice
        command_line = again(check, " ".join(advised.options), words=advised.words)
        return line(advised.why), f"{line(advised.before)} {command_line}".strip()
    if verdict.verdict == "script_failed":
        return "See whether the script runs by itself:", command(check)
    if verdict.verdict == "timed_out":
        longer = max((run.record.seconds for run in check.runs), default=60.0)
        return "Give it more time:", again(
            check, f"--timeout {max(60, round(longer * 4 / 60) * 60)}"
        )
    if verdict.verdict == "inconclusive":
        if check.not_finite:
            return "See in the script itself where NaN or infinity comes from:", command(check)
        if any(run.absent for run in check.runs):
            return "See what the ranks print that did not report:", again(check, "--show-output")
        if _stopped_early(check):
            return "Let the training come to its own end:", again(check, "--steps all")
        if verdict.bitwise.one_is_longer:
            return "The runs do not train equally long; mend what ends them, then:", again(
                check, ""
            )
        if any(len(trace.losses) for run in check.runs for trace in run.traces):
            return "The runs ended by themselves; train longer, then:", again(check, "")
        return "See what the script prints, and whether it trains at all:", again(
            check, "--show-output --steps all"
        )
    if any(not is_elsewhere(path) and path not in check.state_alike for path in check.state_left):
        return (
            "Give each run a working directory of its own, so that nothing of run 1 reaches run 2:",
            again(check, "--workdir copy"),
        )
    if check.ladder is None and verdict.exit_code == 1 and _setting(check, "explain") is False:
        return "See where the runs first part, and why:", again(check, "--explain")
    if verdict.verdict == "not_reproducible":
        more = f"--runs {max(5, 2 * runs)} --steps 2"
        return "See how often the runs differ, and by how much:", again(check, more)
    if verdict.bitwise.equal is False and check.stopped_early is not None:
        return "See how far the difference grows over the whole training:", again(
            check, "--steps all"
        )
    return "Exclude more, with more runs:", again(check, f"--runs {max(5, 2 * runs)}")


def _of_an_allowed_difference(check: Check) -> tuple[str, str] | None:
    """What to do about runs that pass the checks and differ later or in bits; None where the cause
    is confirmed, or nothing is known of it.

    Where a line may be why, that is there to be tried at once.
    """
    if any(cause.confidence == "confirmed" for cause in check.causes):
        return None
    later = check.verdict.first_divergence is not None
    passes = check.verdict.exit_code == 0
    asked = _ASKS_FOR_IT[later] if passes else ""
    if (
        any(cause.source is not None for cause in check.causes)
        and check.search is None
        and not check.record.controls
    ):
        return "Confirm the cause, and get a fix that is tried:", again(check, asked, "explain")
    if later and passes:
        return "Make the later difference a failure:", again(check, asked)
    return None


def bitwise_search(check: Check) -> str:
    """The command that searches for a difference which the criterion allows."""
    return again(check, "--fail-on bitwise", "explain")


# -------------------------------------------------------------------------------------------- parts


def _stopped_early(check: Check) -> bool:
    """Whether the early stop can hide what the checks need."""
    return any(trace.stopped_at is not None for run in check.runs for trace in run.traces)


def _until_the_end(check: Check, how: str) -> str:
    rows = check.verdict.comparisons
    if rows and all(row.passed for row in rows):
        return (
            f"A run {how}, so the check did not succeed, although both of its parts pass for the"
            " iterations before."
        )
    return (
        f"A run {how} before both checks could be made, so nothing is said about reproducibility."
    )


def _agreement(check: Check, seen: str) -> str:
    if check.verdict.bitwise.equal is False:
        found = check.verdict.first_divergence
        later = f", and iteration {found.iteration:,} is outside the tolerance" if found else ""
        return (
            f"In {seen}, both checks agree within the tolerance, but not all losses are equal in"
            f" every bit{later}. {_loose(check)}"
        )
    return f"In {seen}, no difference larger than allowed was seen."


def _loose(check: Check) -> str:
    tolerance = check.record.tolerance
    return (
        f"A tolerance of {tolerance.rtol:g} is a loose bar: trainings that are not reproducible can"
        " pass it for several iterations."
    )


def _limits(check: Check) -> str:
    few = (
        "Two runs exclude almost nothing: a difference that shows in one run of ten would mostly be"
        " missed. "
    )
    proof = (
        "A pass does not prove that the training always gives the same result, on this machine or"
        " another."
    )
    return few + proof if len(check.runs) == 2 else proof


def _setting(check: Check, name: str) -> object:
    return next((setting.value for setting in check.record.settings if setting.name == name), None)


def duration(run: Run) -> str:
    """Wall time of a run."""
    return seconds(run.record.seconds)
