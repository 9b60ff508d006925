"""The sentences of what could not be read of the traces of a run, and of its ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reprocheck.language import form, joined, mark, shortlist, tr
from reprocheck.language.ranks import named
from reprocheck.model import Check, Run, Trace
from reprocheck.model.statements.trace import (
    Incomplete,
    LinesLeftOut,
    LossesOfSeveral,
    NewerFormat,
    NoSuchRank,
    RanksGiven,
    RanksMissing,
    SecondProcess,
    TraceBreaksOff,
    TrainingsInThreads,
    Unreadable,
)
from reprocheck.wording.say import say

_MOST_NAMED = 8
"""Trainings of which the thread is named."""
_MOST_KINDS = 5
"""Kinds of events that are named."""
_INCOMPLETE: Mapping[str, str] = {
    "last line": mark("its last line is incomplete"),
    "not written": mark("it could not be written to its end"),
}
_LEFT_OUT: Mapping[str, str] = {
    "no events": mark("lines of a trace that are no events were left out: {number}"),
    "too many": mark(
        "events of a trace beyond what is kept of one process were left out: {number}"
    ),
    "losses": mark("{number} losses of a trace are missing"),
    "facts": mark("{number} facts after the first {most} were left out"),
    "unknown": mark(
        "events of a trace that are of unknown kinds were left out ({number}): {names}"
    ),
}


def told(check: Check) -> Check:
    """Return the check with the sentences of its runs."""
    return replace(check, runs=tuple(map(told_run, check.runs)))


def told_run(run: Run) -> Run:
    """Return the run with the sentences of its traces."""
    return replace(
        run,
        traces=tuple(map(_told_trace, run.traces)),
        caveats=tuple(map(say, run.caveats)),
        problems=tuple(map(say, run.problems)),
        broken=say(run.broken),
    )


def _told_trace(trace: Trace) -> Trace:
    return replace(
        trace,
        caveats=tuple(map(say, trace.caveats)),
        problems=tuple(map(say, trace.problems)),
        broken=say(trace.broken),
    )


@say.register
def unreadable(trace: Unreadable) -> str:
    """Return why a trace was not read."""
    if trace.left_alone:
        return tr("{why}, so it was not read", why=trace.left_alone)
    return tr("a trace could not be read: {error}", error=trace.error)


@say.register
def incomplete(trace: Incomplete) -> str:
    """Return what is missing at the end of a trace."""
    return tr(_INCOMPLETE[trace.kind])


@say.register
def breaks_off(trace: TraceBreaksOff) -> str:
    """Return why lines of a trace are missing."""
    return tr("the trace breaks off: {why}", why=say(trace.why))


@say.register
def left_out(lines: LinesLeftOut) -> str:
    """Return how many lines were not taken."""
    names = ", ".join(lines.names[:_MOST_KINDS])[:200]
    return tr(_LEFT_OUT[lines.kind], number=lines.number, most=lines.most, names=names)


@say.register
def newer_format(trace: NewerFormat) -> str:
    """Return that a trace has a newer format."""
    return tr(
        "a trace was written by a newer reprocheck (format {version}; this one reads"
        " {format_version}), so parts of it may be missing here; upgrade reprocheck",
        version=trace.version,
        format_version=trace.known,
    )


@say.register
def no_such_rank(trace: NoSuchRank) -> str:
    """Return the rank that a trace gives itself."""
    return tr(
        "a trace says that it is rank {rank} of {world}, which is not believed",
        rank=trace.rank,
        world=trace.world,
    )


@say.register
def second_process(process: SecondProcess) -> str:
    """Return under which rank the second process of a rank is reported."""
    return tr(
        "A second process trained as rank {rank}; it is reported as rank {reported}.",
        rank=process.rank,
        reported=process.reported,
    )


@say.register
def ranks_given(given: RanksGiven) -> str:
    """Return the ranks of processes that said none."""
    return form(
        len(given.ranks),
        "A process trained without saying its rank; it is reported as {named}.",
        "Several processes trained without saying their ranks; they are reported as {named}.",
        named=named(given.ranks),
    )


@say.register
def trainings_in_threads(several: TrainingsInThreads) -> str:
    """Return which rank stands for which thread."""
    names = [
        tr("rank {rank} is {name}", rank=rank, name=thread or tr("the main thread"))
        for rank, thread in several.trainings
    ]
    return tr(
        "Several trainings run in threads or tasks of one process: {trainings}. What they"
        " share, such as a generator, they use in the order of a race; where they differ, let"
        " one run at a time (`n_jobs=1`). What they report beside losses is not compared.",
        trainings=shortlist(names, _MOST_NAMED),
    )


@say.register
def losses_of_several(_: LossesOfSeveral) -> str:
    """Return that losses of several trainings cannot be told apart."""
    return tr(
        "Optimizers step in several threads or tasks, and which losses belong to which is"
        " not known; where the runs differ, let one training run at a time (`n_jobs=1`)."
    )


@say.register
def ranks_missing(ranks: RanksMissing) -> str:
    """Return how many ranks recorded something, and what is known of the others."""
    unseen, silent = "", ""
    if ranks.unseen:
        unseen = tr("no process of {ranks} loaded the recorder", ranks=named(ranks.unseen))
    if ranks.silent:
        silent = tr("{ranks} started and recorded none", ranks=named(ranks.silent))
    return tr(
        "{number} of {world} ranks reported a loss or an update: {parts}.",
        number=ranks.recorded,
        world=ranks.world,
        parts=joined(tr(", and "), (unseen, silent)),
    )
