"""What acted on nothing confirms nothing, however many runs agree under it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.causes.usercode import UserCode
from reprocheck.model import ControlTrace, Touch
from reprocheck.search.effective_controls import Acting
from reprocheck.search.request import Answer, Candidates, Found, Question
from reprocheck.search.sets import find
from tests.causes.cause_ladders import check, ladder
from tests.e2e.explain.explaining import BY_LIST, explain


def test_runs_that_agree_under_a_control_that_touched_nothing_confirm_nothing(
    tmp_path: Path,
) -> None:
    """The runs differ four times and never again, as processes that race may; there is nothing in
    the script to act on.
    """
    outcomes = tmp_path / "outcomes.txt"
    outcomes.write_text("oooo" + "u" * 80)
    raced = explain(BY_LIST, tmp_path / "work", OUTCOMES=str(outcomes))
    controls = raced.report["controls"]
    assert raced.exit_code == 1
    assert (controls["smallest"], "confirmed" in raced.confidences) == ([], False)
    assert "nothing recorded shows that it acted" in controls["sentence"]
    alone = [row for row in controls["tried"] if row["controls"] == ["private-rng"]]
    assert [
        (row["agrees"], "nothing recorded shows that it acted" in row["note"]) for row in alone
    ] == [(True, True)]
    touched = {
        touch.control for arm in raced.record.arms for touch in controls["touched"] if arm.controls
    }
    assert touched == set()


@pytest.mark.parametrize(
    ("left", "acted"), [("out/last.pt", True), ("~/.cache/last.pt", False), ("/srv/last.pt", False)]
)
def test_a_copy_of_the_working_directory_acts_on_files_in_it_alone(
    left: str, acted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    carried = check(ladder("files and arguments"), state_left=(left,))
    assert (
        bool(Acting(carried, UserCode(carried, Path())).of(["fresh-workdir"], carried.runs))
        is acted
    )


@pytest.mark.parametrize("used", [False, True])
def test_a_seed_that_nothing_is_drawn_after_did_not_act(used: bool) -> None:
    touches = [Touch(control="seed", what="random.seed", value=0, setting=True)]
    if used:
        touches.append(Touch(control="seed", what="numbers drawn from random"))
    given = check(ladder("initial weights"))
    runs = [replace(run, controls=ControlTrace(touches=tuple(touches))) for run in given.runs]
    assert bool(Acting(given, UserCode(given, Path())).of(["seed"], runs)) is used


@pytest.mark.parametrize(("threads", "acted"), [(1, False), (8, True)])
def test_one_thread_acts_only_where_there_were_several(threads: int, acted: bool) -> None:
    given = check(ladder("gradient"), environment={"torch.threads": threads})
    touches = (Touch(control="single-thread", what="torch.set_num_threads", value=1),)
    runs = [replace(run, controls=ControlTrace(touches=touches)) for run in given.runs]
    assert bool(Acting(given, UserCode(given, Path())).of(["single-thread"], runs)) is acted


def search(acted: frozenset[str], suffices: str) -> Found:
    """Among a to d, where the runs agree whenever `suffices` is on, and what acted is known."""

    def ask(question: Question) -> Answer:
        on = frozenset(question.controls)
        return Answer(agrees=suffices in on, runs=question.runs, acted=on & acted)

    return find(
        Candidates(likely=("a", "b"), harmless=("a", "b", "c", "d")), ask, lambda names, answer: 3
    )


def test_the_search_takes_no_control_that_did_not_act() -> None:
    assert search(frozenset("ad"), "a").smallest == ("a",)
    assert search(frozenset("d"), "a") == Found(idle=("a",))
    assert search(frozenset("ad"), "c") == Found(idle=("a", "b", "c", "d"))
    assert search(frozenset(), "d") == Found(idle=("a", "b", "c", "d"))
