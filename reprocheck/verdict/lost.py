"""Ranks that ended before the others, and ranks that are behind: what a run that hangs or fails
says of its ranks.

Which rank ended first is known from outside, on one machine; times of several machines are not
compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from math import inf
from operator import attrgetter

from reprocheck.language import count, form, joined, tr
from reprocheck.model import Ended, Process, Run, Trace
from reprocheck.model.ranks import named
from reprocheck.verdict import words

_MOST_NAMED = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rank:
    """A rank as far as it came.

    reached     the last iteration of which it recorded anything
    unfinished  whether that iteration was under way
    stopped     whether it ended at its stop
    broken      whether its recording breaks off, so that it came further than that
    """

    number: int
    process: Process
    reached: int
    unfinished: bool = False
    stopped: bool = False
    broken: bool = False

    @property
    def error(self) -> str:
        """The error that ended it; empty where it was only asked to end."""
        error = self.process.error
        # what ends a process that is asked to end
        if error.startswith(("KeyboardInterrupt", "SystemExit")):
            return ""
        return error

    @property
    def gone(self) -> float:
        """Seconds after the start at which its process had ended; infinite where it had not."""
        if self.process.gone is None:
            return inf
        return self.process.gone

    @property
    def alive(self) -> bool:
        """Return whether nobody saw its process end."""
        return self.gone == inf

    @property
    def machine(self) -> tuple[bool, int | None]:
        """Return whether its machine has a number, and which: the one without comes first."""
        return self.process.node is not None, self.process.node

    @property
    def when(self) -> str:
        """Return `in iteration 5` where that was under way, `after iteration 4` where it had
        ended.
        """
        reached = words.reached(self.reached, unfinished=self.unfinished)
        return reached or tr("before its first loss")

    @property
    def how(self) -> str:
        """Return how it ended."""
        if self.error:
            return tr("with {error}", error=self.error)
        if self.process.ended:
            return tr("by its own exit or an error that was caught")
        return tr(
            "killed by a signal or left by os._exit: its interpreter did not come to its exit"
        )


_NUMBER: Callable[[_Rank], int] = attrgetter("number")
_REACHED: Callable[[_Rank], int] = attrgetter("reached")
_MACHINE: Callable[[_Rank], tuple[bool, int | None]] = attrgetter("machine")


def lost(run: Run) -> str:
    """Return which rank ended first, when and how, and which were still waiting; or which is
    behind.

    Empty where nothing of that is to be said.
    """
    ranks = _ranks(run)
    if len(ranks) < 2:
        return ""
    furthest = max(map(_REACHED, ranks))
    on_one_machine = partial(_on_one_machine, run=run, furthest=furthest)
    # Trainings in threads of one process do not end one after the other.
    apart = [rank for rank in ranks if not rank.process.in_thread]
    said = joined(tr("; "), map(on_one_machine, _by_machine(apart)))
    ended_by_us = run.record.ended in ("timed_out", "interrupted")
    if ended_by_us and not said:
        return _behind(ranks, furthest)
    return said


def _by_machine(ranks: Sequence[_Rank]) -> list[list[_Rank]]:
    """Return the ranks of each machine, in the order of the machines' numbers."""
    in_order = sorted(ranks, key=_MACHINE)
    return [list(there) for _, there in groupby(in_order, key=_MACHINE)]


def _ranks(run: Run) -> list[_Rank]:
    """Return those that trained, and those of which a process started.

    Data workers and helpers have their rank from the process that started them, and are none.
    """
    found = {trace.rank: _of_trace(trace) for trace in run.traces}
    known = {(one.pid, one.rank, one.node) for one in run.processes}
    for one in run.processes:
        started_by_rank = (one.ppid, one.rank, one.node) in known
        if one.rank is not None and not started_by_rank:
            found.setdefault(one.rank, _Rank(number=one.rank, process=one, reached=0))
    return sorted(found.values(), key=_NUMBER)


def _of_trace(trace: Trace) -> _Rank:
    return _Rank(
        number=trace.rank,
        process=trace.process,
        reached=len(trace.losses),
        unfinished=trace.unfinished,
        stopped=trace.stopped_at is not None,
        broken=bool(trace.broken),
    )


def _on_one_machine(ranks: Sequence[_Rank], run: Run, furthest: int) -> str:
    """Return who ended first there."""
    where = ""
    numbered, node = ranks[0].machine
    if numbered:
        where = tr("on node {node} ", node=node)
    early = [rank for rank in ranks if _too_early(rank, run, furthest)]
    if not early:
        return ""
    # Of ranks that were seen to end at the same time the one that came least far is named first,
    # and one that was killed before one that came to its exit.
    first = min(early, key=attrgetter("gone", "reached", "process.ended", "number"))
    if not first.alive:
        others = _OTHERS[run.record.ended](first, ranks)
        return where + _first(first, ranks) + others
    # Nobody saw these end: their errors alone tell of them, and not which came first.
    if len(early) == len(ranks):
        return ""
    ends = (
        tr(
            "{where}rank {number} ended {when}, {how}",
            where=where,
            number=rank.number,
            when=rank.when,
            how=rank.how,
        )
        for rank in early
    )
    return joined(tr("; "), islice(ends, _MOST_NAMED))


def _first(first: _Rank, ranks: Sequence[_Rank]) -> str:
    """Return, of the rank that was seen to end first of those that ended too early, when and
    how.
    """
    ended = tr("ended")
    if first.gone == min(map(attrgetter("gone"), ranks)):
        ended = tr("ended first")
    return tr(
        "rank {number} {ended}, {when}, {how}",
        number=first.number,
        ended=ended,
        when=first.when,
        how=first.how,
    )


def _too_early(rank: _Rank, run: Run, furthest: int) -> bool:
    """Return whether a rank ended before it came to the end of its training, as far as that can be
    seen.

    A process that was forked leaves no word at its end, and is known by how far it came.
    """
    if rank.error:
        return True
    # One that nobody saw end may still be waiting for the others.
    if rank.alive or rank.broken:
        return False
    # One that came to its interpreter's exit says so: it may have been stopped by us.
    behind = rank.reached < furthest
    if rank.process.ended:
        return behind and not rank.stopped
    # The others left without a word, as forks do at their usual end. In a run that failed, that is
    # too early for a process that is no fork, and in an iteration that was under way.
    if behind or run.record.ended_as_planned:
        return behind
    return rank.unfinished or rank.process.name == "MainProcess"


def _ended_after(first: _Rank, ranks: Sequence[_Rank]) -> str:
    """Return which of the others were seen to end after the first."""
    gone = [rank.number for rank in ranks if first.gone <= rank.gone < inf]
    gone.remove(first.number)
    if not gone:
        return ""
    return tr("; {named} ended after it", named=named(gone))


def _waiting(_: _Rank, ranks: Sequence[_Rank]) -> str:
    """Return which of the others had not ended when we ended the run."""
    waiting = [rank for rank in ranks if rank.alive]
    if not waiting:
        return ""
    last = max(map(_REACHED, waiting))
    who = named(list(map(_NUMBER, waiting)))
    return form(
        len(waiting),
        "; {who} was still waiting in iteration {last} when the run was ended",
        "; {who} were still waiting in iteration {last} when the run was ended",
        who=who,
        last=last,
    )


def _nothing(_: _Rank, __: Sequence[_Rank]) -> str:
    """Return "": in a run that came to its end, nothing became of the others."""
    return ""


_OTHERS: Mapping[Ended, Callable[[_Rank, Sequence[_Rank]], str]] = {
    "completed": _nothing,
    "stopped": _nothing,
    "failed": _ended_after,
    "timed_out": _waiting,
    "interrupted": _waiting,
}
"""How a run ended -> what is said of the ranks beside the one that ended first."""


def _behind(ranks: Sequence[_Rank], furthest: int) -> str:
    """Nobody ended: the ranks that have recorded least."""
    if not furthest:
        return ""
    last = min(map(_REACHED, ranks))
    if last == furthest:
        return tr(
            "all {ranks} ranks have come to iteration {furthest} and none is behind",
            ranks=len(ranks),
            furthest=furthest,
        )
    slow = [rank.number for rank in ranks if rank.reached == last]
    where = form(len(slow), "it recorded no loss", "they recorded no loss")
    if last:
        where = form(
            len(slow),
            "the last iteration of which it recorded a loss is {last}",
            "the last iteration of which they recorded a loss is {last}",
            last=last,
        )
    others = form(len(ranks) - len(slow), "the other", "the others")
    return form(
        len(slow),
        "{named} is behind: {where}, {others} came to iteration {furthest}",
        "{named} are behind: {where}, {others} came to iteration {furthest}",
        named=named(slow),
        where=where,
        others=others,
        furthest=furthest,
    )


def early(runs: Sequence[Run]) -> Iterator[str]:
    """Ranks of runs that went well otherwise which ended before the others."""
    for run in runs:
        # How the others ended is said of them with what was lost.
        if not run.record.ended_as_planned:
            continue
        sentence = lost(run) or _uneven(run)
        if sentence:
            yield tr("Run {number}: {sentence}.", number=run.number, sentence=sentence)


def _uneven(run: Run) -> str:
    """Ranks that did not record the same number of iterations."""
    lengths = defaultdict(list)
    for trace in run.traces:
        lengths[len(trace.losses)].append(trace.rank)
    if len(lengths) < 2:
        return ""
    longest = sorted(lengths.items(), reverse=True)[:_MOST_NAMED]
    counts = (
        tr(
            "{named} recorded {iterations}",
            named=named(ranks),
            iterations=count(length, "iteration"),
        )
        for length, ranks in longest
    )
    return tr("the ranks are not of the same length: {counts}", counts=joined(tr(", "), counts))
