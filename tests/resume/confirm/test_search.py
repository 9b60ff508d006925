"""Which rungs are put back next, and what the runs with them show."""

from __future__ import annotations

from dataclasses import replace

from reprocheck.resume.confirm.search import confirmation, next_rungs
from reprocheck.resume.model import (
    Attempt,
    Explained,
    Mechanism,
    Outcome,
    Place,
    StateRung,
    StateRungName,
)

LOST = Mechanism(code="RC118", title="lost")
Rungs = tuple[StateRungName, ...]


def outcome(*differ: StateRungName, named: Rungs = ()) -> Outcome:
    rungs = tuple(StateRung(name=name, status="differs") for name in differ)
    explained = Explained(rungs=rungs, mechanisms=dict.fromkeys(named, LOST))
    verdict = "does_not_resume_exactly"
    return Outcome(
        place=Place(name="first"), verdict=verdict, reason="", compared=5, explained=explained
    )


def made(found: Outcome, needed: Rungs, *, acts: bool = True) -> tuple[Outcome, list[Rungs]]:
    """The search to its end, where the runs agree once all that is needed was put back."""
    tried: list[Rungs] = []
    while True:
        attempts = tuple(attempt(rungs, needed, acts=acts) for rungs in tried)
        found = Outcome(
            place=found.place,
            verdict=found.verdict,
            reason="",
            compared=5,
            explained=found.explained,
            confirmation=confirmation(found, attempts),
        )
        rungs = next_rungs(found)
        if not rungs:
            return found, tried
        tried.append(rungs)


def attempt(rungs: Rungs, needed: Rungs, *, acts: bool) -> Attempt:
    agrees = set(needed) <= set(rungs)
    return Attempt(
        rungs=rungs,
        run=3,
        agrees=agrees,
        acted=rungs if acts else (),
        names=dict.fromkeys(rungs, ("w",)) if acts else {},
        differs=None if agrees else 2,
    )


def test_the_rung_with_the_mechanism_is_tried_first_and_alone() -> None:
    found = outcome("RNG state", "batch", named=("batch",))
    end, tried = made(found, ("batch",))
    assert tried == [("batch",)]
    assert end.confirmation is not None and end.confirmation.rungs == ("batch",)
    assert end.confirmation.mechanisms == (LOST,)
    assert "with the batches of the continued run put back (1 batch)" in end.confirmation.sentence


def test_a_generator_that_made_another_batch_is_put_back_itself() -> None:
    found = outcome("batch", named=("batch",))
    not_restored = Mechanism(code="RC112", title="not put back")
    explained = Explained(rungs=found.explained.rungs, mechanisms={"batch": not_restored})
    end, tried = made(replace(found, explained=explained), ("RNG state",))
    assert tried == [("RNG state",)]
    assert end.confirmation is not None and end.confirmation.mechanisms == (not_restored,)


def test_of_several_rungs_only_those_are_named_that_are_needed() -> None:
    found = outcome("weights", "optimizer state", "RNG state", "batch", named=("weights",))
    end, tried = made(found, ("optimizer state", "batch"))
    assert end.confirmation is not None
    assert end.confirmation.rungs == ("optimizer state", "batch")
    assert tried[:2] == [("weights",), ("weights", "optimizer state", "RNG state", "batch")]


def test_generators_that_were_compared_up_to_another_batch_are_put_back_with_it() -> None:
    end, tried = made(outcome("batch", named=("batch",)), ("RNG state", "batch"))
    assert tried[:2] == [("batch",), ("RNG state", "batch")]
    assert end.confirmation is not None
    assert end.confirmation.rungs == ("RNG state", "batch")


def test_where_all_of_it_does_not_suffice_the_rest_is_named() -> None:
    end, tried = made(outcome("optimizer state"), ("weights",))
    assert tried == [("optimizer state",)]
    assert end.confirmation is not None and not end.confirmation.confirmed
    assert end.confirmation.sentence == (
        "Not confirmed: with the state of the optimizer of the continued run put back (w), the"
        " losses still differ from iteration 2 on: there is something else."
    )


def test_a_run_in_which_nothing_had_another_value_confirms_nothing() -> None:
    end, _ = made(outcome("RNG state", named=("RNG state",)), ("RNG state",), acts=False)
    assert end.confirmation is not None and not end.confirmation.confirmed
    assert "nothing had another value than before" in end.confirmation.sentence


def test_what_differs_behind_the_state_alone_is_not_put_back() -> None:
    end, tried = made(outcome("forward"), ("weights",))
    assert not tried and end.confirmation is not None
    assert "of what the training goes on with nothing was recorded" in end.confirmation.sentence


def test_a_run_without_an_iteration_is_given_nothing() -> None:
    found = replace(outcome("batch", named=("batch",)), compared=0)
    assert next_rungs(found) == ()
    made = confirmation(found, ())
    assert made is not None and not made.confirmed
    assert "makes no iteration" in made.sentence
