"""Draws that are no facts of their own: by the script itself, or by a module around the call that
gets something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reprocheck.ladder import compare, words
from reprocheck.ladder.align import Step
from reprocheck.ladder.finding import Finding, found
from reprocheck.ladder.generators import (
    DRAWERS,
    LOOKS,
    drawn_from,
    finding_of,
    seedings,
    unequal_line,
    unequal_states,
    why_unequal,
)
from reprocheck.ladder.pair import Difference, Pair
from reprocheck.model import RungName
from reprocheck.model.evidence import BatchDiffers, Evidence, InputsDiffer, StateDiffers

_LATE = ("reduced", "update", "written")
"""Facts of an iteration's end, behind all modules and loaders."""
_WITHOUT_PRODUCER = ("between", "root", "loss")
"""Facts of what no module and no loader makes."""


def drawn_around(pair: Pair, findings: Mapping[RungName, Finding], end: int) -> Finding | None:
    """Draws by a module around, or by the script itself, asked for where the first difference has
    no producer that was recorded.
    """
    first = min(findings.values(), key=lambda finding: finding.order, default=None)
    if (
        first is None
        or first.number != end
        or first.rung not in ("batch", "forward", "loss", "gradient", "update")
    ):
        return None
    difference = next(one for one in pair.differences if one.step.number == end)
    if difference.seen.kind in _LATE:
        return _drawn_outside(pair, difference, _moved_around(pair, end))
    if difference.seen.kind in _WITHOUT_PRODUCER or _has_no_producer(first.evidence):
        return _drawn_within(pair, difference) or _drawn_outside(
            pair, difference, _moved_outside(pair, end)
        )
    return None


def _has_no_producer(evidence: Evidence) -> bool:
    """Whether what differs may have been made by something that was not recorded.

    Another order of the same samples is drawn by the loader; all else that it hands out can have
    been made before it.
    """
    if isinstance(evidence, InputsDiffer):
        return True
    if not isinstance(evidence, BatchDiffers):
        return False
    if not evidence.by_loader:
        return True
    if evidence.only_in_one_run or evidence.drawn_before_seed:
        return False
    return evidence.built or evidence.samples != "other order"


def _drawn_within(pair: Pair, difference: Difference) -> Finding | None:
    """The module around a call that gets something else, where it draws itself from a generator
    whose state differs (`functional.dropout`).

    It returns, and its draw is known, behind that call.
    """
    seen = difference.seen
    for step in pair.after(difference.step.number, "call") if seen.kind == "call" else ():
        if step.seen.iteration != seen.iteration:
            return None
        if (
            step.first
            and _encloses(step.seen.place, seen.place)
            and (names := compare.states(step))
        ):
            inner = _first_states_inside(pair, step)
            own = tuple(name for name in names if inner.get(name) != step.first.before.get(name))
            if own:
                return replace(finding_of(pair, step, own), number=difference.step.number)
    return None


def _encloses(place: str, other: str) -> bool:
    return place != other and (not place or other.startswith(f"{place}."))


def _first_states_inside(pair: Pair, around: Step) -> dict[str, str]:
    """Generator -> its state, in run 1, before the first module inside `around` drew from it."""
    states: dict[str, str] = {}
    # the nearest first: the earliest is written last
    for step in pair.before(around.number, "call"):
        if step.seen.iteration != around.seen.iteration:
            break
        if step.first and _encloses(around.seen.place, step.seen.place):
            states |= {
                name: step.first.before[name]
                for name in step.first.after
                if name in step.first.before
            }
    return states


def _drawn_outside(pair: Pair, difference: Difference, moved: set[str]) -> Finding | None:
    """The script itself draws from a generator whose state differs, outside of modules and loaders,
    before a difference without producer.

    Such a draw shows where a generator is found in a state in which nothing recorded has left it:
    it has `moved`.
    """
    names = [name for name in unequal_states(pair, difference.step.number) if name in moved]
    if not names:
        return None
    seen = difference.seen
    seeded = seedings(pair, difference.step.number)
    generators = words.generators(names)
    where = words.code(seen.place) if seen.kind != "call" else words.module(seen.place, seen.class_)
    return found(
        pair,
        difference.step,
        "RNG state",
        culprit=f"the state of {generators}",
        detail=(
            f"The script draws from {words.generators(names, 'differing')} outside of modules and"
            f" loaders; {where} is the first to get something else."
        ),
        sentence=(
            f"{words.within(seen.iteration)} {where} is the first to get something else, and the"
            f" script draws from {generators}, whose state is not the same in both runs,"
            f" {why_unequal(seeded, names)}"
        ),
        line=unequal_line(seeded, names),
        evidence=StateDiffers(generators=drawn_from(seeded, names), got=seen.kind, outside=True),
    )


def _moved_outside(pair: Pair, number: int) -> set[str]:
    """Generators that had moved, in run 1, when they were looked at next after a step, although
    nothing recorded drew from them.
    """
    states: dict[str, set[str]] = {}
    moved: set[str] = set()
    for step in pair.steps:
        if (seen := step.first) is None:
            continue
        if seen.kind == "seed":
            states.pop(seen.place, None)
        elif seen.kind in LOOKS or seen.kind in DRAWERS:
            for name, state in seen.before.items():
                known = states.setdefault(name, {state})
                if state not in known:
                    moved.add(name)
                known |= {state, seen.after.get(name, state)}
        if seen.kind == "rng" and step.number > number:
            break
    return moved


def _moved_around(pair: Pair, number: int) -> set[str]:
    """Generators that stand elsewhere, in run 1, where they are seen next after a step than where
    they were seen last before it.
    """
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for step in pair.steps:
        if (seen := step.first) is None or seen.kind not in (*LOOKS, "seed", *DRAWERS):
            continue
        if step.number < number:
            before |= {**seen.before, **seen.after}
        else:
            after = {**seen.before, **after}
        if seen.kind == "seed":
            (before if step.number < number else after)[seen.place] = ""
    return {
        name
        for name, state in after.items()
        if state and before.get(name) and state != before[name]
    }
