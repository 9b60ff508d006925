"""The rung of the process-wide random generators: who draws from one whose state differs, and what
the script did about its seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from reprocheck.ladder import compare, words
from reprocheck.ladder.align import Step
from reprocheck.ladder.finding import Finding, found
from reprocheck.ladder.pair import Pair
from reprocheck.model.evidence import (
    Generator,
    Generators,
    SeededAs,
    SeededLater,
    StateDiffers,
)
from reprocheck.trace.deep import Seen

_LOADS = ("batch", "epoch")
DRAWERS = ("call", *_LOADS)
"""Facts of what can draw from a generator itself: its states before and after stand with them."""
_FOLD = "fold"
"""The fact that a number was folded into a key."""
_OF_KEYS = "jax"
"""What the names of generators begin with that stand for keys.

A key has no state that draws would move: others are derived from it.
"""
_KERAS = "keras"
"""The generator that a layer or an initializer takes a seed of its own from, when it is made."""
LOOKS = ("found", "rng")
"""Looks at the generators."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seeding:
    """One time that a generator was seeded: with which values in the two runs (None: only one run
    did), where, and by whom.

    by         the package that seeded it, empty where the script did
    by_system  whether it was given no number, and took one from the operating system
    folded     whether the number was folded into a key, which was made before
    """

    generator: str
    first: object
    second: object
    line: str
    by: str = ""
    by_system: bool = False
    folded: bool = False

    @property
    def equal(self) -> bool:
        """Whether both runs used the same seed."""
        return self.first is not None and self.first == self.second

    @property
    def how(self) -> SeededAs:
        """What that says of the generator."""
        if self.by_system:
            return "by the system"
        return "equally" if self.equal else "unequally"

    @property
    def who(self) -> str:
        """Who seeded it, in words."""
        at = f" at {words.line(self.line)}" if self.line else ""
        if self.by:
            return f"`{self.by}`{at}"
        return words.line(self.line) if self.line else "the script"


def seedings(pair: Pair, number: int) -> dict[str, Seeding]:
    """Generator -> how it was last seeded before a step; a number that is folded in unequally since
    is as a seed.
    """
    found: dict[str, Seeding] = {}
    for step in _given(pair, number):
        found.setdefault(step.seen.place, _seeding(step))
    return found


def seeded_before(pair: Pair, weight: Step) -> dict[str, Seeding]:
    """Generator -> how it was last seeded before a weight was made, which is recorded at the first
    forward pass.

    Where the record does not show the order, an equal seed is taken to be later than states that
    differ.
    """
    found = {
        step.seen.place: _seeding(step)
        for step in _seeds(pair, weight.number)
        if not _seeded_later(step, weight)
    }
    if weight.seen.seeds is not None:
        return found
    unequal = unequal_before(weight)
    return {
        name: seeding for name, seeding in found.items() if name not in unequal or not seeding.equal
    }


def unequal_before(step: Step) -> list[str]:
    """The generators whose states differed before a step, as it says itself."""
    if not step.first or not step.second:
        return []
    second = step.second.before
    return sorted(
        name for name, state in step.first.before.items() if second.get(name, state) != state
    )


def seeded_later(pair: Pair, weight: Step) -> dict[str, Seeding]:
    """Generator -> how it was first seeded after a weight was made, as far as the record shows the
    order.
    """
    found: dict[str, Seeding] = {}
    for step in _seeds(pair, weight.number):
        if _seeded_later(step, weight):
            found.setdefault(step.seen.place, _seeding(step))
    return found


def _seeds(pair: Pair, number: int) -> list[Step]:
    """The seeds before a step, in their order."""
    return list(_given(pair, number))[::-1]


def _given(pair: Pair, number: int) -> Iterator[Step]:
    """The seeds before a step, and the numbers that were folded into keys unequally: the nearest
    first.
    """
    for step in pair.before(number, "seed", _FOLD):
        if step.seen.kind != _FOLD or not _seeding(step).equal:
            yield step


def _seeded_later(seed: Step, weight: Step) -> bool:
    made, number = weight.seen.seeds, seed.seen.seeds
    return made is not None and number is not None and number >= made


def _seeding(step: Step) -> Seeding:
    seen = step.seen
    return Seeding(
        generator=seen.place,
        first=_seed(step, 1),
        second=_seed(step, 2),
        line=seen.line,
        by=seen.by,
        by_system=seen.by_system,
        folded=seen.kind == _FOLD,
    )


def drawn_before_seed(pair: Pair, number: int) -> dict[str, str]:
    """Generator -> the line of its first seed, where something had drawn from it before, from
    states that are not the same in both runs.
    """
    found: dict[str, str] = {}
    known: set[str] = set()
    for step in pair.steps:
        if step.number > number:
            break
        if step.seen.kind != "seed" or step.seen.place in known:
            continue
        known.add(name := step.seen.place)
        one, other = step.first, step.second
        if (
            one
            and other
            and name in one.before
            and name in other.before
            and one.before[name] != other.before[name]
        ):
            found[name] = one.line
    return found


def worker_seeds(pair: Pair, worker: int | None) -> dict[str, Seeding]:
    """Generator -> how a worker of a loader last seeded it by itself, where that was not the same
    in both runs.
    """
    one, other = (
        {seen.place: seen for seen in trace.worker_seeds if seen.worker == worker}
        for trace in (pair.first, pair.second)
    )
    found: dict[str, Seeding] = {}
    for name in sorted(one.keys() & other.keys()):
        a, b = _value(one[name]), _value(other[name])
        if a != b or one[name].by_system:
            found[name] = Seeding(
                generator=name,
                first=a,
                second=b,
                line=one[name].line,
                by_system=one[name].by_system,
            )
    return found


def drawn_from(
    seeded: Mapping[str, Seeding],
    names: Sequence[str],
    later: Mapping[str, Seeding] | None = None,
) -> Generators:
    """The generators of these names, and what is known of the seeds of all; `later`: of those that
    came behind the draw.
    """
    concerned = [seeded[name] for name in names if name in seeded]
    lines = [one.line for one in concerned if not one.equal] or [one.line for one in concerned]
    return Generators(
        drawn=tuple(_generator(name, seeded.get(name), (later or {}).get(name)) for name in names),
        seeded=tuple(sorted(name for name, one in seeded.items() if one.first is not None)),
        seed_line=lines[0] if lines else "",
    )


def _generator(name: str, seeding: Seeding | None, later: Seeding | None) -> Generator:
    afterwards = SeededLater(who=later.who, seed=later.first) if later is not None else None
    if seeding is None:
        return Generator(name=name, key=is_key(name), later=afterwards)
    return Generator(
        name=name,
        seeded=seeding.how,
        seeds=None if seeding.equal else (seeding.first, seeding.second),
        folded=seeding.folded and not seeding.equal,
        key=is_key(name),
        later=afterwards,
    )


def is_key(generator: str) -> bool:
    """Whether what is called a generator stands for the keys that one line makes."""
    return generator.partition(" ")[0] == _OF_KEYS


def why_unequal(seeded: dict[str, Seeding], generators: Sequence[str]) -> str:
    """Why the states of generators differ, as a clause."""
    unequal = [seeded[name] for name in generators if name in seeded and not seeded[name].equal]
    if unequal:
        return f"because {with_another_number(unequal[0])}"
    equal = [seeded[name] for name in generators if name in seeded]
    if equal:
        same = (
            "it was made from the same number" if is_key(equal[0].generator) else equally(equal[0])
        )
        return f"although {same}: {since_then(equal[0])}"
    return f"because nothing seeds {words.listed(sorted(generators))}"


def with_another_number(seeding: Seeding) -> str:
    """Who gave a generator another number in each run."""
    if seeding.folded:
        return f"{seeding.who} folds another number into the key in each run"
    if is_key(seeding.generator):
        return f"{seeding.who} makes the key from another number in each run"
    return f"{seeding.who} seeds {seeding.generator} with another number in each run"


def equally(seeding: Seeding) -> str:
    """Who gave a generator the same number in both runs."""
    if is_key(seeding.generator):
        return f"{seeding.who} makes the key from the same number in both runs"
    return f"{seeding.who} seeds {seeding.generator} equally"


def since_then(seeding: Seeding) -> str:
    """What happened behind an equal seed, where the states differ.

    A key does not move: how often it was drawn from says nothing.
    """
    if is_key(seeding.generator):
        return "since then it was split or folded in another way in each run"
    if seeding.generator == _KERAS:
        return "one run drew more from it since, or what draws took its own seed before that"
    return "since then one run drew more from it than the other"


def drawn(pair: Pair, end: int) -> Finding | None:
    """The first module or loader, up to step `end`, that draws from a generator whose state
    differs.

    Each loader draws a seed for its workers. Where all that it hands out agrees, nothing follows
    from that.
    """
    loader = next(
        (step.seen.place for step in pair.steps if step.number == end and step.seen.kind in _LOADS),
        None,
    )
    for step in pair.steps:
        if step.number > end:
            return None
        if step.seen.kind in _LOADS and step.seen.place != loader:
            continue
        if step.seen.kind in DRAWERS and (names := compare.states(step)):
            return finding_of(pair, step, names)
    return None


def unequal_states(pair: Pair, end: int) -> list[str]:
    """Generators whose states were seen to differ at any point up to a step, or when they were
    looked at next.
    """
    unequal: dict[str, None] = {}
    for step in pair.steps:
        if step.seen.kind == "rng" and step.first and step.second:
            unequal |= {
                name: None
                for name, state in step.first.before.items()
                if step.second.before.get(name, state) != state
            }
            if step.number > end:
                break
    return sorted(unequal)


def unused(pair: Pair, end: int, used: Sequence[str] = ()) -> list[str]:
    """Generators whose states were seen to differ before step `end`, and that no module drew
    from.
    """
    drawers = {
        name
        for step in pair.steps
        if step.seen.kind == "call" and step.number <= end
        for name in step.seen.after
    }
    return [name for name in unequal_states(pair, end) if name not in drawers and name not in used]


def recorded(pair: Pair) -> bool:
    """Whether the state of any generator was recorded."""
    return any(
        step.first and step.second and step.first.before and step.second.before
        for step in pair.steps
    )


def finding_of(pair: Pair, step: Step, names: tuple[str, ...]) -> Finding:
    """The finding that a module or a loader draws from generators whose states differ."""
    seen = step.seen
    seeded = seedings(pair, step.number)
    loader = seen.kind != "call"
    who = words.code(seen.place) if loader else words.module(seen.place, seen.class_)
    generators = words.generators(names)
    detail = (
        f"The first {'loader' if loader else 'module'} that draws from"
        f" {words.generators(names, 'differing')} is {who}."
    )
    if since := _agreed(pair, step, names):
        detail += f" {'It' if all(map(is_key, names)) else 'Its state'} still agreed at {since}."
    return found(
        pair,
        step,
        "RNG state",
        culprit=f"the state of {generators}",
        detail=detail,
        sentence=(
            f"{words.within(seen.iteration)} {who} draws from {generators}, {_unequal(names)} not"
            f" the same in both runs, {why_unequal(seeded, names)}"
        ),
        line=unequal_line(seeded, names) or seen.line,
        evidence=StateDiffers(
            generators=drawn_from(seeded, names), got=seen.kind, class_=seen.class_
        ),
    )


def unequal_line(seeded: Mapping[str, Seeding], names: Sequence[str]) -> str:
    """The line that seeded one of the generators with another number in each run."""
    unequal = (seeded[name].line for name in names if name in seeded and not seeded[name].equal)
    return next(unequal, "")


def _unequal(names: Sequence[str]) -> str:
    """What of generators is not the same: a key has no state."""
    return "which is" if all(map(is_key, names)) else "whose state is"


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
    return None if seen is None else _value(seen)


def _value(seen: Seen) -> object:
    """The number that a seed is, or its hash."""
    if not seen.outputs:
        return None
    value = seen.outputs[0][1].value
    return seen.outputs[0][1].hash or None if value is msgspec.UNSET else value
