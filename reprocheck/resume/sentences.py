"""What a check of a resume says, in sentences: made last, of typed values.

Numbers of iterations are said of both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from reprocheck.files.summary import summary
from reprocheck.language import count
from reprocheck.language.letters import capital
from reprocheck.model import Run
from reprocheck.report import text
from reprocheck.resume import model
from reprocheck.resume.other_files import Unkept
from reprocheck.verdict.ended_ranks import lost
from reprocheck.wording import say

SOONER = "Have the script save sooner (an option such as --save-steps)"
SAVE_SOONER = f"{SOONER}, or give it more iterations with --steps N"
INTERRUPTED = "the check was interrupted before its {run} run had ended"
MOST_RANKS = 4
"""More of them are counted and not named."""
NAME_IT = "name it with --checkpoint PATTERN"


@dataclass(frozen=True, kw_only=True, slots=True)
class Nothing:
    """A continued run without a checkpoint to resume from."""

    run: Run
    resume: model.ResumeRecord
    unkept: Unkept
    found: Sequence[str]


def no_place(nothing: Nothing) -> str:
    """Return why there is nothing to resume from, and what to do."""
    return next(filter(None, (rule(nothing) for rule in _WITHOUT)))


def _failed(nothing: Nothing) -> str:
    record = nothing.run.record
    if not record.ended_badly:
        return ""
    ending = "took longer than --timeout allows"
    if record.ended == "failed":
        ending = f"failed with exit status {record.exit_status}"
    return f"the training {ending} before it wrote a checkpoint{_behind(nothing.run)}"


def _without_loss(nothing: Nothing) -> str:
    if nothing.run.recorded_losses:
        return ""
    if nothing.found:
        return (
            f"the training made no iteration: it read {summary(nothing.found)}, which an earlier"
            " one had left there, and ended. Remove that, or start from a folder without it"
        )
    return (
        "no loss was seen in the training; train the model, or call reprocheck.log_loss(loss) in"
        " every iteration"
    )


def _removed(nothing: Nothing) -> str:
    if not nothing.unkept.removed:
        return ""
    return (
        f"{summary(nothing.unkept.removed)} was written, and was gone again before the next"
        " iteration. Have the script keep it for the time of the check"
    )


def _interrupted(nothing: Nothing) -> str:
    if nothing.run.record.ended != "interrupted":
        return ""
    return INTERRUPTED.format(run="first")


def _temporary(nothing: Nothing) -> str:
    if not nothing.unkept.temporary:
        return ""
    return (
        f"{summary(nothing.unkept.temporary)} was written to the folder for temporary files"
        " (TMPDIR), which each run has anew. Have the script keep it in its working directory"
    )


def _passed(nothing: Nothing) -> str:
    kept = nothing.unkept
    if not kept.passed:
        return ""
    wrote = f"{count(kept.passed, 'checkpoint')} came at another place than was asked for"
    if kept.epochs:
        return f"{wrote}. {SAVE_SOONER}, or name a place with --at N"
    return (
        f"{wrote}: nothing tells where an epoch of this training ends. Name the number of updates"
        " after which to stop with --at N"
    )


def _ended(nothing: Nothing) -> str:
    run = nothing.run
    if run.record.ended != "completed":
        return ""
    last = count(run.longest, "iteration")
    return (
        f"the training came to its end after {last}, and wrote no checkpoint between two of them"
        f"{_others(nothing)}. {SOONER}, so that something follows it"
    )


def _stopped(nothing: Nothing) -> str:
    last = count(nothing.resume.within, "iteration")
    return f"no checkpoint was written in the first {last}{_others(nothing)}. {SAVE_SOONER}"


_WITHOUT: tuple[Callable[[Nothing], str], ...] = (
    _failed,
    _interrupted,
    _without_loss,
    _removed,
    _temporary,
    _passed,
    _ended,
    _stopped,
)


def _others(nothing: Nothing) -> str:
    """Return what was written, and might be one."""
    if nothing.resume.pattern:
        return f" that matches {nothing.resume.pattern}"
    if not nothing.unkept.ignored:
        return ""
    return f" ({summary(nothing.unkept.ignored)} was taken for none; if it is one, {NAME_IT})"


def reason(outcome: model.Outcome) -> str:
    """Return why a place has its verdict, without a full stop."""
    return _REASONS[outcome.verdict](outcome)


def not_repeatable(iteration: int) -> str:
    """Return why nothing is said of a run that a signal ended."""
    return (
        "the training is not the same when it is started again: the run that the signal ended has"
        f" other losses from iteration {iteration} on. `reprocheck run` says why; without"
        " --interrupt, the resume can be checked all the same"
    )


def beyond(paths: Sequence[str]) -> str:
    """Return why nothing is said of a run that read what no snapshot holds."""
    return (
        f"the resumed run read {summary(paths)}, outside of the working directory, as the continued"
        " run had left it at its end: no snapshot holds it. Have the script keep it in its working"
        f" directory, or {NAME_IT}"
    )


def _exactly(outcome: model.Outcome) -> str:
    many = count(outcome.compared, "iteration")
    return f"{many} after the checkpoint have the losses of the run that never stopped, bit for bit"


def _within(outcome: model.Outcome) -> str:
    return (
        "the losses agree within the tolerance; they are not equal in every bit from"
        f" {_first(outcome)} on"
    )


def _differs(outcome: model.Outcome) -> str:
    losses = outcome.losses
    assert losses is not None
    if outcome.explained.other_ranks is not None:
        return _differs_over_ranks(outcome, outcome.explained.other_ranks)
    if losses.bitwise.equal:
        many = count(outcome.compared, "iteration")
        return (
            f"the losses of {many} agree in every bit, and what the training goes on with is not"
            " what it was at the checkpoint: that shows later"
        )
    if losses.bitwise.one_is_longer:
        return _other_length(outcome)
    said = on_ranks(losses.ranks, outcome.ranks)
    of_ranks = f" of {said}" if said else ""
    return f"the losses{of_ranks} differ from {_first(outcome)} on{_apart(outcome)}"


def _differs_over_ranks(outcome: model.Outcome, other: model.OtherRanks) -> str:
    first = outcome.explained.first
    if first is not None:
        return (
            f"{_instead(other)}, what the training goes on with differs from what was due on the"
            f" rung {first.name}"
        )
    return f"{_instead(other)}, the losses, as means over all ranks, differ{_apart(outcome)}"


def on_ranks(some: Sequence[int], ranks: Sequence[int]) -> str:
    """`rank 1`, `ranks 1 and 3`: some of several ranks; "" where they are all, or none.

    >>> on_ranks((3, 1), range(4))
    'ranks 1 and 3'
    """
    if not 0 < len(some) < len(ranks):
        return ""
    if len(some) == 1:
        return f"rank {some[0]}"
    *names, last = map(str, sorted(some))
    if len(names) >= MOST_RANKS:
        return f"{len(some)} of {len(ranks)} ranks"
    return f"ranks {', '.join(names)} and {last}"


def _other_length(outcome: model.Outcome) -> str:
    assert outcome.continued is not None and outcome.resumed is not None
    went_on, resumed = outcome.continued.longest, outcome.resumed.longest
    if not resumed:
        return (
            "the resumed run came to its end without an iteration, where the run that never stopped"
            f" makes {went_on} more"
        )
    if resumed < went_on:
        return (
            f"the resumed run ends after {count(resumed, 'iteration')}, where the run that"
            f" never stopped makes {went_on} and more"
        )
    return (
        f"the resumed run goes on after {count(went_on, 'iteration')}, where the run that"
        " never stopped has come to its end"
    )


def _starts_over(outcome: model.Outcome) -> str:
    checkpoint = outcome.place.checkpoint
    assert checkpoint is not None
    if outcome.option is not None:
        option = outcome.option
        return (
            f"the resumed run read nothing of {checkpoint.name}: the script has to be told, by"
            f" `{option.words}` ({option.source.at}). Give it with --resume-with '{option.words}';"
            f' in a target of a suite, with resume = {{ with = "{option.words}" }}'
        )
    if not outcome.read:
        return (
            f"the resumed run read nothing of {checkpoint.name}. Where an option of the script says"
            " so, give that with --resume-with"
        )
    if outcome.explained.starts_over:
        return (
            f"the resumed run read {summary(outcome.read)}, and no weight is what it was at the"
            " checkpoint"
        )
    return (
        f"the resumed run read {summary(outcome.read)}, and its losses are those of iterations 1"
        f" to {outcome.compared} of the run that never stopped"
    )


def _inconclusive(outcome: model.Outcome) -> str:
    if outcome.resumed is not None and outcome.resumed.record.ended == "interrupted":
        return INTERRUPTED.format(run="resumed")
    other = outcome.explained.other_ranks
    if other is not None:
        return _not_comparable(other)
    return (
        "the run that wrote the checkpoint made no iteration behind it, so there is nothing to"
        f" compare. {SAVE_SOONER}"
    )


def _not_comparable(other: model.OtherRanks) -> str:
    """Return why the losses of other numbers of ranks say nothing, where nothing else differs."""
    agree = (
        f"{_instead(other)}, what could be compared of weights, optimizer, schedules and samples"
        " agrees, and the losses cannot be compared"
    )
    if other.samples[0] != other.samples[1]:
        return (
            f"{agree}: an iteration takes {other.samples[1]} samples instead of {other.samples[0]}."
            " Let the ranks share one batch: its size divided by their number"
        )
    return (
        f"{agree}: {other.drawn_by} draws from the generator of each rank. Switch that off for the"
        " check"
    )


def _instead(other: model.OtherRanks) -> str:
    was, now = other.ranks
    return f"with {count(now, 'rank')} instead of {was}"


def _script_failed(outcome: model.Outcome) -> str:
    assert outcome.resumed is not None
    record = outcome.resumed.record
    when = "before its first loss"
    if outcome.compared:
        when = f"after {count(outcome.compared, 'iteration')}"
    said = f"the resumed run failed with exit status {record.exit_status} {when}"
    said += _behind(outcome.resumed)
    if outcome.place.interrupted is None or not outcome.read:
        return said
    return (
        f"{said}. It read {summary(outcome.read)}, which may be cut by the signal: write it under"
        " another name, and rename it when it is whole (os.replace)"
    )


_REASONS: Mapping[model.ResumeVerdict, Callable[[model.Outcome], str]] = {
    "resumes_exactly": _exactly,
    "resumes_within_tolerance": _within,
    "does_not_resume_exactly": _differs,
    "starts_over": _starts_over,
    "inconclusive": _inconclusive,
    "script_failed": _script_failed,
    "timed_out": lambda outcome: "the resumed run took longer than --timeout allows",
}


def _first(outcome: model.Outcome) -> str:
    """Return the first differing iteration.

    Such as `iteration 2 of the resumed run (7 of the continued run)`.
    """
    assert outcome.losses is not None and outcome.offset is not None
    first = outcome.losses.bitwise.first_iteration or 1
    return both(first, outcome.offset)


def both(iteration: int, offset: model.Offset) -> str:
    """Return an iteration of the resumed run, and its number in the continued run."""
    return (
        f"iteration {iteration} of the resumed run ({offset.continued(iteration)} of the continued"
        " run)"
    )


def _apart(outcome: model.Outcome) -> str:
    losses = outcome.losses
    if losses is None or losses.continued is None or losses.resumed is None:
        return ""
    resumed, continued = text.told_apart(losses.resumed, losses.continued)
    return f": {resumed} instead of {continued}"


def _behind(run: Run) -> str:
    errors = filter(None, map(attrgetter("error"), run.processes))
    ended = say(next(errors, None) or lost(run) or "")
    return f": {ended}" if ended else ""


def checkpoint(found: model.Checkpoint) -> str:
    """`ckpt.pt after update 5 (torch.save, train.py:31; 2.1 kB)`."""
    said = [part for part in (found.by, found.line) if part]
    facts = [", ".join(said), size(found.size)]
    inside = "; ".join(filter(None, facts))
    many = ""
    if len(found.paths) > 1:
        many = f" ({count(len(found.paths), 'file')})"
    return f"{found.name}{many} after update {found.iteration} ({inside})"


def size(count: int) -> str:
    """`2.1 kB`."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} bytes"


def read(outcome: model.Outcome) -> str:
    """Return what the resumed run read of the checkpoint."""
    paths = outcome.place.checkpoint.paths if outcome.place.checkpoint else ()
    if not outcome.read:
        return "nothing of it"
    if len(outcome.read) == len(paths):
        return "all of it" if len(paths) > 1 else outcome.read[0]
    missed = [path for path in paths if path not in outcome.read]
    return f"{summary(outcome.read)}; not {summary(missed)}"


def behind_steps(outcome: model.Outcome, explained: model.Explained) -> tuple[str, ...]:
    """Return what is said where the losses part behind the steps that were recorded deeply."""
    first = outcome.losses.bitwise.first_iteration if outcome.losses is not None else None
    steps = explained.steps
    is_seen = not steps or first is None or first <= steps
    if is_seen or explained.first is not None:
        return ()
    return (
        "modules, gradients and updates were compared in"
        f" {count(steps or 0, 'iteration')} behind the checkpoint: one that is written nearer to"
        " where the losses part shows more",
    )


def caveats(
    found: Sequence[str], outcomes: Sequence[model.Outcome], resume: model.ResumeRecord
) -> tuple[str, ...]:
    """Return what limits the answer."""
    said = []
    if resume.missed and resume.places:
        said.append(
            f"Not checked: {', '.join(resume.missed)}. No checkpoint was written there in the first"
            f" {count(resume.within, 'iteration')}; --at N names a number of updates instead."
        )
    if found:
        said.append(
            f"The continued run itself began from {summary(found)}, which an earlier training had"
            " left there: k counts from there."
        )
    differing = (one for one in outcomes if one.exit_code)
    said += [f"{capital(line)}." for one in differing for line in one.explained.coverage]
    unread = [one for one in outcomes if not one.read and one.verdict == "resumes_exactly"]
    if unread:
        said.append("The resumed run was not seen to read the checkpoint.")
    return tuple(dict.fromkeys(said))
