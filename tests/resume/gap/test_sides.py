"""The two runs of a resume: which of their steps are compared."""

from __future__ import annotations

from pathlib import Path

from reprocheck.resume.gap.sides import Side, cut, last_step, shifted
from reprocheck.trace.deep import DeepTrace, Seen


def step(iteration: int) -> list[Seen]:
    kinds = ("call", "gradient", "update")
    return [Seen(kind=kind, place="body", iteration=iteration) for kind in kinds]


def mark(kind: str, iteration: int) -> Seen:
    return Seen(kind=kind, iteration=iteration)


def side(facts: list[Seen], offset: int) -> Side:
    return Side(DeepTrace(rank=0, path=Path("none"), seen=tuple(facts), algorithm="x"), offset)


RESTED = [mark("rest", 1), Seen(kind="call", iteration=1)]
DEEP = [mark("boundary", 2), *step(2), *step(3), mark("rest", 4), Seen(kind="call", iteration=4)]


def test_what_was_recorded_at_rest_is_no_step() -> None:
    found = side([*RESTED, *DEEP], 1)
    steps = shifted(found).seen
    assert found.rested and [fact.iteration for fact in steps] == [1, 1, 1, 2, 2, 2]


def test_a_run_that_goes_on_at_rest_has_no_steps_to_compare() -> None:
    found = side([*RESTED, *DEEP, mark("call", 5), mark("call", 6)], 5)
    assert found.rested and not found.marked and shifted(found).seen == ()


def test_a_step_that_did_not_come_to_its_update_is_left_out() -> None:
    steps = shifted(side([*DEEP[:-2], mark("call", 4), mark("rest", 4)], 1))
    assert steps.seen[-1].iteration == 3
    whole = last_step(steps.seen)
    assert whole == 2 and last_step(cut(steps, whole).seen) == 2


def test_a_run_that_was_recorded_deeply_throughout_is_compared_to_its_end() -> None:
    found = side([mark("boundary", 2), *step(2), *step(3)], 1)
    assert not found.rested and last_step(shifted(found).seen) == 2
