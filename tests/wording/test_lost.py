"""The sentences of ranks that ended before the others or are behind."""

from __future__ import annotations

import pytest

from reprocheck.language.ranks import named
from reprocheck.model.statement import Statement
from reprocheck.model.statements.verdict import LostOnNode, LostRank, RanksBehind, RanksLost
from reprocheck.wording import say

KILLED = "killed by a signal or left by os._exit: its interpreter did not come to its exit"


def rank(
    number: int, iteration: int, *, unfinished: bool = False, error: str = "", exited: bool = False
) -> LostRank:
    return LostRank(
        rank=number, iteration=iteration, unfinished=unfinished, error=error, exited=exited
    )


def lost(*nodes: LostOnNode) -> RanksLost:
    return RanksLost(nodes=nodes)


@pytest.mark.parametrize(
    ("ranks", "sentence"),
    [
        (
            lost(
                LostOnNode(
                    node=None,
                    ended=(rank(1, 3, unfinished=True),),
                    seen=True,
                    first=True,
                    after=(0, 2),
                )
            ),
            f"rank 1 ended first, in iteration 3, {KILLED}; ranks 0 and 2 ended after it",
        ),
        (
            lost(LostOnNode(node=None, ended=(rank(3, 10, error="ValueError: no"),), seen=True)),
            "rank 3 ended, after iteration 10, with ValueError: no",
        ),
        (
            lost(
                LostOnNode(
                    node=None,
                    ended=(rank(1, 0, exited=True),),
                    seen=True,
                    first=True,
                    waiting=(0,),
                    last=1,
                )
            ),
            "rank 1 ended first, before its first loss, by its own exit or an error that was"
            " caught; rank 0 was still waiting in iteration 1 when the run was ended",
        ),
        (
            lost(
                LostOnNode(node=0, ended=(rank(1, 2, error="A"), rank(2, 2, error="B"))),
                LostOnNode(node=1, ended=(rank(3, 2, error="C"),), seen=True, first=True),
            ),
            "on node 0 rank 1 ended after iteration 2, with A; on node 0 rank 2 ended after"
            " iteration 2, with B; on node 1 rank 3 ended first, after iteration 2, with C",
        ),
        (
            RanksBehind(ranks=(1,), world=3, last=2, furthest=3),
            "rank 1 is behind: the last iteration of which it recorded a loss is 2, the others"
            " came to iteration 3",
        ),
        (
            RanksBehind(ranks=(1,), world=2, last=2, furthest=3),
            "rank 1 is behind: the last iteration of which it recorded a loss is 2, the other"
            " came to iteration 3",
        ),
        (
            RanksBehind(ranks=(2, 3), world=4, last=0, furthest=3),
            "ranks 2 and 3 are behind: they recorded no loss, the others came to iteration 3",
        ),
        (
            RanksBehind(ranks=(0, 1), world=2, last=3, furthest=3),
            "all 2 ranks have come to iteration 3 and none is behind",
        ),
    ],
)
def test_ranks_that_were_lost(ranks: Statement, sentence: str) -> None:
    assert say(ranks) == sentence


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
