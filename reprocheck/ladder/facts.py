"""What a statement names of a recorded fact."""

from __future__ import annotations

from dataclasses import replace

from reprocheck.ladder.align import Step
from reprocheck.model.statements.difference import THE_MODEL, Fact
from reprocheck.trace.deep import Seen


def fact_of(seen: Seen) -> Fact:
    """Return what is named of a fact of one run."""
    return Fact(
        kind=seen.kind,
        place=seen.place,
        class_=seen.class_,
        iteration=seen.iteration,
        call=seen.call,
        buffer=seen.buffer,
    )


def fact_of_step(step: Step) -> Fact:
    """Return what is named of a fact, with the run that alone has it."""
    fact = fact_of(step.seen)
    if step.both:
        return fact
    return replace(fact, only_in=2 if step.first is None else 1)


def place_of(seen: Seen, class_: str = "") -> str:
    """Return the place of a rung: the path of a module; the class where it is the model itself,
    which has none.
    """
    return seen.place or seen.class_ or class_ or THE_MODEL
