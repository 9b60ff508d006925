"""What a reader must know beside the verdict."""

from __future__ import annotations

from reprocheck.language import count
from reprocheck.language.ranks import named
from reprocheck.model.statements import verdict as statements
from reprocheck.wording.say import in_english, say
from reprocheck.wording.verdict.ended_ranks import behind
from reprocheck.wording.verdict.numbers import behind_comma, in_brackets, number


@say.register
def loose_pass(loose: statements.LoosePass) -> str:
    """Say what a pass within the tolerance does not guarantee."""
    where = f"the first difference is in iteration {loose.iteration}"
    if loose.ulp is not None and loose.dtype:
        where += f", by up to {loose.ulp:,} ULP of {loose.dtype}"
    return (
        f"The checks pass within the tolerance, but the runs are not equal in every bit: {where}."
    )


@say.register
def wide_tolerance(wide: statements.WideTolerance) -> str:
    """Say that the tolerance is wide for a loss."""
    return (
        f"The tolerance is wide for a loss of {number(wide.reference)}:"
        f" {wide.allowed:.3g} is allowed ({wide.kind} check, run {wide.run}); a smaller"
        " --atol finds smaller differences."
    )


@say.register
def ended_otherwise(run: statements.EndedOtherwise) -> str:
    """Say how a run ended that did not reach its planned end."""
    recorded = count(run.recorded, "recorded iteration")
    return f"Run {run.run} {in_english(run.ending)}, after {recorded}{behind(run.lost)}."


@say.register
def ranks_of_run(of: statements.RanksOfRun) -> str:
    """Say what became of the ranks of a run that went well otherwise."""
    return f"Run {of.run}: {say(of.ranks)}."


@say.register
def other_first_change(weights: statements.OtherFirstChange) -> str:
    """Say where the weights of two runs first change."""
    own = "do not change in the recorded iterations"
    if weights.own is not None:
        own = f"first change in iteration {weights.own}"
    return (
        f"In run 1 the weights first change in iteration {weights.reference}; in run"
        f" {weights.run}{behind_comma(weights.ranks)} they {own}. The iteration of run 1 was"
        " checked."
    )


@say.register
def late_check(check: statements.LateCheck) -> str:
    """Say why the second check is made on a later iteration."""
    before = "No earlier change was seen"
    if check.unchanged:
        updates = "update" if check.unchanged == 1 else f"{check.unchanged} updates"
        before = f"The first {updates} did not change the weights"
    elif check.passes:
        before = (
            f"The first {check.passes + 1} losses come from the same weights, as in gradient"
            " accumulation or with a step of size 0"
        )
    return (
        f"{before}{in_brackets(check.ranks)}, so the second check is made on iteration"
        f" {check.iteration} instead of iteration 2."
    )


@say.register
def other_length(run: statements.OtherLength) -> str:
    """Say how many iterations two runs recorded."""
    own = count(run.own, "iteration")
    of_ranks = f" of {named(run.ranks)}" if run.ranks else ""
    return f"Run {run.run} recorded {own}{of_ranks}, run 1 recorded {run.reference}."


@say.register
def breaks_off(recording: statements.BreaksOff) -> str:
    """Say from which iteration on the recording of a run is not compared."""
    return (
        f"The recording of run {recording.run} breaks off after iteration"
        f" {recording.closed}{behind_comma(recording.ranks)} ({say(recording.why)}): later ones"
        " are not compared."
    )


@say.register
def compared_as_set(trainings: statements.ComparedAsSet) -> str:
    """Say which trainings cannot be assigned to each other between the runs."""
    return (
        f"Which training of one run is which of another is not known of {named(trainings.ranks)}:"
        " their losses were compared as a set, each training with one of run 1 that has the same"
        " losses, as far as there was one."
    )


@say.register
def not_finite_from(losses: statements.NotFiniteFrom) -> str:
    """Say from which iteration on equal losses prove nothing, because they are not finite."""
    return (
        f"The loss of iteration {losses.iteration} is NaN or infinite: what agrees from there on"
        " says nothing of the training."
    )


@say.register
def step_skipped(step: statements.StepSkipped) -> str:
    """Say which step a gradient scaler skipped."""
    who = f"run {step.run}{behind_comma(step.ranks)}"
    return f"A gradient scaler skipped a step in iteration {step.iteration} ({who})."


@say.register
def weights_not_seen(weights: statements.WeightsNotSeen) -> str:
    """Say what is assumed about weights that could not be read."""
    return (
        f"Whether updates change the weights could not be seen{in_brackets(weights.ranks)}; the"
        " first update is taken to be a real one."
    )
