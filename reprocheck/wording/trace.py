"""The sentences of what could not be read of the traces of a run, and of its ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from reprocheck.language import shortlist
from reprocheck.language.ranks import named
from reprocheck.model import Check, Run, Trace
from reprocheck.model.statements import trace as statements
from reprocheck.wording.say import say

_Recording = TypeVar("_Recording", Run, Trace)
_MOST_NAMED = 8
"""Trainings of which the thread is named."""
_MOST_KINDS = 5
"""Kinds of events that are named."""
_INCOMPLETE: Mapping[str, str] = {
    "last line": "its last line is incomplete",
    "not written": "it could not be written to its end",
}
_LEFT_OUT: Mapping[str, str] = {
    "no events": "lines of a trace that are no events were left out: {number}",
    "too many": "events of a trace beyond what is kept of one process were left out: {number}",
    "losses": "{number} losses of a trace are missing",
    "facts": "{number} facts after the first {most} were left out",
    "unknown": "events of a trace that are of unknown kinds were left out ({number}): {names}",
}


def told(check: Check) -> Check:
    """Return the check with the sentences of its runs."""
    return replace(check, runs=tuple(map(told_run, check.runs)))


def told_run(run: Run) -> Run:
    """Return the run with the sentences of its traces."""
    return replace(_told(run), traces=tuple(map(_told, run.traces)))


def _told(recording: _Recording) -> _Recording:
    return replace(
        recording,
        caveats=tuple(map(say, recording.caveats)),
        problems=tuple(map(say, recording.problems)),
        broken=say(recording.broken),
    )


@say.register
def unreadable(trace: statements.Unreadable) -> str:
    """Return why a trace was not read."""
    if trace.left_alone:
        return f"{trace.left_alone}, so it was not read"
    return f"a trace could not be read: {trace.error}"


@say.register
def incomplete(trace: statements.Incomplete) -> str:
    """Return what is missing at the end of a trace."""
    return _INCOMPLETE[trace.kind]


@say.register
def breaks_off(trace: statements.TraceBreaksOff) -> str:
    """Return why lines of a trace are missing."""
    return f"the trace breaks off: {say(trace.why)}"


@say.register
def left_out(lines: statements.LinesLeftOut) -> str:
    """Return how many lines were not taken."""
    names = ", ".join(lines.names[:_MOST_KINDS])[:200]
    return _LEFT_OUT[lines.kind].format(number=lines.number, most=lines.most, names=names)


@say.register
def newer_format(trace: statements.NewerFormat) -> str:
    """Return that a trace has a newer format."""
    return (
        f"a trace was written by a newer reprocheck (format {trace.version}; this one"
        f" reads {trace.known}), so parts of it may be missing here; upgrade reprocheck"
    )


@say.register
def no_such_rank(trace: statements.NoSuchRank) -> str:
    """Return the rank that a trace gives itself."""
    return f"a trace says that it is rank {trace.rank} of {trace.world}, which is not believed"


@say.register
def second_process(process: statements.SecondProcess) -> str:
    """Return under which rank the second process of a rank is reported."""
    return (
        f"A second process trained as rank {process.rank}; it is reported as rank"
        f" {process.reported}."
    )


@say.register
def ranks_given(given: statements.RanksGiven) -> str:
    """Return the ranks of processes that said none."""
    ranks = named(given.ranks)
    if len(given.ranks) == 1:
        return f"A process trained without saying its rank; it is reported as {ranks}."
    return f"Several processes trained without saying their ranks; they are reported as {ranks}."


@say.register
def trainings_in_threads(several: statements.TrainingsInThreads) -> str:
    """Return which rank stands for which thread."""
    names = [f"rank {rank} is {thread or 'the main thread'}" for rank, thread in several.trainings]
    return (
        "Several trainings run in threads or tasks of one process:"
        f" {shortlist(names, _MOST_NAMED)}. What they share, such as a generator, they"
        " use in the order of a race; where they differ, let one run at a time"
        " (`n_jobs=1`). What they report beside losses is not compared."
    )


@say.register
def losses_of_several(_: statements.LossesOfSeveral) -> str:
    """Return that losses of several trainings cannot be told apart."""
    return (
        "Optimizers step in several threads or tasks, and which losses belong to which"
        " is not known; where the runs differ, let one training run at a time"
        " (`n_jobs=1`)."
    )


@say.register
def ranks_missing(ranks: statements.RanksMissing) -> str:
    """Return how many ranks recorded something, and what is known of the others."""
    parts = []
    if ranks.unseen:
        parts.append(f"no process of {named(ranks.unseen)} loaded the recorder")
    if ranks.silent:
        parts.append(f"{named(ranks.silent)} started and recorded none")
    reported = f"{ranks.recorded} of {ranks.world} ranks reported a loss or an update"
    return f"{reported}: {', and '.join(parts)}."
