"""Ranks that ended before the others, and ranks that are behind, in a run that hangs or fails.

Which rank ended first is observed from outside the processes, and only within one machine: times of
several machines are not compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from math import inf
from operator import attrgetter

from reprocheck.model import Process, Run
from reprocheck.model.statements.verdict import (
    LostOnNode,
    LostRank,
    RanksBehind,
    RanksLost,
    RanksOfRun,
    UnevenRanks,
)

_MOST_NAMED = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rank:
    """How far a rank came.

    number      the number of the rank
    process     the process of the rank
    reached     the last iteration of which the rank recorded anything
    unfinished  whether that iteration was under way
    stopped     whether reprocheck stopped the rank at the last iteration to record
    broken      whether the recording of the rank breaks off, so that the rank came further than
                `reached`
    """

    number: int
    process: Process
    reached: int
    unfinished: bool = False
    stopped: bool = False
    broken: bool = False

    @property
    def error(self) -> str:
        """The error that ended the rank; empty if the rank was only asked to end, as by Ctrl-C."""
        error = self.process.error
        # what ends a process that is asked to end
        if error.startswith(("KeyboardInterrupt", "SystemExit")):
            return ""
        return error

    @property
    def gone(self) -> float:
        """Return the seconds from the run's start to the process's end; inf if nobody saw it."""
        if self.process.gone is None:
            return inf
        return self.process.gone

    @property
    def alive(self) -> bool:
        """Return whether nobody saw its process end."""
        return self.gone == inf

    @property
    def machine(self) -> tuple[bool, int | None]:
        """Return a sort key for the machine of a rank: machines without a number come first."""
        return self.process.node is not None, self.process.node

    @property
    def told(self) -> LostRank:
        """Return where and how the rank ended."""
        return LostRank(
            rank=self.number,
            iteration=self.reached,
            unfinished=self.unfinished,
            error=self.error,
            exited=bool(self.process.ended),
        )


_NUMBER: Callable[[_Rank], int] = attrgetter("number")
_REACHED: Callable[[_Rank], int] = attrgetter("reached")
_MACHINE: Callable[[_Rank], tuple[bool, int | None]] = attrgetter("machine")


def lost(run: Run) -> RanksLost | RanksBehind | None:
    """Return the ranks that ended first, and those still waiting; or the ranks that are behind.

    None if no rank ended early or is behind.
    """
    by_number = {}
    for trace in run.traces:
        by_number[trace.rank] = _Rank(
            number=trace.rank,
            process=trace.process,
            reached=len(trace.losses),
            unfinished=trace.unfinished,
            stopped=trace.stopped_at is not None,
            broken=bool(trace.broken),
        )
    known = {(process.pid, process.rank, process.node) for process in run.processes}
    for process in run.processes:
        # data workers and helpers have their rank from the process that started them, and are none
        is_helper = (process.ppid, process.rank, process.node) in known
        if process.rank is not None and not is_helper:
            rank = _Rank(number=process.rank, process=process, reached=0)
            by_number.setdefault(process.rank, rank)
    ranks = sorted(by_number.values(), key=_NUMBER)
    if len(ranks) < 2:
        return None
    furthest = max(map(_REACHED, ranks))
    on_one_machine = partial(_on_one_machine, run=run, furthest=furthest)
    # Trainings in threads of one process do not end one after the other.
    apart = [rank for rank in ranks if not rank.process.in_thread]
    in_order = sorted(apart, key=_MACHINE)
    by_machine = [list(there) for _, there in groupby(in_order, key=_MACHINE)]
    nodes = tuple(filter(None, map(on_one_machine, by_machine)))
    if nodes:
        return RanksLost(nodes=nodes)
    if _ended_by_us(run) and furthest:
        slow = min(map(_REACHED, ranks))
        behind = tuple(rank.number for rank in ranks if rank.reached == slow)
        return RanksBehind(ranks=behind, world=len(ranks), last=slow, furthest=furthest)
    return None


def _ended_by_us(run: Run) -> bool:
    return run.record.ended in ("timed_out", "interrupted")


def _on_one_machine(ranks: Sequence[_Rank], run: Run, furthest: int) -> LostOnNode | None:
    """Return which of the ranks on one machine ended first; None if none ended early."""
    early = [rank for rank in ranks if _too_early(rank, run, furthest)]
    if not early:
        return None
    node = ranks[0].process.node
    # Of ranks that were seen to end at the same time the one that came least far is named first,
    # and one that was killed before one that came to its exit.
    first = min(early, key=attrgetter("gone", "reached", "process.ended", "number"))
    if first.alive:
        # Nobody saw these end: their errors alone tell of them, and not which came first.
        if len(early) == len(ranks):
            return None
        return LostOnNode(node=node, ended=tuple(rank.told for rank in early[:_MOST_NAMED]))
    # In a run that came to its end, nothing became of the others.
    after, waiting = [], []
    if run.record.ended == "failed":
        gone = [rank.number for rank in ranks if first.gone <= rank.gone < inf]
        after = [number for number in gone if number != first.number]
    if _ended_by_us(run):
        waiting = [rank for rank in ranks if rank.alive]
    return LostOnNode(
        node=node,
        ended=(first.told,),
        seen=True,
        first=first.gone == min(map(attrgetter("gone"), ranks)),
        after=tuple(after),
        waiting=tuple(map(_NUMBER, waiting)),
        last=max(map(_REACHED, waiting), default=0),
    )


def _too_early(rank: _Rank, run: Run, furthest: int) -> bool:
    """Return whether a rank is seen to have ended before the end of its training.

    A forked process records nothing at its exit: it is judged by how far it came.
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


def early(runs: Sequence[Run]) -> Iterator[RanksOfRun]:
    """Yield the ranks that ended before others in runs that ended as planned."""
    for run in runs:
        # How the others ended is told of them with what was lost.
        if not run.record.ended_as_planned:
            continue
        ranks = lost(run) or _uneven(run)
        if ranks is not None:
            yield RanksOfRun(run=run.number, ranks=ranks)


def _uneven(run: Run) -> UnevenRanks | None:
    """Return the ranks by their number of recorded iterations.

    None if all ranks recorded the same number.
    """
    lengths = defaultdict(list)
    for trace in run.traces:
        lengths[len(trace.losses)].append(trace.rank)
    if len(lengths) < 2:
        return None
    longest = sorted(lengths.items(), reverse=True)[:_MOST_NAMED]
    return UnevenRanks(lengths=tuple((length, tuple(ranks)) for length, ranks in longest))
