"""Arms of a search side by side: it comes to the same as one arm after the other, whichever of them
ends first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprocheck.search.ahead import Supposed, following
from reprocheck.search.asked import Answer, Candidates, Found, Question, Unanswered
from reprocheck.search.sets import find
from reprocheck.workflow.beside import ROOMS, ArmsBeside

CANDIDATES = Candidates(likely=("a", "b"), harmless=tuple("abcdef"), altering=tuple("xy"))
Table = Callable[[frozenset[str]], bool | None]


@dataclass
class StandIn:
    """Makes the runs of arms by a table: at once, or only once somebody waits for them."""

    table: Table
    at_once: bool
    held: dict[frozenset[str], int] = field(default_factory=dict)
    begun: list[Arm] = field(default_factory=list)

    def begin(self, question: Question, runs: int, number: int) -> Arm:
        assert all(arm.name != str(number) for arm in self.begun)
        arm = Arm(runner=self, question=question, runs=runs, name=str(number), ended=self.at_once)
        self.begun.append(arm)
        return arm

    def made(self, controls: Iterable[str]) -> int:
        return self.held.get(frozenset(controls), 0)

    def ask(self, question: Question, supposed: Supposed | None = None) -> Answer:
        answer = supposed.of(question) if supposed else None
        if answer:
            return answer
        controls = frozenset(question.controls)
        agrees, runs = self.table(controls), self.made(controls)
        if runs < (question.runs if agrees else 1):
            raise Unanswered(question)
        return Answer(agrees=agrees, runs=runs)

    def play(self, supposed: Supposed) -> Question | None:
        try:
            self.found(supposed)
        except Unanswered as missing:
            return missing.question
        return None

    def found(self, supposed: Supposed | None = None) -> Found:
        ask = partial(self.ask, supposed=supposed)
        return find(CANDIDATES, ask, lambda names, answer: 3)

    def ahead(self, asked: Question) -> Iterator[Question]:
        return following(asked, self.play)


@dataclass
class Arm:
    """An arm of the stand-in."""

    runner: StandIn
    question: Question
    runs: int
    name: str
    ended: bool
    kept: str = ""
    dropped: bool = False
    closed: bool = False

    def keep(self, why: str) -> None:
        assert not self.closed and not self.kept and not self.dropped
        under_way = [arm for arm in self.runner.begun if not arm.ended and not arm.dropped]
        assert not any(arm.kept for arm in under_way), "one arm at a time is waited for"
        self.kept, self.ended = why, True
        controls = frozenset(self.question.controls)
        self.runner.held[controls] = self.runner.made(controls) + self.runs

    def drop(self) -> None:
        self.dropped = self.dropped or not self.ended

    def close(self) -> None:
        self.drop()
        self.closed = True


def searched(table: Table, *, jobs: int, at_once: bool) -> tuple[Found, StandIn]:
    """A search as the workflow makes it, by a table."""
    runner = StandIn(table, at_once)
    arms = ArmsBeside(runner.begin, jobs)
    asked = runner.play(Supposed())
    while asked is not None:
        arms.make(asked, runner.made, runner.ahead)
        asked = runner.play(Supposed())
    arms.close()
    assert all(arm.closed for arm in runner.begun)
    return runner.found(), runner


def alone(table: Table) -> tuple[Found, dict[frozenset[str], int]]:
    """The same search, one arm after the other."""
    runner = StandIn(table, at_once=True)
    while (asked := runner.play(Supposed())) is not None:
        runner.held[frozenset(asked.controls)] = asked.runs
    return runner.found(), runner.held


def any_of(*sets: str, fails: str = "") -> Table:
    """The runs agree under each of these sets and under what holds one; the script fails under any
    of the controls `fails`.
    """

    def table(controls: frozenset[str]) -> bool | None:
        if controls & set(fails):
            return None
        return any(frozenset(one) <= controls for one in sets)

    return table


@settings(max_examples=60, deadline=None)
@given(
    sets=st.lists(st.text("abcdefxy", min_size=1, max_size=3), max_size=3),
    fails=st.sampled_from(["", "c", "x", "a"]),
    jobs=st.integers(2, 8),
    at_once=st.booleans(),
)
def test_the_search_comes_to_the_same_whichever_arm_ends_first(
    sets: list[str], fails: str, jobs: int, at_once: bool
) -> None:
    table = any_of(*sets, fails=fails)
    found, runner = searched(table, jobs=jobs, at_once=at_once)
    expected, made = alone(table)
    assert found == expected
    assert runner.held == made, "what was made beside it counts for nothing"


def test_the_next_candidates_are_begun_beside_the_first_and_ended_where_it_suffices() -> None:
    found, runner = searched(any_of("a"), jobs=4, at_once=False)
    assert found.smallest == ("a",)
    first, *others = runner.begun
    assert (first.question.controls, first.runs) == (("a",), 2)
    assert [(arm.question.controls, arm.runs) for arm in others[:2]] == [(("a",), 1), (("b",), 2)]
    assert all(arm.dropped != bool(arm.kept) for arm in others)


def test_what_was_begun_beside_is_taken_and_has_the_reason_of_the_search() -> None:
    found, runner = searched(any_of("b"), jobs=4, at_once=True)
    assert found.smallest == ("b",)
    kept = [arm for arm in runner.begun if arm.kept]
    of_b = next(arm for arm in kept if arm.question.controls == ("b",))
    assert runner.begun.index(of_b) < 3, "begun while `a` was tried"
    assert sum(arm.question.controls == ("b",) for arm in runner.begun) == 2, "and once more"


@pytest.mark.parametrize("jobs", [2, 3, 8])
def test_no_more_runs_are_begun_than_soon_have_room(jobs: int) -> None:
    seen: list[int] = []

    class Counted(StandIn):
        def begin(self, question: Question, runs: int, number: int) -> Arm:
            arm = super().begin(question, runs, number)
            live = [one for one in self.begun if not (one.ended or one.dropped)]
            seen.append(sum(one.runs for one in live) - runs)
            return arm

    runner = Counted(any_of("xy"), at_once=False)
    arms = ArmsBeside(runner.begin, jobs)
    while (asked := runner.play(Supposed())) is not None:
        arms.make(asked, runner.made, runner.ahead)
    arms.close()
    assert max(seen) < ROOMS * jobs
