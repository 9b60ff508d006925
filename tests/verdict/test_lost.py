"""What a run says of ranks that ended before the others or are behind, without a process."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reprocheck.model import Process, Run, Tolerance, Trace
from reprocheck.model.ranks import named
from reprocheck.verdict import judge
from reprocheck.verdict.lost import lost
from tests.verdict.verdict_runs import PROCESS, judged, run, trace

KILLED = "killed by a signal or left by os._exit: its interpreter did not come to its exit"


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


def test_the_first_to_end_is_known_from_outside() -> None:
    ranks = (
        rank(0, 3, gone=5.2, error="RuntimeError: Connection closed by peer"),
        rank(1, 3, unfinished=True, gone=5.1),
        rank(2, 3, gone=5.3),
    )
    assert (
        lost(of("failed", *ranks))
        == f"rank 1 ended first, in iteration 3, {KILLED}; ranks 0 and 2 ended after it"
    )


def test_ranks_that_came_to_their_end_are_not_lost() -> None:
    done = [rank(number, 10, gone=9.0 + number, ended=True) for number in range(3)]
    assert lost(of("completed", *done)) == lost(of("failed", *done)) == ""
    forked = [rank(number, 10, gone=9.0 + number, name=f"Process-{number}") for number in range(3)]
    assert lost(of("completed", *forked)) == lost(of("failed", *forked)) == ""
    failing = lost(of("failed", *done, rank(3, 10, gone=20.0, ended=True, error="ValueError: no")))
    assert failing == "rank 3 ended, after iteration 10, with ValueError: no"


def test_trainings_in_threads_of_one_process_end_with_it() -> None:
    ranks = [
        rank(number, reached, pid=10, gone=9.0, error="ValueError: late", in_thread=True)
        for number, reached in enumerate((10, 5))
    ]
    assert lost(of("failed", *ranks)) == ""
    assert "rank 1 is behind" in lost(of("timed_out", *ranks))


def test_ranks_that_stopped_early_did_not_end_early() -> None:
    ranks = (
        rank(0, 5, stopped_at=5, ended=True, gone=4.0),
        rank(1, 10, stopped_at=10, ended=True, gone=9.0),
    )
    assert lost(of("stopped", *ranks)) == ""


def test_ranks_of_different_lengths() -> None:
    made = of("completed", rank(0, 10), rank(1, 8), rank(2, 10))
    said = "Run 1: the ranks are not of the same length: ranks 0 and 2 recorded 10 iterations, rank 1 recorded 8 iterations."
    assert said in judge([made, made], Tolerance()).caveats


def test_a_rank_that_died_before_its_first_loss() -> None:
    starter = replace(PROCESS, pid=11, rank=1, gone=0.5, error="ImportError: no")
    worker = replace(PROCESS, pid=99, ppid=11, rank=1, gone=0.1)
    made = of("timed_out", rank(0, 1), processes=(worker, starter))
    said = "rank 1 ended first, before its first loss, with ImportError: no; rank 0 was still waiting in iteration 1 when the run was ended"
    assert lost(made) == said
    assert judged([made, made]) == ("TIMED OUT", 5)
    assert said in judge([made, made], Tolerance()).reason


@pytest.mark.parametrize(
    ("reached", "said"),
    [
        (
            (3, 2, 3),
            "rank 1 is behind: the last iteration of which it recorded a loss is 2, the others came to iteration 3",
        ),
        (
            (3, 2),
            "rank 1 is behind: the last iteration of which it recorded a loss is 2, the other came to iteration 3",
        ),
        (
            (2, 3, 0, 0),
            "ranks 2 and 3 are behind: they recorded no loss, the others came to iteration 3",
        ),
        ((3, 3), "all 2 ranks have come to iteration 3 and none is behind"),
    ],
)
def test_a_rank_that_hangs(reached: tuple[int, ...], said: str) -> None:
    assert (
        lost(of("timed_out", *(rank(number, count) for number, count in enumerate(reached))))
        == said
    )
    assert (
        lost(of("completed", *(rank(number, count) for number, count in enumerate(reached)))) == ""
    )


def test_without_a_view_from_outside_errors_are_said_and_none_is_called_the_first() -> None:
    ranks = rank(0, 3), rank(1, 3, error="ValueError: planted", ended=True), rank(2, 3)
    assert lost(of("failed", *ranks)) == "rank 1 ended after iteration 3, with ValueError: planted"


def test_no_time_of_one_machine_is_held_against_that_of_another() -> None:
    ranks = rank(0, 3, gone=9.0, node=0), rank(1, 2, gone=8.0, node=0), rank(2, 2, gone=1.0, node=1)
    first, second = (
        lost(of("failed", *ranks)).split("; ")[0],
        lost(of("failed", *ranks)).split("; ")[-1],
    )
    assert first.startswith("on node 0 rank 1 ended first") and second.startswith(
        "on node 1 rank 2 ended first"
    )


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        ([3], "rank 3"),
        ([0, 1], "ranks 0 and 1"),
        ([2, 0, 1, 7], "ranks 0–2 and 7"),
        (range(0, 40, 2), "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 12 more"),
    ],
)
def test_ranks_in_words(ranks: list[int], said: str) -> None:
    assert named(ranks) == said
