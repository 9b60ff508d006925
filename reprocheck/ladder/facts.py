"""The part of a recorded fact that statements name."""

from __future__ import annotations

from dataclasses import replace

from reprocheck.ladder.align import Step
from reprocheck.model.statements.difference import THE_MODEL, Fact
from reprocheck.trace.deep import Seen


def fact_of(seen: Seen) -> Fact:
    """Return the part of a fact of one run that statements name."""
    return Fact(
        kind=seen.kind,
        place=seen.place,
        class_=seen.class_,
        iteration=seen.iteration,
        call=seen.call,
        buffer=seen.buffer,
    )


def fact_of_step(step: Step) -> Fact:
    """Return the part of a fact that statements name, with the run if only one run has the fact."""
    fact = fact_of(step.seen)
    if step.both:
        return fact
    return replace(fact, only_in=2 if step.first is None else 1)


def place_of(seen: Seen, class_: str = "") -> str:
    """Return the place of a rung: the path of a module; for the model itself, which has no path,
    its class.
    """
    return seen.place or seen.class_ or class_ or THE_MODEL
