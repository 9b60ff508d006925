"""The sentences of a check as a whole, and what is said again of its record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.language import spoken
from reprocheck.model import Advice
from reprocheck.model.statement import Statement
from reprocheck.model.statements.check import (
    AdviceReason,
    CutTrace,
    EachRank,
    LossesRecorded,
    NotDeep,
    NothingOfRun,
    PairEnded,
    ReadLeft,
    StopReached,
    Undetermined,
    VisibleLeft,
)
from reprocheck.recording import record
from reprocheck.wording import say, told
from tests.causes.cause_ladders import check
from tests.report.samples import bitwise_equal

LOSSES = LossesRecorded(values=3, iterations=2, frameworks=(("torch", "2.5"), ("jax", "0.4")))
COPY = "`--workdir copy` gives each run its own folder."
SENTENCES: dict[Statement, str] = {
    NothingOfRun(run=2, processes=1): (
        "Run 2: 1 process loaded the recorder, and none recorded a loss or an update."
    ),
    EachRank(ranks=(0, 1), statement=LOSSES): (
        "Ranks 0 and 1, each: 3 losses in 2 iterations; frameworks imported: torch 2.5, jax 0.4."
    ),
    EachRank(ranks=(3,), statement=NotDeep(iterations=0, because="")): (
        "Rank 3: level `module` was not recorded: of this training, level `auto` records the"
        " losses alone."
    ),
    NotDeep(iterations=7, because="it is slow"): (
        "level `module` was left after 7 iterations: it is slow."
    ),
    CutTrace(run=1, ranks=(0, 2)): (
        "Run 1, ranks 0 and 2: the last line of the trace is incomplete; the lines before it were"
        " kept."
    ),
    PairEnded(level="op"): ("The two runs at level op ended early, so they were not compared."),
    PairEnded(level="op", run=2, ended="failed", exit_status=3): (
        "Run 2 at level op failed with exit status 3; what it recorded until then was compared."
    ),
    StopReached(run=0, last=10, ended=True): (
        "Early stop: each run was ended after iteration 10 (`--steps all` records the whole"
        " training)."
    ),
    Undetermined(what="source", error="ValueError"): "The source could not be scanned: ValueError",
    ReadLeft(paths=tuple("abcdefg"), alike=True): (
        "State left by run 1: a later run read a, b, c, d, e and 2 more, written by run 1. Run 1"
        f" read the same from there. {COPY}"
    ),
    VisibleLeft(paths=("a", "~/b"), made=True): (
        "The runs after run 1 could see what was written while it ran: a, ~/b. None was seen to"
        " read it, but not every read is seen: `--workdir copy` rules it out for those in the"
        " working directory."
    ),
    AdviceReason(kind="found leftovers", run=2, names=("a", "b", "c"), others=4): (
        "Run 2 failed where run 1 did not. It found what run 1 had left: a, b, c and 4 more. Give"
        " each run its own copy of the folder, so that it starts as run 1 did:"
    ),
    AdviceReason(kind="our options", place="train.py", names=("--runs", "3")): (
        "`--runs 3` is an option of reprocheck: write it before train.py:"
    ),
}


@pytest.mark.parametrize("statement", SENTENCES, ids=lambda made: type(made).__name__)
def test_each_is_said_in_a_sentence(statement: Statement) -> None:
    assert say(statement) == SENTENCES[statement]


def test_advice_is_kept_as_values_and_said_in_each_language(tmp_path: Path) -> None:
    reason = AdviceReason(kind="module nowhere", place="/usr/bin/python", names=("jax",))
    made = bitwise_equal()
    record.write(tmp_path, replace(made.record, advice=Advice(reason=reason)))
    kept = record.read(tmp_path)
    assert kept.advice == Advice(reason=reason)
    of_older = replace(kept, advice=Advice(why=say(reason)))
    older = told(replace(made, record=of_older)).record.advice
    assert older is not None and older.why == say(reason)
    for language, begins in (
        ("en", "/usr/bin/python, which ran"),
        ("zh", "运行脚本的 /usr/bin/python "),
    ):
        with spoken(language):
            advice = told(replace(made, record=kept)).record.advice
            assert advice is not None and advice.why.startswith(begins)


def test_what_the_record_says_was_changed_stands_before_what_the_runs_did_in_english() -> None:
    made = replace(
        check(),
        changes=(StopReached(run=1, last=2, ended=True), "sinking was turned off"),
    )
    older = replace(made.record, changed_to_observe=("Standard input is empty.",))
    with spoken("zh"):
        first, stopped, of_run = told(replace(made, record=older)).changed_to_observe
    assert first == "Standard input is empty." and stopped == say(made.changes[0])
    assert of_run == "sinking was turned off"
