"""How many runs must agree before it is more than luck."""

from __future__ import annotations

import random

import pytest

from reprocheck.model.statements.search import Sample
from reprocheck.search.chance import bound, luck, needed, sample


@pytest.mark.parametrize(
    ("runs", "odd", "risk", "expected"),
    [
        (4, 3, 0.1, 3),
        (6, 5, 0.1, 2),
        (6, 5, 0.02, 3),
        (4, 3, 0.02, 7),
        (8, 4, 0.05, 6),
        (2, 1, 0.1, 61),
        (6, 0, 0.1, 61),
    ],
)
def test_needed(runs: int, odd: int, risk: float, expected: int) -> None:
    seen = Sample(runs=runs, odd=odd)
    assert needed(seen, risk) == expected
    if expected < 61:
        assert luck(seen, expected) <= risk and (expected == 2 or luck(seen, expected - 1) > risk)


def test_more_runs_as_they_are_need_fewer_that_agree() -> None:
    assert [needed(Sample(runs=runs, odd=runs - 1), 0.05) for runs in (3, 4, 5, 6)] == [11, 4, 3, 2]


@pytest.mark.parametrize(
    ("runs", "risk", "expected"),
    [
        (2, 0.1, 3),
        (2, 0.05, 4),
        (3, 0.05, 3),
        (4, 0.1, 2),
        (4, 0.05, 2),
        (4, 0.02, 3),
        (6, 0.02, 2),
    ],
)
def test_fewer_runs_suffice_that_are_unlike_every_run_as_it_is(
    runs: int, risk: float, expected: int
) -> None:
    seen = Sample(runs=runs, odd=runs - 1, unlike=True)
    assert needed(seen, risk) == expected
    assert luck(seen, expected) <= risk < luck(Sample(runs=runs, odd=runs - 1), expected - 1)


def test_the_bound_is_that_of_the_verdict() -> None:
    from reprocheck.verdict.outcomes import upper_bound

    assert [bound(runs) for runs in (2, 3, 8)] == [
        pytest.approx(upper_bound(0, runs - 1)) for runs in (2, 3, 8)
    ]
    assert bound(1) == 1.0


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([["a", "b"], ["c", "d"]], Sample(runs=4, odd=3)),
        ([["a", "b"], ["c", "a"]], Sample(runs=4, odd=2)),
        ([["a", "b"], ["a", "b"]], Sample(runs=4, odd=3, pairs=2, second=True)),
        ([["a", "b"], ["a", "b"], ["a", "a"]], Sample(runs=6, odd=2)),
        ([["a", "b"], ["a", "a"]], Sample(runs=4, odd=1)),
        ([["a", "b"]], Sample(runs=2, odd=1)),
        ([[], []], Sample(runs=0, odd=0)),
    ],
)
def test_sample(pairs: list[list[str]], expected: Sample) -> None:
    assert sample(pairs) == expected


def test_files_that_runs_leave_behind_make_every_run_follow_from_the_one_before() -> None:
    pairs = [["a", "b"], ["a", "c"], ["a", "b", "d", "e"]]
    assert sample(pairs, carried=True) == Sample(runs=8, odd=7, pairs=3, carried=True)
    assert sample(pairs) == Sample(runs=8, odd=5)
    assert sample([["a", "b"], ["b", "c"]], carried=True) == Sample(runs=4, odd=2)
    assert sample([["a", "b"], ["a", "a"]], carried=True) == Sample(runs=4, odd=1)
    alike = sample([["a", "b", "b"], ["a", "b"]], carried=True)
    assert alike == Sample(runs=5, odd=4, pairs=2, second=True, carried=True)


def test_runs_do_not_agree_by_an_overflow() -> None:
    seen = sample([["inf", "a"], ["inf", "b"]], blind={"inf"})
    assert seen == Sample(runs=4, odd=3, blind=2) and not seen.intermittent
    assert sample([["inf", "a"], ["a", "inf"]], blind={"inf"}) == Sample(runs=4, odd=2, blind=2), (
        "those that are finite may agree"
    )
    assert sample([["inf", "a"], ["inf", "a"]], blind={"inf"}).odd == 3, "run 2 follows from run 1"


def test_what_comes_and_goes() -> None:
    assert not Sample(runs=4, odd=3).intermittent
    assert Sample(runs=4, odd=2).intermittent
    assert not sample([["a", "b"], ["a", "b"]]).intermittent, "run 2 follows from run 1"


@pytest.mark.parametrize("share", [0.2, 0.35, 0.5, 0.65, 0.8])
@pytest.mark.parametrize("risk", [0.1, 0.02])
def test_a_control_without_effect_is_confirmed_as_rarely_as_said(share: float, risk: float) -> None:
    """Of the searches that are made, since the first two runs differ, and come to that control:
    some more than the risk, never twice it.
    """
    draw = random.Random(int(share * 100))
    searches = wrong = 0
    while searches < 3000:
        outcomes = [f"{run}" if draw.random() < share else "usual" for run in range(6)]
        if outcomes[0] == outcomes[1]:
            continue
        searches += 1
        runs = needed(sample([outcomes[:2], outcomes[2:4], outcomes[4:]]), risk)
        wrong += runs <= 8 and all(draw.random() >= share for _ in range(runs))
    assert wrong / searches < 2 * risk


def test_a_control_without_effect_is_confirmed_as_rarely_where_runs_overflow() -> None:
    """Of the odd runs some overflow: a pair of those is no check, and no two of them count as
    alike.
    """
    draw = random.Random(5)
    searches = wrong = 0
    while searches < 3000:
        outcomes = [
            draw.choices(("usual", "inf", f"{run}"), (0.5, 0.35, 0.15))[0] for run in range(4)
        ]
        if outcomes[0] == outcomes[1]:
            continue
        searches += 1
        runs = needed(sample([outcomes[:2], outcomes[2:]], blind={"inf"}), 0.1)
        wrong += runs <= 8 and all(draw.random() < 0.5 for _ in range(runs))
    assert wrong / searches < 0.1


@pytest.mark.parametrize(
    ("weights", "odd"),
    [
        ([0.72], 0.28),
        ([0.5], 0.5),
        ([1] * 3, 0),
        ([1] * 4, 0),
        ([1] * 12, 0),
        ([3, 2, 1, 1], 0),
        ([1, 1], 2),
    ],
)
@pytest.mark.parametrize(("as_is", "risk"), [(2, 0.1), (2, 0.05), (4, 0.05), (4, 0.02)])
def test_whatever_outcomes_there_are_unlike_runs_agree_by_luck_as_rarely_as_said(
    weights: list[float], odd: float, as_is: int, risk: float
) -> None:
    """Odd runs have an outcome of their own; the others one of several, more or less often."""
    draw = random.Random(len(weights))
    outcomes, shares = [*range(len(weights)), None], [*weights, odd]
    under = needed(Sample(runs=as_is, odd=as_is - 1, unlike=True), risk)

    def runs(number: int) -> list[object]:
        return [
            object() if one is None else one for one in draw.choices(outcomes, shares, k=number)
        ]

    searches = wrong = 0
    while searches < 3000:
        seen = runs(as_is)
        if seen[0] == seen[1]:
            continue
        searches += 1
        agreed = set(runs(under))
        wrong += len(set(seen)) == as_is and len(agreed) == 1 and agreed.isdisjoint(seen)
    assert wrong / searches < 1.2 * risk
