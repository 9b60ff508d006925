"""The sentences of what could not be read of the traces of a run, and of its ranks."""

from __future__ import annotations

import pytest

from reprocheck.model.statement import Statement
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
from reprocheck.wording import say

SENTENCES: dict[Statement, str] = {
    Unreadable(error="No such file"): "a trace could not be read: No such file",
    Unreadable(left_alone="a.losses is too large"): "a.losses is too large, so it was not read",
    TraceBreaksOff(why=Incomplete(kind="last line")): (
        "the trace breaks off: its last line is incomplete"
    ),
    TraceBreaksOff(why="too many losses"): "the trace breaks off: too many losses",
    Incomplete(kind="not written"): "it could not be written to its end",
    LinesLeftOut(kind="no events", number=3): (
        "lines of a trace that are no events were left out: 3"
    ),
    LinesLeftOut(kind="losses", number=2): "2 losses of a trace are missing",
    LinesLeftOut(kind="facts", number=2, most=9): "2 facts after the first 9 were left out",
    LinesLeftOut(kind="unknown", number=7, names=tuple("abcdef")): (
        "events of a trace that are of unknown kinds were left out (7): a, b, c, d, e"
    ),
    NewerFormat(version=9, known=4): (
        "a trace was written by a newer reprocheck (format 9; this one reads 4), so parts of it may"
        " be missing here; upgrade reprocheck"
    ),
    NoSuchRank(rank=-1, world=2): ("a trace says that it is rank -1 of 2, which is not believed"),
    SecondProcess(rank=0, reported=2): (
        "A second process trained as rank 0; it is reported as rank 2."
    ),
    RanksGiven(ranks=(1,)): (
        "A process trained without saying its rank; it is reported as rank 1."
    ),
    RanksGiven(ranks=(0, 1)): (
        "Several processes trained without saying their ranks; they are reported as ranks 0 and 1."
    ),
    RanksMissing(recorded=1, world=4, unseen=(1, 2), silent=(3,)): (
        "1 of 4 ranks reported a loss or an update: no process of ranks 1 and 2 loaded the"
        " recorder, and rank 3 started and recorded none."
    ),
}


@pytest.mark.parametrize("statement", SENTENCES)
def test_each_statement_is_said(statement: Statement) -> None:
    assert say(statement) == SENTENCES[statement]


def test_of_many_trainings_the_first_are_named() -> None:
    several = TrainingsInThreads(trainings=tuple((n, "" if n == 0 else f"t{n}") for n in range(10)))
    assert say(several).startswith(
        "Several trainings run in threads or tasks of one process: rank 0 is the main thread, rank"
        " 1 is t1, rank 2 is t2, rank 3 is t3, rank 4 is t4, rank 5 is t5, rank 6 is t6, rank 7 is"
        " t7 and 2 more. What they share"
    )
    assert say(LossesOfSeveral()).startswith("Optimizers step in several threads or tasks")
