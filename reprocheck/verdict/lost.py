"""Ranks that ended before the others, and ranks that are behind: what a run that hangs or fails
says of its ranks.

Which rank ended first is known from outside, on one machine; times of several machines are not
compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reprocheck.model import Process, Run, Trace
from reprocheck.model.ranks import named
from reprocheck.verdict import words

_OF_THE_END = ("KeyboardInterrupt", "SystemExit")
"""What ends a process that is asked to end."""
_ENDED_BY_US = ("timed_out", "interrupted")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rank:
    """A rank as far as it came: `reached` is the last iteration of which it recorded anything,
    `stopped` whether it ended at its stop.
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


def lost(run: Run) -> str:
    """Which rank ended first, when and how, and which were still waiting; or which is behind.

    Empty where nothing of that is to be said.
    """
    ranks = _ranks(run)
    if len(ranks) < 2:
        return ""
    furthest = max(rank.reached for rank in ranks)
    nodes = sorted(
        {rank.process.node for rank in ranks}, key=lambda node: -1 if node is None else node
    )
    found = [
        sentence
        for node in nodes
        if (
            sentence := _on_one_machine([r for r in ranks if r.process.node == node], run, furthest)
        )
    ]
    if found:
        return "; ".join(found)
    return _behind(ranks, furthest) if run.record.ended in _ENDED_BY_US else ""


def _ranks(run: Run) -> list[_Rank]:
    """Those that trained, and those of which a process started; not what these started
    themselves.
    """
    found = {trace.rank: _of_trace(trace) for trace in run.traces}
    for process in run.processes:
        if (
            process.rank is None
            or process.rank in found
            or _started_by_rank(process, run.processes)
        ):
            continue
        found[process.rank] = _Rank(number=process.rank, process=process, reached=0)
    return [found[number] for number in sorted(found)]


def _of_trace(trace: Trace) -> _Rank:
    stopped = trace.stopped_at is not None
    return _Rank(
        number=trace.rank,
        process=trace.process,
        reached=len(trace.losses),
        unfinished=trace.unfinished,
        stopped=stopped,
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
    timed = [rank for rank in early if rank.process.gone is not None]
    node = f"on node {ranks[0].process.node} " if ranks[0].process.node is not None else ""
    if timed:
        first = min(
            timed,
            key=lambda rank: (
                rank.process.gone or 0.0,
                rank.reached,
                rank.process.ended,
                rank.number,
            ),
        )
        nobody_before = all(
            rank.process.gone is None or rank.process.gone >= (first.process.gone or 0.0)
            for rank in ranks
        )
        return (
            f"{node}rank {first.number} ended{' first' if nobody_before else ''}, {_when(first)},"
            f" {_how(first)}{_others(first, ranks, run)}"
        )
    said = [
        rank
        for rank in early
        if rank.error or (rank.reached < furthest and run.record.ended == "failed")
    ]
    if said and len(said) < len(ranks):
        return "; ".join(
            f"{node}rank {rank.number} ended {_when(rank)}, {_how(rank)}" for rank in said[:4]
        )
    return ""


def _too_early(rank: _Rank, run: Run, furthest: int) -> bool:
    """Whether a rank ended before it came to the end of its training, as far as that can be seen.

    A process that was forked leaves no word at its end, and is known by how far it came.
    """
    process = rank.process
    if rank.error:
        return True
    if process.ended:
        return not rank.stopped and process.gone is not None and rank.reached < furthest
    failed = run.record.ended in ("failed", *_ENDED_BY_US)
    return process.gone is not None and (
        rank.reached < furthest or (failed and (rank.unfinished or process.name == "MainProcess"))
    )


def _when(rank: _Rank) -> str:
    if not rank.reached:
        return "before its first loss"
    return f"in iteration {rank.reached}" if rank.unfinished else f"after iteration {rank.reached}"


def _how(rank: _Rank) -> str:
    if rank.error:
        return f"with {rank.error}"
    if rank.process.ended:
        return "by an exit of its own or an error that was caught"
    return "killed by a signal or left by os._exit: its interpreter did not come to its exit"


def _others(first: _Rank, ranks: Sequence[_Rank], run: Run) -> str:
    """What became of the others."""
    later = [
        rank.number
        for rank in ranks
        if rank is not first and (rank.process.gone or 0.0) >= (first.process.gone or 0.0)
    ]
    waiting = [rank for rank in ranks if rank is not first and rank.process.gone is None]
    if run.record.ended in _ENDED_BY_US and waiting:
        last = max(rank.reached for rank in waiting)
        verb = "was" if len(waiting) == 1 else "were"
        return (
            f"; {named([rank.number for rank in waiting])} {verb} still waiting in iteration {last}"
            " when the run was ended"
        )
    return f"; {named(later)} ended after it" if later and run.record.ended == "failed" else ""


def _behind(ranks: Sequence[_Rank], furthest: int) -> str:
    """Nobody ended: the ranks that have recorded least."""
    last = min(rank.reached for rank in ranks)
    slow = [rank.number for rank in ranks if rank.reached == last]
    if last == furthest:
        return (
            f"all {len(ranks)} ranks have come to iteration {furthest} and none is behind"
            if furthest
            else ""
        )
    who = "it" if len(slow) == 1 else "they"
    where = (
        f"the last iteration of which {who} recorded a loss is {last}"
        if last
        else f"{who} recorded no loss"
    )
    ahead = (
        f"the {'other' if len(ranks) - len(slow) == 1 else 'others'} came to iteration {furthest}"
    )
    return f"{named(slow)} {'is' if len(slow) == 1 else 'are'} behind: {where}, {ahead}"


def early(runs: Sequence[Run]) -> Iterator[str]:
    """Ranks of runs that went well otherwise which ended before the others."""
    for run in runs:
        if run.record.ended in ("completed", "stopped"):
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
    counts = [
        f"{named(lengths[length])} recorded {words.count(length, 'iteration')}"
        for length in sorted(lengths, reverse=True)[:4]
    ]
    return "the ranks are not of the same length: " + ", ".join(counts)
