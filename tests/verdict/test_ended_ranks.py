"""Which ranks of a run ended before the others or are behind, without a process."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reprocheck.model import Process, Run, Tolerance, Trace
from reprocheck.model.statements.verdict import (
    LostOnNode,
    LostRank,
    RanksBehind,
    RanksLost,
    RanksOfRun,
    RunsFailed,
    UnevenRanks,
)
from reprocheck.verdict import judge
from reprocheck.verdict.ended_ranks import lost
from tests.verdict.verdict_runs import PROCESS, TIMED_OUT, outcome, run, trace


def rank(
    number: int,
    iterations: int,
    *,
    unfinished: bool = False,
    stopped_at: int | None = None,
    **keys: object,
) -> Trace:
    """A rank that recorded so many iterations; `keys` are those of its process."""
    one = trace([[1.0]] * iterations, rank=number, unfinished=unfinished, stopped_at=stopped_at)
    given: dict[str, object] = {"pid": 10 + number, "rank": number, "world": 4, **keys}
    return replace(one, process=replace(PROCESS, **given))  # type: ignore[arg-type]


def of(ended: str, *ranks: Trace, processes: tuple[Process, ...] = ()) -> Run:
    return run(
        1, *ranks, ended=ended, status=1, processes=(*(one.process for one in ranks), *processes)
    )  # type: ignore[arg-type]


def only(run: Run) -> LostOnNode:
    ranks = lost(run)
    assert isinstance(ranks, RanksLost)
    [node] = ranks.nodes
    return node


def test_the_first_to_end_is_known_from_outside() -> None:
    ranks = (
        rank(0, 3, gone=5.2, error="RuntimeError: Connection closed by peer"),
        rank(1, 3, unfinished=True, gone=5.1),
        rank(2, 3, gone=5.3),
    )
    killed = LostRank(rank=1, iteration=3, unfinished=True, error="", exited=False)
    assert only(of("failed", *ranks)) == LostOnNode(
        node=None, ended=(killed,), seen=True, first=True, after=(0, 2)
    )


def test_ranks_that_came_to_their_end_are_not_lost() -> None:
    done = [rank(number, 10, gone=9.0 + number, ended=True) for number in range(3)]
    forked = [rank(number, 10, gone=9.0 + number, name=f"Process-{number}") for number in range(3)]
    for ranks in (done, forked):
        assert lost(of("completed", *ranks)) is lost(of("failed", *ranks)) is None
    failing = only(of("failed", *done, rank(3, 10, gone=20.0, ended=True, error="ValueError: no")))
    error = LostRank(rank=3, iteration=10, unfinished=False, error="ValueError: no", exited=True)
    assert (failing.ended, failing.seen, failing.first) == ((error,), True, False)


def test_trainings_in_threads_of_one_process_end_with_it() -> None:
    ranks = [
        rank(number, reached, pid=10, gone=9.0, error="ValueError: late", in_thread=True)
        for number, reached in enumerate((10, 5))
    ]
    assert lost(of("failed", *ranks)) is None
    assert lost(of("timed_out", *ranks)) == RanksBehind(ranks=(1,), world=2, last=5, furthest=10)


def test_ranks_that_stopped_early_did_not_end_early() -> None:
    ranks = (
        rank(0, 5, stopped_at=5, ended=True, gone=4.0),
        rank(1, 10, stopped_at=10, ended=True, gone=9.0),
    )
    assert lost(of("stopped", *ranks)) is None


def test_ranks_of_different_lengths() -> None:
    made = of("completed", rank(0, 10), rank(1, 8), rank(2, 10))
    uneven = UnevenRanks(lengths=((10, (0, 2)), (8, (1,))))
    assert RanksOfRun(run=1, ranks=uneven) in judge([made, made], Tolerance()).cautions


def test_a_rank_that_died_before_its_first_loss() -> None:
    starter = replace(PROCESS, pid=11, rank=1, gone=0.5, error="ImportError: no")
    worker = replace(PROCESS, pid=99, ppid=11, rank=1, gone=0.1)
    made = of("timed_out", rank(0, 1), processes=(worker, starter))
    error = LostRank(rank=1, iteration=0, unfinished=False, error="ImportError: no", exited=False)
    assert only(made) == LostOnNode(
        node=None, ended=(error,), seen=True, first=True, waiting=(0,), last=1
    )
    verdict = judge([made, made], Tolerance())
    assert outcome(verdict) == TIMED_OUT
    assert isinstance(verdict.because, RunsFailed) and verdict.because.lost == lost(made)


@pytest.mark.parametrize(
    ("reached", "slow", "last"),
    [
        ((3, 2, 3), (1,), 2),
        ((3, 2), (1,), 2),
        ((2, 3, 0, 0), (2, 3), 0),
        ((3, 3), (0, 1), 3),
    ],
)
def test_a_rank_that_hangs(reached: tuple[int, ...], slow: tuple[int, ...], last: int) -> None:
    ranks = [rank(number, count) for number, count in enumerate(reached)]
    behind = RanksBehind(ranks=slow, world=len(reached), last=last, furthest=3)
    assert lost(of("timed_out", *ranks)) == behind
    assert lost(of("completed", *ranks)) is None


def test_without_a_view_from_outside_errors_are_known_and_none_is_the_first() -> None:
    ranks = rank(0, 3), rank(1, 3, error="ValueError: planted", ended=True), rank(2, 3)
    error = LostRank(
        rank=1, iteration=3, unfinished=False, error="ValueError: planted", exited=True
    )
    assert only(of("failed", *ranks)) == LostOnNode(node=None, ended=(error,))


def test_no_time_of_one_machine_is_held_against_that_of_another() -> None:
    ranks = rank(0, 3, gone=9.0, node=0), rank(1, 2, gone=8.0, node=0), rank(2, 2, gone=1.0, node=1)
    nodes = lost(of("failed", *ranks))
    assert isinstance(nodes, RanksLost)
    assert [(node.node, node.ended[0].rank, node.first) for node in nodes.nodes] == [
        (0, 1, True),
        (1, 2, True),
    ]
