"""Two streams of facts side by side, although they hold different numbers of calls, batches or
iterations.
"""

from __future__ import annotations

import time

from hypothesis import given, strategies as st

from reprocheck.ladder.align import Step, align
from reprocheck.trace.deep import Seen


def call(place: str, iteration: int = 1, number: int = 0, kind: str = "call") -> Seen:
    return Seen(kind=kind, iteration=iteration, place=place, call=number)


def calls(*places: str, iteration: int = 1) -> list[Seen]:
    return [call(place, iteration, places[:n].count(place)) for n, place in enumerate(places)]


def shown(steps: tuple[Step, ...]) -> list[str]:
    """`a` in both, `a-` in run 1 only, `a+` in run 2 only, `a~` moved."""
    return [
        step.seen.place + ("~" if step.moved else "" if step.both else "-" if step.first else "+")
        for step in steps
    ]


def test_equal_streams_go_together() -> None:
    steps = align(calls("a", "b", "a"), calls("a", "b", "a"))
    assert shown(steps) == ["a", "b", "a"]
    assert [step.number for step in steps] == [0, 1, 2]
    assert all(
        step.first is not None and step.second is not None and step.first.call == step.second.call
        for step in steps
    )


def test_a_call_that_only_run_2_makes() -> None:
    assert shown(align(calls("a", "b", "c"), calls("a", "aux", "b", "c"))) == [
        "a",
        "aux+",
        "b",
        "c",
    ]


def test_a_call_that_only_run_1_makes_at_the_end() -> None:
    assert shown(align(calls("a", "b", "c"), calls("a", "b"))) == ["a", "b", "c-"]


def test_one_more_turn_of_a_loop_does_not_shift_what_follows() -> None:
    first = calls("embed", "block", "norm", "block", "norm", "head")
    second = calls("embed", "block", "norm", "block", "norm", "block", "norm", "head")
    assert shown(align(first, second)) == [
        "embed",
        "block",
        "norm",
        "block",
        "norm",
        "block+",
        "norm+",
        "head",
    ]


def test_a_repeated_call_that_run_2_makes_early_keeps_the_others_together() -> None:
    first = calls("mul", "add", "mul", "add", "mul", "add")
    second = calls("mul", "mul", "add", "mul", "add", "mul", "add")
    steps = align(first, second)
    assert next(step for step in steps if not step.both).number == 1
    assert sum(step.both for step in steps) == 6


def test_iterations_of_different_lengths_stay_apart() -> None:
    first = [*calls("a", "b"), *calls("a", "b", iteration=2), *calls("a", iteration=3)]
    second = [*calls("a", "b", "a", "b"), *calls("a", "b", iteration=2)]
    assert shown(align(first, second)) == ["a", "b", "a+", "b+", "a", "b", "a-"]


def test_facts_in_another_order_are_found_again() -> None:
    steps = align(calls("a", "b", "c", "d"), calls("a", "c", "b", "d"))
    assert sorted(step.seen.place for step in steps) == ["a", "b", "c", "d"]
    assert all(step.both for step in steps)
    assert sum(step.moved for step in steps) == 1


def test_nothing_in_common() -> None:
    assert shown(align(calls("a"), calls("b"))) == ["a-", "b+"]
    assert shown(align([], calls("b"))) == ["b+"]
    assert align([], []) == ()


@given(st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.sampled_from("abc"), max_size=30))
def test_every_fact_stands_in_the_alignment_once(one: list[str], other: list[str]) -> None:
    first, second = calls(*one), calls(*other)
    steps = align(first, second)
    assert [id(step.first) for step in steps if step.first is not None] == [
        id(seen) for seen in first
    ]
    assert sorted(id(step.second) for step in steps if step.second is not None) == sorted(
        id(seen) for seen in second
    )
    assert [step.number for step in steps] == list(range(len(steps)))
    assert all(
        step.first.place == step.second.place for step in steps if step.first and step.second
    )


def test_a_hundred_thousand_facts_that_part_early_take_seconds() -> None:
    places = [f"layer.{n}" for n in range(50_000)]
    first = [call(place, i) for i in (1, 2) for place in places]
    second = [
        call("extra", 1),
        *(call(place, i) for i in (1, 2) for n, place in enumerate(places) if n % 7 != 1),
    ]
    started = time.perf_counter()
    steps = align(first, second)
    assert time.perf_counter() - started < 60
    assert steps[0].seen.place == "extra"
    assert sum(step.both for step in steps) == len(second) - 1
