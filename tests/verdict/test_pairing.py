"""Which process is which from run to run, where none says its rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from reprocheck.model import Run, Tolerance, Trace
from reprocheck.model.statements.verdict import ComparedAsSet
from reprocheck.verdict import judge, paired
from tests.verdict.verdict_runs import PROCESS, Losses, run, trace

A: Losses = [[1.0], [0.5], [0.25]]
B: Losses = [[3.0], [1.5], [0.75]]
C: Losses = [[7.0], [3.5], [1.75]]
OTHER: Losses = [[9.0], [4.5], [2.25]]


def nearly(losses: Losses) -> Losses:
    return [[value * 1.0001 for value in values] for values in losses]


def unranked(number: int, *found: tuple[str, Losses]) -> Run:
    """A run of processes, each with what tells it apart and its losses."""
    made: list[Trace] = []
    for rank, (origin, losses) in enumerate(found):
        process = replace(PROCESS, pid=100 * number + rank, rank=rank, origin=("train.py", origin))
        made.append(replace(trace(losses, rank=rank), process=process))
    return run(number, *made, processes=tuple(one.process for one in made))


def losses_by_rank(one: Run) -> dict[int, float]:
    return {trace.rank: trace.losses.values[0] for trace in one.traces}


Found = Sequence[tuple[str, Losses]]


@pytest.mark.parametrize(
    ("first", "second", "as_set"),
    [
        ([("1", A), ("2", B)], [("1", A), ("2", B)], ()),
        ([("1", A), ("2", B)], [("2", B), ("1", A)], ()),
        ([("1", A), ("2", B)], [("2", nearly(B)), ("1", nearly(A))], ()),
        ([("1", A), ("2", B), ("3", C)], [("1", B), ("2", A), ("3", C)], (0, 1)),
        ([("1", A), ("2", B)], [("1", nearly(B)), ("2", nearly(A))], (0, 1)),
        ([("same", A), ("same", B)], [("same", nearly(B)), ("same", A)], (0, 1)),
        ([("1", A), ("2", B), ("3", C)], [("1", A), ("9", C), ("8", B)], (1, 2)),
        ([("1", A)], [("other arguments", A)], (0,)),
    ],
)
def test_equal_sets_of_trainings_agree(
    first: Found, second: Found, as_set: tuple[int, ...]
) -> None:
    runs = paired((unranked(1, *first), unranked(2, *second)), Tolerance())
    assert judge(runs, Tolerance()).verdict == "reproducible"
    assert losses_by_rank(runs[1]) == pytest.approx(losses_by_rank(runs[0]), rel=1e-3)
    assert runs[1].caveats == ((ComparedAsSet(ranks=as_set),) if as_set else ())
    assert [one.rank for one in runs[1].processes] == [
        one.process.rank for one in sorted(runs[1].traces, key=lambda t: t.process.pid)
    ]


@pytest.mark.parametrize(
    ("first", "second", "rank"),
    [
        ([("1", A), ("2", B), ("3", C)], [("1", A), ("2", OTHER), ("3", C)], 1),
        ([("same", A), ("same", B), ("same", C)], [("same", A), ("same", OTHER), ("same", C)], 1),
        ([("1", A), ("2", B), ("3", C)], [("1", B), ("2", A), ("3", OTHER)], 2),
        ([("same", A), ("same", A)], [("same", A), ("same", B)], 1),
    ],
)
def test_a_training_that_differs_is_found_among_those_that_do_not(
    first: Found, second: Found, rank: int
) -> None:
    verdict = judge(paired((unranked(1, *first), unranked(2, *second)), Tolerance()), Tolerance())
    assert (verdict.verdict, verdict.failed_check) == ("not_reproducible", "forward")
    assert [row.rank for row in verdict.comparisons if row.passed is False] == [rank, rank]


def test_ranks_that_were_said_are_never_compared_as_a_set() -> None:
    runs = run(1, trace(A), trace(B, rank=1)), run(2, trace(B), trace(A, rank=1))
    assert paired(runs, Tolerance()) == runs
    assert judge(runs, Tolerance()).verdict == "not_reproducible"


def test_a_process_of_one_run_alone_keeps_a_rank_of_its_own() -> None:
    runs = paired(
        (unranked(1, ("1", A), ("3", C)), unranked(2, ("1", A), ("2", B), ("3", C))), Tolerance()
    )
    assert losses_by_rank(runs[1]) == {0: 1.0, 1: 7.0, 2: 3.0}
    assert judge(runs, Tolerance()).verdict == "inconclusive"
