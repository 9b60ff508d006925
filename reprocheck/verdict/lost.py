"""Ranks that ended before the others, and ranks that are behind: what a run that hangs or fails
says of its ranks.

Which rank ended first is known from outside, on one machine; times of several machines are not
compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from reprocheck.model import Process, Run, Trace
from reprocheck.model.ranks import named
from reprocheck.verdict import words

_OF_THE_END = ("KeyboardInterrupt", "SystemExit")
"""What ends a process that is asked to end."""
_ENDED_BY_US = ("timed_out", "interrupted")
_MOST_NAMED = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rank:
    """A rank as far as it came.

    reached     the last iteration of which it recorded anything
    unfinished  whether that iteration was under way
    stopped     whether it ended at its stop
    """

    number: int
    process: Process
    reached: int
    unfinished: bool = False
    stopped: bool = False

    @property
    def error(self) -> str:
        error = self.process.error
        return "" if error.startswith(_OF_THE_END) else error

    @property
    def gone(self) -> float:
        """Seconds after the start at which its process had ended; infinite where it had not."""
        gone = self.process.gone
        return inf if gone is None else gone

    @property
    def alive(self) -> bool:
        """Whether nobody saw its process end."""
        return self.process.gone is None

    @property
    def when(self) -> str:
        """`in iteration 5` where that was under way, `after iteration 4` where it had ended."""
        if not self.reached:
            return "before its first loss"
        preposition = "in" if self.unfinished else "after"
        return f"{preposition} iteration {self.reached}"

    @property
    def how(self) -> str:
        """How it ended."""
        if self.error:
            return f"with {self.error}"
        if self.process.ended:
            return "by its own exit or an error that was caught"
        return "killed by a signal or left by os._exit: its interpreter did not come to its exit"


def lost(run: Run) -> str:
    """Which rank ended first, when and how, and which were still waiting; or which is behind.

    Empty where nothing of that is to be said.
    """
    ranks = _ranks(run)
    if len(ranks) < 2:
        return ""
    furthest = max(rank.reached for rank in ranks)
    found = [_on_one_machine(machine, run, furthest) for machine in _by_machine(ranks)]
    said = "; ".join(filter(None, found))
    if said or run.record.ended not in _ENDED_BY_US:
        return said
    return _behind(ranks, furthest)


def _by_machine(ranks: Sequence[_Rank]) -> list[list[_Rank]]:
    """The ranks of each machine, in the order of the machines' numbers; without one first."""
    machines: dict[int, list[_Rank]] = {}
    for rank in ranks:
        node = rank.process.node
        machines.setdefault(-1 if node is None else node, []).append(rank)
    return [machines[number] for number in sorted(machines)]


def _ranks(run: Run) -> list[_Rank]:
    """Those that trained, and those of which a process started; not what these started
    themselves.
    """
    found = {trace.rank: _of_trace(trace) for trace in run.traces}
    for process in run.processes:
        number = process.rank
        if number is None or number in found:
            continue
        if not _started_by_rank(process, run.processes):
            found[number] = _Rank(number=number, process=process, reached=0)
    return [found[number] for number in sorted(found)]


def _of_trace(trace: Trace) -> _Rank:
    return _Rank(
        number=trace.rank,
        process=trace.process,
        reached=len(trace.losses),
        unfinished=trace.unfinished,
        stopped=trace.stopped_at is not None,
    )


def _started_by_rank(process: Process, processes: Sequence[Process]) -> bool:
    """Data workers and helpers have their rank from the process that started them."""
    return any(
        other.pid == process.ppid and other.rank == process.rank and other.node == process.node
        for other in processes
    )


def _on_one_machine(ranks: Sequence[_Rank], run: Run, furthest: int) -> str:
    """Who ended first there."""
    early = [rank for rank in ranks if _too_early(rank, run, furthest)]
    node = ranks[0].process.node
    where = "" if node is None else f"on node {node} "
    seen = [rank for rank in early if not rank.alive]
    if seen:
        first = min(seen, key=lambda one: (one.gone, one.reached, one.process.ended, one.number))
        return f"{where}{_first(first, ranks)}{_others(first, ranks, run)}"
    failed = run.record.ended == "failed"
    said = [rank for rank in early if rank.error or (failed and rank.reached < furthest)]
    if len(said) == len(ranks):
        return ""
    return "; ".join(
        f"{where}rank {rank.number} ended {rank.when}, {rank.how}" for rank in said[:_MOST_NAMED]
    )


def _first(first: _Rank, ranks: Sequence[_Rank]) -> str:
    """Of the rank that was seen to end first of those that ended too early: when and how."""
    before_all = all(rank.gone >= first.gone for rank in ranks)
    ended = "ended first" if before_all else "ended"
    return f"rank {first.number} {ended}, {first.when}, {first.how}"


def _too_early(rank: _Rank, run: Run, furthest: int) -> bool:
    """Whether a rank ended before it came to the end of its training, as far as that can be seen.

    A process that was forked leaves no word at its end, and is known by how far it came.
    """
    if rank.error:
        return True
    if rank.alive:
        return False
    behind = rank.reached < furthest
    if rank.process.ended:
        return behind and not rank.stopped
    if behind:
        return True
    failed = run.record.ended in ("failed", *_ENDED_BY_US)
    return failed and (rank.unfinished or rank.process.name == "MainProcess")


def _others(first: _Rank, ranks: Sequence[_Rank], run: Run) -> str:
    """What became of the others."""
    others = [rank for rank in ranks if rank is not first]
    waiting = [rank for rank in others if rank.alive]
    if waiting and run.record.ended in _ENDED_BY_US:
        last = max(rank.reached for rank in waiting)
        verb = "was" if len(waiting) == 1 else "were"
        who = named([rank.number for rank in waiting])
        return f"; {who} {verb} still waiting in iteration {last} when the run was ended"
    later = [rank.number for rank in others if not rank.alive and rank.gone >= first.gone]
    if later and run.record.ended == "failed":
        return f"; {named(later)} ended after it"
    return ""


def _behind(ranks: Sequence[_Rank], furthest: int) -> str:
    """Nobody ended: the ranks that have recorded least."""
    last = min(rank.reached for rank in ranks)
    if not furthest:
        return ""
    if last == furthest:
        return f"all {len(ranks)} ranks have come to iteration {furthest} and none is behind"
    slow = [rank.number for rank in ranks if rank.reached == last]
    who, verb = ("it", "is") if len(slow) == 1 else ("they", "are")
    others = "other" if len(ranks) - len(slow) == 1 else "others"
    where = f"{who} recorded no loss"
    if last:
        where = f"the last iteration of which {who} recorded a loss is {last}"
    return f"{named(slow)} {verb} behind: {where}, the {others} came to iteration {furthest}"


def early(runs: Sequence[Run]) -> Iterator[str]:
    """Ranks of runs that went well otherwise which ended before the others."""
    for run in runs:
        if run.record.ended not in ("completed", "stopped"):
            continue
        sentence = lost(run) or _uneven(run)
        if sentence:
            yield f"Run {run.number}: {sentence}."


def _uneven(run: Run) -> str:
    """Ranks that did not record the same number of iterations."""
    lengths: dict[int, list[int]] = {}
    for trace in run.traces:
        lengths.setdefault(len(trace.losses), []).append(trace.rank)
    if len(lengths) < 2:
        return ""
    longest_first = sorted(lengths, reverse=True)[:_MOST_NAMED]
    counts = [
        f"{named(lengths[length])} recorded {words.count(length, 'iteration')}"
        for length in longest_first
    ]
    return "the ranks are not of the same length: " + ", ".join(counts)
