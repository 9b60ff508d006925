"""How generators were seeded: by the script, by libraries, or by workers of data loaders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

import msgspec

from reprocheck.ladder import compare
from reprocheck.ladder.align import Step
from reprocheck.ladder.pair import Pair
from reprocheck.model.evidence import Generator, Generators, SeededLater
from reprocheck.model.statements.inputs import Seeding, is_key
from reprocheck.trace.deep import Seen

_FOLD = "fold"
"""The fact that a number was folded into a key."""


_NONE: Mapping[str, Seeding] = {}


def seedings(pair: Pair, number: int) -> dict[str, Seeding]:
    """Return generator -> how it was last seeded before a step.

    A number folded into a JAX PRNG key counts as a seed if it differs between the runs.
    """
    return {step.seen.place: _seeding(step) for step in _seeds(pair, number)}


def seeded_before(pair: Pair, weight: Step) -> dict[str, Seeding]:
    """Return generator -> how it was last seeded before a weight was made.

    A weight is recorded only at the first forward pass. If the record does not show the order, an
    equal seed is taken to be set after states that differ.
    """
    before = [step for step in _seeds(pair, weight.number) if not _comes_later(step, weight)]
    seedings_before = {step.seen.place: _seeding(step) for step in before}
    if weight.seen.seeds is not None:
        return seedings_before
    unequal = unequal_before(weight)
    return {
        name: one for name, one in seedings_before.items() if name not in unequal or not one.equal
    }


def seeded_later(pair: Pair, weight: Step) -> dict[str, Seeding]:
    """Return generator -> how it was first seeded after a weight was made, if that is known."""
    first_seedings: dict[str, Seeding] = {}
    for step in _seeds(pair, weight.number):
        if _comes_later(step, weight):
            first_seedings.setdefault(step.seen.place, _seeding(step))
    return first_seedings


def unequal_before(step: Step) -> list[str]:
    """Return the generators whose states before a step differ, as recorded with that step."""
    if step.facts is None:
        return []
    first, second = step.facts
    return sorted(compare.unequal_states(first.before, second.before))


def _seeds(pair: Pair, number: int) -> list[Step]:
    """Return the seeds before a step, in order, and numbers folded into keys that differ."""
    seeds = [
        step
        for step in pair.before(number, "seed", _FOLD)
        if step.seen.kind != _FOLD or not _seeding(step).equal
    ]
    return seeds[::-1]


def _comes_later(seed: Step, weight: Step) -> bool:
    """Return whether the record shows that a seed was set after a weight was made."""
    seeds_before, number = weight.seen.seeds, seed.seen.seeds
    return seeds_before is not None and number is not None and number >= seeds_before


def _seeding(step: Step) -> Seeding:
    seen = step.seen
    return Seeding(
        generator=seen.place,
        first=_value(step.first),
        second=_value(step.second),
        line=seen.line,
        by=seen.by,
        by_system=seen.by_system,
        folded=seen.kind == _FOLD,
    )


def _value(seen: Seen | None) -> object:
    """Return the number, or hash, of a seed; None if the run did not set the seed."""
    leaf = compare.first_output(seen)
    if leaf.value is msgspec.UNSET:
        return leaf.hash or None
    return leaf.value


def drawn_before_seed(pair: Pair, number: int) -> dict[str, str]:
    """Return generator -> the line of its first seed, if something drew from it before.

    Only generators whose states before that seed differ between the runs.
    """
    first_seeds: dict[str, Step] = {}
    for step in pair.up_to(number, "seed"):
        first_seeds.setdefault(step.seen.place, step)
    return {
        name: step.seen.line for name, step in first_seeds.items() if name in unequal_before(step)
    }


def worker_seeds(pair: Pair, worker: int | None) -> dict[str, Seeding]:
    """Return generator -> how a data loader worker last seeded it.

    Only if the seeds differ or come from the system.
    """
    one, other = (
        {seen.place: seen for seen in trace.worker_seeds if seen.worker == worker}
        for trace in (pair.first, pair.second)
    )
    own_seeds = [
        Seeding(
            generator=name,
            first=_value(one[name]),
            second=_value(other[name]),
            line=one[name].line,
            by_system=one[name].by_system,
        )
        for name in sorted(one.keys() & other.keys())
    ]
    return {
        seed.generator: seed for seed in own_seeds if seed.by_system or seed.first != seed.second
    }


def drawn_from(
    seeded: Mapping[str, Seeding], names: Sequence[str], later: Mapping[str, Seeding] = _NONE
) -> Generators:
    """Return the generators of these names with their seeds.

    seeded  generator -> how it was seeded before the draw
    names   the generators that are drawn from
    later   generator -> how it was seeded after the draw
    """
    concerned = _concerned(seeded, names)
    # those with another number in each run say more
    concerned.sort(key=attrgetter("equal"))
    return Generators(
        drawn=tuple(_generator(name, seeded.get(name), later.get(name)) for name in names),
        seeded=tuple(sorted(name for name, one in seeded.items() if one.first is not None)),
        seed_line=next(map(attrgetter("line"), concerned), ""),
    )


def _generator(name: str, seeding: Seeding | None, later: Seeding | None) -> Generator:
    afterwards = None
    if later is not None:
        afterwards = SeededLater(by=later.by, line=later.line, seed=later.first)
    if seeding is None:
        return Generator(name=name, key=is_key(name), later=afterwards)
    return Generator(
        name=name,
        seeded=seeding.how,
        seeds=seeding.unequal_seeds,
        folded=seeding.folded and not seeding.equal,
        key=is_key(name),
        later=afterwards,
    )


def unequal_line(seeded: Mapping[str, Seeding], names: Sequence[str]) -> str:
    """Return the line that gave one of the generators another seed in each run.

    "" if there is none.
    """
    return next((one.line for one in _concerned(seeded, names) if not one.equal), "")


def _concerned(seeded: Mapping[str, Seeding], names: Sequence[str]) -> list[Seeding]:
    """Return the seedings of those generators that were seeded."""
    return list(filter(None, map(seeded.get, names)))
