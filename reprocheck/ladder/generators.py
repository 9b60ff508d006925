"""The rung of the process-wide random generators: who draws from a generator whose state
differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from reprocheck.ladder import compare
from reprocheck.ladder.align import Step, of_run_1
from reprocheck.ladder.facts import fact_of
from reprocheck.ladder.finding import Finding, found
from reprocheck.ladder.pair import Pair
from reprocheck.ladder.seeds import drawn_from, seedings, unequal_before, unequal_line
from reprocheck.model.evidence import StateDiffers
from reprocheck.model.statements.inputs import INPUTS_OF, UnequalState

LOADS = ("batch", "epoch")
DRAWERS = ("call", *LOADS)
"""Facts of what can draw from a generator itself: its states before and after stand with them."""
LOOKS = ("found", "rng")
"""Looks at the generators."""


def drawn(pair: Pair, end: int) -> Finding | None:
    """Return the first draw of a module or loader, up to step `end`, from a generator whose state
    differs.

    A loader whose batches all agree does not count: it only draws a seed for its workers.
    """
    drawers = list(pair.up_to(end, *DRAWERS))
    at_end = {step.seen.place for step in drawers if step.number == end}
    for step in drawers:
        names = compare.states(step)
        of_other_loader = step.seen.kind in LOADS and step.seen.place not in at_end
        if names and not of_other_loader:
            return finding_of(pair, step, names)
    return None


def unequal_states(pair: Pair, end: int) -> list[str]:
    """Return generators whose states were seen to differ up to a step, or at the next look after
    it.
    """
    looks = [step for step in pair.of_kind("rng") if step.both]
    next_one = sum(step.number <= end for step in looks)
    seen = looks[: next_one + 1]
    return sorted(set(chain.from_iterable(map(unequal_before, seen))))


def unused(pair: Pair, end: int, used: Sequence[str] = ()) -> list[str]:
    """Return generators whose states differ before step `end`, and that no module drew from."""
    drawn_from = {name for step in pair.up_to(end, "call") for name in step.seen.after}
    drawn_from |= set(used)
    return [name for name in unequal_states(pair, end) if name not in drawn_from]


def unused_and_moving(pair: Pair, end: int) -> list[str]:
    """Return the unused generators whose state changes in run 1: something that was not recorded
    draws from them.
    """
    states = counted_states(pair)
    return [name for name in unused(pair, end) if states[name] > 1]


def counted_states(pair: Pair) -> Counter[str]:
    """Return generator -> the number of different states seen in run 1."""
    looks = of_run_1(pair.of_kind(*LOOKS))
    states = set(chain.from_iterable(look.before.items() for look in looks))
    return Counter(name for name, _ in states)


def recorded(pair: Pair) -> bool:
    """Return whether the state of any generator was recorded."""
    both = [step.facts for step in pair.steps if step.facts is not None]
    return any(first.before and second.before for first, second in both)


def finding_of(pair: Pair, step: Step, names: Sequence[str]) -> Finding:
    """Return the finding that a module or a loader draws from generators whose states differ."""
    seen = step.seen
    seeded = seedings(pair, step.number)
    before = (one.facts for one in pair.before(step.number, "rng", *DRAWERS))
    # the last fact before the step at which the states still agreed, as far as both say
    agreed = None
    for first, second in filter(None, before):
        states, others = first.after, second.after
        if first.kind == "rng":
            states, others = first.before, second.before
        if dict(states.items() & others.items()).keys() >= set(names):
            agreed = fact_of(first)
            break
    # what a function is given draws nothing itself
    is_given = seen.place.startswith(INPUTS_OF)
    return found(
        pair,
        step,
        "RNG state",
        UnequalState(
            names=tuple(names),
            fact=fact_of(seen),
            seeded=tuple(seeded.values()),
            agreed=agreed,
            outside=is_given,
        ),
        line=unequal_line(seeded, names) or seen.line,
        evidence=StateDiffers(
            generators=drawn_from(seeded, names),
            got=seen.kind,
            class_=seen.class_,
            outside=is_given,
        ),
    )
