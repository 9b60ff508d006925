"""What one place says: the continued run from update k on against the resumed run."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from reprocheck.model import Bitwise, Checked, CheckKind, LossSeries, Run, Series, Tolerance, Trace
from reprocheck.resume import model
from reprocheck.resume.average import have_other_ranks, over_ranks
from reprocheck.resume.gap.ladder import ORIGINS
from reprocheck.resume.model import Reported, ReportedPair
from reprocheck.verdict import divergence
from reprocheck.verdict.machine import is_of_a_machine
from reprocheck.verdict.series import first_unequal


def reported(continued: Run, resumed: Run, k: int, count: int) -> tuple[Reported, ...]:
    """Return each series that both runs reported in the `count` iterations behind update k.

    Times and what a machine uses are left out.
    """
    own = resumed.by_rank
    both: list[Reported] = []
    for trace in continued.traces:
        other = own.get(trace.rank)
        for series in trace.series:
            if other is None or is_of_a_machine(series.name):
                continue
            was = _by_iteration(series, k)
            now = _by_iteration(other.reported(series.name, series.by), 0)
            pairs = [
                ReportedPair(iteration=iteration, continued=value, resumed=other_value)
                for iteration in sorted(was.keys() & now.keys() & set(range(1, count + 1)))
                for value, other_value in zip_longest(was[iteration], now[iteration])
            ]
            if pairs:
                name, by = series.name, series.by
                both.append(Reported(name=name, by=by, rank=trace.rank, pairs=tuple(pairs)))
    return tuple(both)


def _by_iteration(series: Series, k: int) -> Mapping[int, list[float]]:
    """Return iteration of the resumed run -> what was reported while it was the last one."""
    values: dict[int, list[float]] = defaultdict(list)
    for iteration, value in zip(series.iterations, series.numbers.values, strict=True):
        values[iteration - k].append(value)
    return values


KINDS: tuple[CheckKind, CheckKind] = ("forward", "backward")


def shifted(run: Run, k: int, count: int) -> Run:
    """Return at most `count` iterations of a run from k + 1 on, numbered from 1.

    With k = 0 the run is only cut.
    """
    return replace(run, traces=tuple(_shifted(trace, k, count) for trace in run.traces))


def between(series: LossSeries, k: int, count: int) -> LossSeries:
    """Return the losses of iterations k + 1 … k + count, as far as there are."""
    last = min(k + count, len(series))
    start, end = series.until(min(k, last)), series.until(last)
    exact = {place - start: text for place, text in series.exact.items() if start <= place < end}
    return LossSeries(
        values=series.values[start:end],
        dtype_of=series.dtype_of[start:end],
        dtypes=series.dtypes,
        ends=(array("q", (end - start for end in series.ends[min(k, last) : last]))),
        exact=exact,
    )


def _shifted(trace: Trace, k: int, count: int) -> Trace:
    losses = between(trace.losses, k, count)
    stopped = trace.stopped_at
    if stopped is not None:
        stopped = min(max(0, stopped - k), count)
    checked: list[Checked | None] = [None, None]
    for number, kind in enumerate(KINDS[: len(losses)]):
        start, end = losses.span(number + 1)
        checked[number] = Checked(kind=kind, iteration=number + 1, start=start, end=end)
    last = k + len(losses)
    return replace(
        trace,
        losses=losses,
        series=(),
        forward=checked[0],
        backward=checked[1],
        skipped=tuple(one - k for one in trace.skipped if k < one <= last),
        unordered=tuple(one - k for one in trace.unordered if k < one <= last),
        stopped_at=stopped,
        unfinished=trace.unfinished and len(trace.losses) <= k + count,
    )


NOTHING_TO_COMPARE = ("inconclusive", "script_failed", "timed_out")
"""Verdicts of places of which one side did not go on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sides:
    """Both runs of a place as they were recorded, and how many iterations are compared."""

    continued: Run
    resumed: Run
    go_on: int
    tolerance: Tolerance


def judged(place: model.Place, checkpoint: model.Checkpoint, sides: Sides) -> model.Outcome:
    """Return the outcome of a place from the losses of both runs and the files read."""
    if have_other_ranks(sides.continued, sides.resumed):
        sides = replace(
            sides, continued=over_ranks(sides.continued), resumed=over_ranks(sides.resumed)
        )
    k = offset_of(checkpoint, sides)
    continued = shifted(sides.continued, k, sides.go_on)
    # where the continued run did not come to its own end, no more is looked at than it made
    compared = sides.go_on
    if continued.record.ended != "completed":
        compared = min(sides.go_on, continued.longest)
    resumed = shifted(sides.resumed, 0, compared)
    outcome = model.Outcome(
        place=replace(place, checkpoint=replace(checkpoint, iteration=k)),
        verdict="inconclusive",
        reason="",
        offset=model.Offset(k=k),
        compared=min(continued.longest, resumed.longest),
        losses=losses(continued, resumed, sides.tolerance),
        continued=continued,
        resumed=resumed,
        before=shifted(sides.continued, 0, k),
        read=read_of(checkpoint, sides.resumed),
        reported=reported(sides.continued, sides.resumed, k, sides.go_on),
    )
    return replace(outcome, verdict=_verdict(outcome, sides))


def with_ladder(outcome: model.Outcome, explained: model.Explained) -> model.Outcome:
    """Return the outcome with what the ladder across the gap says.

    The ladder is exact where losses may hide something, as of buffers, or of a schedule that has
    its next step later.
    """
    verdict = outcome.verdict
    if verdict in NOTHING_TO_COMPARE:
        return replace(outcome, explained=explained)
    first, other = explained.first, explained.other_ranks
    if other is not None and first is None and not other.comparable and outcome.compared:
        return replace(outcome, verdict="inconclusive", explained=explained)
    resumes = verdict in ("resumes_exactly", "resumes_within_tolerance")
    if explained.starts_over and verdict == "does_not_resume_exactly":
        verdict = "starts_over"
    elif resumes and first is not None and first.name in ORIGINS:
        verdict = "does_not_resume_exactly"
    return replace(outcome, verdict=verdict, explained=explained)


def offset_of(checkpoint: model.Checkpoint, sides: Sides) -> int:
    """Return k, the number of updates that the checkpoint holds.

    A script that logs its losses by itself, without an optimizer that is known, may save between
    its update and that call, and so may one whose updates are no events, as of JAX. The first loss
    of the resumed run is then that of the iteration behind, in every bit: weights and batch are
    those of there.
    """
    k = checkpoint.iteration
    first = shifted(sides.resumed, 0, 1)
    is_here = _agree(shifted(sides.continued, k, 1), first)
    is_next = _agree(shifted(sides.continued, k + 1, 1), first)
    if is_next and not is_here:
        return k + 1
    return k


def resumed_from(written: Sequence[model.Checkpoint], sides: Sides) -> model.Checkpoint | None:
    """Return the checkpoint that was resumed from; None where no loss says so.

    Of those that a run had written when a signal ended it, the last one behind which the continued
    run has the first loss of the resumed run. A script may pass over one that is cut.
    """
    first = shifted(sides.resumed, 0, 1)
    if not first.longest:
        return None
    for checkpoint in reversed(written):
        if _agree(shifted(sides.continued, checkpoint.iteration, 1), first):
            return checkpoint
    return None


def _agree(continued: Run, resumed: Run) -> bool:
    return divergence.equal_in_bits([continued, resumed])[0].equal is True


def unrepeatable(continued: Run, interrupted: Run) -> int | None:
    """Return the first iteration in which a run started again has other losses, if any."""
    runs = [shifted(run, 0, interrupted.longest) for run in (continued, interrupted)]
    bitwise, _ = divergence.equal_in_bits(runs)
    if bitwise.one_is_longer:
        return None
    return bitwise.first_iteration


def losses(continued: Run, resumed: Run, tolerance: Tolerance) -> model.Losses:
    """Return what the losses say; both runs have the numbers of the resumed run."""
    runs = [continued, resumed]
    bitwise, _ = divergence.equal_in_bits(runs)
    if continued.longest and not resumed.longest:
        bitwise = Bitwise(equal=False, first_iteration=1, one_is_longer=True)
    # rank -> the first iteration in which its losses are not equal
    unequal: dict[int, int] = {}
    for rank in continued.by_rank.keys() & resumed.by_rank.keys():
        sides = (run.by_rank[rank].losses for run in reversed(runs))
        first = first_unequal(*sides)
        if first is not None:
            unequal[rank] = first.iteration
    earliest = min(unequal.values(), default=0)
    ranks = sorted(rank for rank, iteration in unequal.items() if iteration == earliest)
    pair: tuple[float | None, float | None] = (None, None)
    at = bitwise.first_iteration
    if ranks and at is not None:
        sides = (run.by_rank[ranks[0]].losses for run in runs)
        one, other = (side.losses(at) if at <= len(side) else array("d") for side in sides)
        pairs = zip_longest(one, other)
        # a NaN equals a NaN
        pair = next((both for both in pairs if repr(both[0]) != repr(both[1])), pair)
    return model.Losses(
        bitwise=bitwise,
        outside=divergence.first_divergence(runs, tolerance),
        continued=pair[0],
        resumed=pair[1],
        ranks=tuple(ranks),
    )


def read_of(checkpoint: model.Checkpoint, resumed: Run) -> tuple[str, ...]:
    """Return the files of a checkpoint that a run opened before its first loss."""
    early = read_early(resumed)
    return tuple(path for path in checkpoint.files if path in early)


def read_early(run: Run) -> frozenset[str]:
    """Return files that a run found there and opened before its first loss.

    As far as is known: of some kinds, and of very many, only the opening is recorded.
    """
    reads = run.first_reads
    late = {path for path, read in reads.items() if not read.early}
    return frozenset({*run.opened, *reads} - late)


def _verdict(outcome: model.Outcome, sides: Sides) -> model.ResumeVerdict:
    """Return the verdict, in the order of `docs/reference/resume.md`.

    A run that could not be compared comes first, then what the losses say.
    """
    record = sides.resumed.record
    if record.ended == "interrupted":
        return "inconclusive"
    if record.ended_badly:
        return "timed_out" if record.ended == "timed_out" else "script_failed"
    has_gone_on = outcome.continued is not None and outcome.continued.longest > 0
    if not sides.continued.recorded_losses or not has_gone_on:
        return "inconclusive"
    assert outcome.losses is not None
    bitwise, outside = outcome.losses.bitwise, outcome.losses.outside
    if bitwise.equal:
        return "resumes_exactly"
    if starts_over(outcome, sides):
        return "starts_over"
    if outside is None and not bitwise.one_is_longer:
        return "resumes_within_tolerance"
    return "does_not_resume_exactly"


def starts_over(outcome: model.Outcome, sides: Sides) -> bool:
    """Return whether the resumed run begins anew: like the continued one, or unread.

    It has the losses of the continued run from the first iteration on, or read nothing of the
    checkpoint. One that made no iteration started nothing.
    """
    if not outcome.compared:
        return False
    checkpoint = outcome.place.checkpoint
    # savers whose files are read again without an event
    is_unseen = checkpoint is not None and checkpoint.by.startswith("orbax")
    if not outcome.read and not is_unseen:
        return True
    first = shifted(sides.continued, 0, outcome.compared)
    return _agree(first, shifted(sides.resumed, 0, outcome.compared))
