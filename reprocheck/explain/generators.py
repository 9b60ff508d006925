"""The rung of the process-wide random generators: who draws from one whose state differs, and what the script did about its seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from reprocheck.explain import compare, words
from reprocheck.explain.align import Step
from reprocheck.explain.finding import Finding, found
from reprocheck.explain.pair import Pair

_LOADS = ("batch", "epoch")
DRAWERS = ("call", *_LOADS)
"""Facts of what can draw from a generator itself: its states before and after stand with them."""
LOOKS = ("found", "rng")
"""Looks at the generators."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seeding:
    """The last time a script seeded a generator: with which values in the two runs (None: only one run did), and where."""

    generator: str
    first: object
    second: object
    line: str

    @property
    def equal(self) -> bool:
        """Whether both runs used the same seed."""
        return self.first is not None and self.first == self.second


def seedings(pair: Pair, number: int) -> dict[str, Seeding]:
    """Generator -> how it was last seeded before a step."""
    found: dict[str, Seeding] = {}
    for step in pair.before(number, "seed"):
        seen = step.seen
        if seen.place not in found:
            found[seen.place] = Seeding(generator=seen.place, first=_seed(step, 1), second=_seed(step, 2), line=seen.line)
    return found


def drawn_before_seed(pair: Pair, number: int) -> dict[str, str]:
    """Generator -> the line of its first seed, where something had drawn from it before, from states that are not the same in both runs."""
    found: dict[str, str] = {}
    known: set[str] = set()
    for step in pair.steps:
        if step.number > number:
            break
        if step.seen.kind != "seed" or step.seen.place in known:
            continue
        known.add(name := step.seen.place)
        one, other = step.first, step.second
        if one and other and name in one.before and name in other.before and one.before[name] != other.before[name]:
            found[name] = one.line
    return found


def seed_facts(seeded: dict[str, Seeding], generators: Sequence[str]) -> dict[str, object]:
    """Facts on the seeds of some generators, and on which others the script seeded."""
    facts: dict[str, object] = {
        "seeded_by": sorted(name for name, seeding in seeded.items() if seeding.first is not None),
        "seeds_equal": bool(generators) and all(name in seeded and seeded[name].equal for name in generators),
    }
    unequal = [seeded[name] for name in generators if name in seeded and not seeded[name].equal]
    if unequal:
        facts["seeds"] = {one.generator: [one.first, one.second] for one in unequal}
        facts["seed_line"] = unequal[0].line
    return facts


def why_unequal(seeded: dict[str, Seeding], generators: Sequence[str]) -> str:
    """Why the states of generators differ, as a clause."""
    unequal = [seeded[name] for name in generators if name in seeded and not seeded[name].equal]
    if unequal:
        where = f"{words.line(unequal[0].line)} seeds" if unequal[0].line else "the script seeds"
        return f"because {where} {unequal[0].generator} with another number in each run"
    equal = [seeded[name] for name in generators if name in seeded]
    if equal:
        where = f" by {words.line(equal[0].line)}" if equal[0].line else ""
        return f"although {equal[0].generator} is seeded equally{where}: since then one run drew more from it than the other"
    return f"because nothing seeds {words.listed(sorted(generators))}"


def drawn(pair: Pair, end: int) -> Finding | None:
    """The first module or loader, up to step `end`, that draws from a generator whose state differs.

    Each loader draws a seed for its workers. Where all that it hands out agrees, nothing follows from that.
    """
    loader = next((step.seen.place for step in pair.steps if step.number == end and step.seen.kind in _LOADS), None)
    for step in pair.steps:
        if step.number > end:
            return None
        if step.seen.kind in _LOADS and step.seen.place != loader:
            continue
        if step.seen.kind in DRAWERS and (names := compare.states(step)):
            return finding_of(pair, step, names)
    return None


def unequal_states(pair: Pair, end: int) -> list[str]:
    """Generators whose states were seen to differ at any point up to a step, or when they were looked at next."""
    unequal: dict[str, None] = {}
    for step in pair.steps:
        if step.seen.kind == "rng" and step.first and step.second:
            unequal |= {name: None for name, state in step.first.before.items() if step.second.before.get(name, state) != state}
            if step.number > end:
                break
    return sorted(unequal)


def unused(pair: Pair, end: int, used: Sequence[str] = ()) -> list[str]:
    """Generators whose states were seen to differ before step `end`, and that no module drew from."""
    drawers = {name for step in pair.steps if step.seen.kind == "call" and step.number <= end for name in step.seen.after}
    return [name for name in unequal_states(pair, end) if name not in drawers and name not in used]


def recorded(pair: Pair) -> bool:
    """Whether the state of any generator was recorded."""
    return any(step.first and step.second and step.first.before and step.second.before for step in pair.steps)


def finding_of(pair: Pair, step: Step, names: tuple[str, ...]) -> Finding:
    seen = step.seen
    seeded = seedings(pair, step.number)
    loader = seen.kind != "call"
    who = words.code(seen.place) if loader else words.module(seen.place, seen.class_)
    generators = words.generators(names)
    detail = f"The first {'loader' if loader else 'module'} that draws from the differing {generators.removeprefix('the ')} is {who}."
    facts: dict[str, object] = {"kind": seen.kind, "generators": list(names), **seed_facts(seeded, names)}
    if seen.class_:
        facts["class"] = seen.class_
    if loader:
        facts["loader"] = seen.place
    if since := _agreed(pair, step, names):
        facts["agreed_at"] = since
        detail += f" Its state still agreed at {since}."
    unequal = next((seeded[name].line for name in names if name in seeded and not seeded[name].equal), "")
    return found(
        pair,
        step,
        "RNG state",
        culprit=f"the state of {generators}",
        detail=detail,
        sentence=f"{words.within(seen.iteration)} {who} draws from {generators}, whose state is not the same in both runs, "
        f"{why_unequal(seeded, names)}",
        line=unequal or seen.line,
        facts=facts,
    )


def _agreed(pair: Pair, step: Step, names: tuple[str, ...]) -> str:
    """The last point before a step at which the states agreed, in words."""
    for before in pair.before(step.number, "rng", *DRAWERS):
        one, other = before.first, before.second
        if not one or not other:
            continue
        a, b = (one.before, other.before) if one.kind == "rng" else (one.after, other.after)
        if all(name in a and a[name] == b.get(name) for name in names):
            return f"`{one.place}` of iteration {one.iteration}"
    return ""


def _seed(step: Step, run: int) -> object:
    seen = step.first if run == 1 else step.second
    if seen is None or not seen.outputs:
        return None
    value = seen.outputs[0][1].value
    return seen.outputs[0][1].hash or None if value is msgspec.UNSET else value
