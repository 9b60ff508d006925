"""Describe the rung of the process-wide random generators.

It tells who draws from a generator whose state differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from reprocheck.ladder import compare
from reprocheck.ladder.align import Step, of_run_1
from reprocheck.ladder.compare import fact_of
from reprocheck.ladder.finding import Finding, found
from reprocheck.ladder.pair import Difference, Pair, is_inside
from reprocheck.ladder.seeds import drawn_from, seedings, unequal_before, unequal_line
from reprocheck.model import RungName
from reprocheck.model.evidence import BatchDiffers, Evidence, InputsDiffer, StateDiffers
from reprocheck.model.statements.inputs import INPUTS_OF, UnequalState

LOADS = ("batch", "epoch")
DRAWERS = ("call", *LOADS)
"""Facts of what can draw from a generator itself: its states before and after stand with them."""
LOOKS = ("found", "rng")
"""Looks at the generators."""


def drawn(pair: Pair, end: int) -> Finding | None:
    """Return the first draw, up to step `end`, from a generator whose state differs.

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
    """Return generators whose states were seen to differ up to a step, or right after it."""
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
    """Return the unused generators whose state changes in run 1: something unrecorded draws."""
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


_OF_RUNGS = frozenset({"batch", "forward", "loss", "gradient", "update"})
"""Rungs whose first difference can be made of what was drawn around it."""
_WITH_STATES = (*LOOKS, "seed", *DRAWERS)
"""Facts that hold states of generators."""


def drawn_around(pair: Pair, findings: Mapping[RungName, Finding], end: int) -> Finding | None:
    """Return a draw by a module around, or by the script, if nothing recorded differs before."""
    first = min(findings.values(), key=lambda finding: finding.order, default=None)
    if first is None or first.number != end or first.rung not in _OF_RUNGS:
        return None
    difference = next(one for one in pair.differences if one.step.number == end)
    kind = difference.seen.kind
    if kind in ("reduced", "update", "written"):
        return _drawn_outside(pair, difference, _moved_around(pair, end))
    if kind not in ("between", "root", "loss") and not _has_no_producer(first.evidence):
        return None
    within = _drawn_within(pair, difference)
    return within or _drawn_outside(pair, difference, _moved_outside(pair, end))


def _has_no_producer(evidence: Evidence) -> bool:
    """Return whether what differs may have been made by something that was not recorded.

    If only the order of samples differs, the loader drew it; all else may have been made before the
    loader.
    """
    if not isinstance(evidence, BatchDiffers):
        return isinstance(evidence, InputsDiffer)
    reordered = evidence.samples == "other order" and not evidence.built
    explained = any((evidence.only_in_one_run, evidence.drawn_before_seed, reordered))
    return not explained or not evidence.by_loader


def _drawn_within(pair: Pair, difference: Difference) -> Finding | None:
    """Return the draw of a module around a differing call, from a generator whose state differs.

    For example, a module that calls `functional.dropout`. Its draw is recorded when it returns,
    after the call.
    """
    seen, number = difference.seen, difference.step.number
    if seen.kind != "call":
        return None
    for step in pair.after_in_iteration(difference.step, "call"):
        names = _own_draws(pair, step)
        if names and is_inside(seen.place, step.seen.place):
            return replace(finding_of(pair, step, names), number=number)
    return None


def _own_draws(pair: Pair, around: Step) -> list[str]:
    """Return the generators with differing states that a module draws from itself.

    Their states change between the beginning of the module and the first inner module that draws
    from them.
    """
    names = compare.states(around)
    if not names:
        return []
    inside: dict[str, str] = {}
    # the nearest first: the earliest is written last
    for step in pair.before_in_iteration(around, "call"):
        if step.first and is_inside(step.seen.place, around.seen.place):
            states = step.first.before
            inside |= {name: states[name] for name in step.first.after if name in states}
    return [name for name in names if inside.get(name) != around.seen.before.get(name)]


def _drawn_outside(pair: Pair, difference: Difference, moved: set[str]) -> Finding | None:
    """Return the draw of the script itself from a generator whose state differs.

    That is a draw outside of modules and loaders.

    Such a draw is known from a generator that has `moved`: its state is not the one after the last
    recorded draw.
    """
    names = [name for name in unequal_states(pair, difference.step.number) if name in moved]
    if not names:
        return None
    seen = difference.seen
    seeded = seedings(pair, difference.step.number)
    return found(
        pair,
        difference.step,
        "RNG state",
        UnequalState(
            names=tuple(names), fact=fact_of(seen), seeded=tuple(seeded.values()), outside=True
        ),
        line=unequal_line(seeded, names),
        evidence=StateDiffers(generators=drawn_from(seeded, names), got=seen.kind, outside=True),
    )


def _moved_outside(pair: Pair, number: int) -> set[str]:
    """Return generators whose state in run 1 changed right after a step, without a known draw."""
    looks = (step.number for step in pair.after(number, "rng") if step.first is not None)
    states: dict[str, set[str]] = {}
    moved: set[str] = set()
    for seen in of_run_1(pair.up_to(next(looks, pair.last), *_WITH_STATES)):
        if seen.kind == "seed":
            states.pop(seen.place, None)
            continue
        for name, state in seen.before.items():
            known = states.setdefault(name, {state})
            if state not in known:
                moved.add(name)
            known |= {state, seen.after.get(name, state)}
    return moved


def _moved_around(pair: Pair, number: int) -> set[str]:
    """Return generators whose state in run 1 changes between the looks around a step."""
    before: dict[str, str] = {}
    for seen in of_run_1(pair.up_to(number - 1, *_WITH_STATES)):
        before |= {**seen.before, **seen.after}
        if seen.kind == "seed":
            before.pop(seen.place, None)
    after: dict[str, str] = {}
    behind = of_run_1(pair.after(number - 1, *_WITH_STATES))
    for seen in reversed(behind):
        after |= seen.before
    # where a generator that is seeded behind the step stood before, is not looked at
    seeded = {seen.place for seen in behind if seen.kind == "seed"}
    return set(compare.unequal_states(after, before)) - seeded
