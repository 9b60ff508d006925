"""How the runs as they are are told apart, beside runs that agree under a control."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.model import Arm, Bitwise, Cause, Run, SourceLine, Touch
from reprocheck.model.reason import Reason
from reprocheck.model.statements.search import Sample
from reprocheck.model.trace import ControlTrace
from reprocheck.search.arm_runs import Judged
from reprocheck.search.arms import Book
from reprocheck.search.request import Question, Unanswered
from tests.causes.cause_ladders import check, ladder
from tests.verdict import verdict_runs

LINE = SourceLine(file="train.py", line=3)
ORDER = Cause(code="RC508", title="It", confidence="suspected", source=LINE)
"""What `single-worker` removes."""


def run(*losses: float) -> Run:
    return verdict_runs.run(1, verdict_runs.trace([[loss] for loss in losses]))


AS_IS = [[run(1, 5, 7), run(2, 5, 8)], [run(1, 6, 7), run(3, 6, 9)]]
"""The first loss has few values, and two of four runs agree in it."""


def sample(cause: Cause, *losses: list[float], acted: bool = True) -> Sample:
    """The runs as they are, beside runs under `single-worker` with these losses."""
    differs = check(ladder("batch"), causes=(cause,))
    first = Bitwise(equal=False, first_iteration=1)
    differs = replace(differs, verdict=replace(differs.verdict, bitwise=first))
    runs = tuple(run(*one) for one in losses)
    later = None if len(set(map(tuple, losses))) < 2 else 3
    under = Judged(
        names=("single-worker",),
        patched=False,
        why="",
        runs=runs,
        verdict=replace(
            differs.verdict, bitwise=Bitwise(equal=later is None, first_iteration=later)
        ),
        agrees=bool(runs),
        arms=(),
        until=2,
        acted=frozenset(["single-worker"] if acted else []),
    )
    book = Book(differs, Path())
    vars(book).update(_as_is=AS_IS, judged=(under,) if runs else ())
    return book.sample


SAME = [1.0, 2.0, 3.0]


def test_iterations_behind_the_first_difference_tell_runs_apart_where_a_control_removes_them() -> (
    None
):
    assert sample(ORDER, SAME, SAME) == Sample(runs=4, odd=3)


@pytest.mark.parametrize(
    ("cause", "losses", "acted"),
    [
        (ORDER, [], True),
        (ORDER, [SAME, SAME], False),
        (replace(ORDER, source=None), [SAME, SAME], True),
    ],
    ids=["no control", "a control that acted on nothing", "nothing else speaks for it"],
)
def test_else_the_first_difference_alone_counts(
    cause: Cause, losses: list[list[float]], acted: bool
) -> None:
    assert sample(cause, *losses, acted=acted) == Sample(runs=4, odd=2)


def test_they_count_as_far_as_runs_agree_under_the_control() -> None:
    assert sample(ORDER, SAME, [1.0, 2.0, 4.0]) == Sample(runs=4, odd=3), "up to iteration 2"


ALL_DIFFER = [[run(1), run(2)]]
UNDER_SEED = [run(9), run(9)]


@pytest.mark.parametrize(
    ("names", "losses", "spared", "expected"),
    [
        (("private-rng",), [3, 4], (), Sample(runs=4, odd=3, insufficient=2, unlike=True)),
        (("seed", "hash-seed"), [3, 4], (), Sample(runs=4, odd=3, insufficient=2, unlike=True)),
        (("private-rng",), [2, 4], (), Sample(runs=2, odd=1, unlike=True)),
        (("private-rng",), [9, 4], (), Sample(runs=4, odd=3, insufficient=2)),
        (("single-worker",), [3, 4], (), Sample(runs=2, odd=1, unlike=True)),
        (("seed",), [3, 4], ("seed@random",), Sample(runs=2, odd=1, unlike=True)),
        (("RC402 train.py:3",), [3, 4], (), Sample(runs=2, odd=1, unlike=True)),
    ],
    ids=[
        "a control of what is new in each start",
        "several",
        "as an unmodified run",
        "as the runs that agree",
        "a control that may change losses in each run alike",
        "the set without one of its places",
        "a patch of which the scan is not sure",
    ],
)
def test_runs_under_controls_that_do_not_suffice_count_where_they_can_be_compared(
    names: tuple[str, ...], losses: list[float], spared: tuple[str, ...], expected: Sample
) -> None:
    differs = check(ladder("batch"))
    differs = replace(
        differs,
        verdict=replace(differs.verdict, bitwise=Bitwise(equal=False, first_iteration=1)),
    )
    equal = replace(differs.verdict, bitwise=Bitwise(equal=True))
    touched = Touch(control=names[0], what="drawn", count=1)
    agree = Judged(
        names=("seed",),
        patched=False,
        why="",
        runs=tuple(UNDER_SEED),
        verdict=equal,
        agrees=True,
        arms=(),
        until=1,
        acted=frozenset(["seed"]),
    )
    acting = [replace(run(loss), controls=ControlTrace(touches=(touched,))) for loss in losses]
    differ = replace(
        agree,
        names=names,
        runs=tuple(acting),
        verdict=differs.verdict,
        agrees=False,
        acted=frozenset(names),
        spared=spared,
    )
    book = Book(differs, Path())
    vars(book).update(_as_is=ALL_DIFFER, judged=(differ, agree))
    assert book.sample_beside(["seed"]) == expected


def failed(*runs: Run, names: tuple[str, ...] = ("hash-seed",), value: int = 0) -> Judged:
    """Runs under controls that give this value, the last of which fails."""
    differs = check(ladder("batch"))
    return Judged(
        names=names,
        patched=False,
        why="",
        runs=(*runs, verdict_runs.run(len(runs) + 1, ended="failed", status=1)),
        verdict=replace(differs.verdict, verdict="script_failed"),
        agrees=None,
        arms=(Arm(name="1", controls=names, runs=(), value=value),),
        until=1,
    )


@pytest.mark.parametrize(
    ("under", "asked"),
    [
        (failed(), 1),
        (failed(value=1), 2),
        (failed(value=2), None),
        (failed(names=("deterministic",)), None),
        (failed(names=("hash-seed", "deterministic")), 1),
        (failed(names=("hash-seed", "deterministic"), value=1), None),
        (failed(run(1)), None),
    ],
)
def test_where_a_script_fails_under_a_value_another_one_is_tried(
    under: Judged, asked: int | None
) -> None:
    book = Book(check(ladder("batch")), Path())
    vars(book).update(judged=(under,))
    question = Question(controls=under.names, runs=2, why=Reason(key="suffices"))
    if asked is None:
        assert book.ask(question).stumbled == (len(under.runs) > 1)
        return
    with pytest.raises(Unanswered) as missing:
        book.ask(question)
    assert missing.value.question.value == asked


def test_a_value_under_which_the_script_runs_is_that_of_all_further_arms() -> None:
    book = Book(check(ladder("batch")), Path())
    agrees = replace(failed(value=2), runs=(run(1), run(1)), agrees=True)
    vars(book).update(judged=(failed(), failed(value=1), agrees))
    assert book.ask(Question(controls=("hash-seed",), runs=2, why=Reason(key="suffices"))).agrees
    with pytest.raises(Unanswered) as missing:
        book.ask(Question(controls=("hash-seed", "seed"), runs=2, why=Reason(key="suffices")))
    assert missing.value.question.value == 2


def test_one_run_is_compared_with_the_runs_that_its_arm_names_and_with_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As they are, the runs agree by luck: what one run under a control gives says nothing yet."""
    compared: dict[str, tuple[str, ...] | None] = {}

    def judged(self: Book, names: tuple[str, ...], arms: list[Arm], whole: Judged | None) -> Judged:
        compared[arms[0].name] = None if whole is None else whole.names
        runs = failed(names=names)
        equal = replace(runs.verdict, bitwise=Bitwise(equal=True))
        return replace(runs, agrees=True, verdict=equal, arms=tuple(arms))

    monkeypatch.setattr(Book, "_judged", judged)
    arms = (
        Arm(name="as is", controls=(), runs=()),
        Arm(name="both", controls=("seed", "clock"), runs=()),
        Arm(name="fewer", controls=("seed",), runs=(), reference=("seed", "clock")),
        Arm(name="patched", controls=(), runs=(), patched=True),
    )
    differs = check(ladder("batch"))
    book = Book(replace(differs, record=replace(differs.record, arms=arms)), Path())
    assert len(book.judged) == 4
    assert compared == {"as is": None, "both": None, "fewer": ("seed", "clock"), "patched": None}
