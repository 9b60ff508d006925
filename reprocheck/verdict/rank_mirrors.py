"""Finds mirrors of ranks: the same samples or noise, or replicas of one model that differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from reprocheck.model.mirrors import AnyFact, Batch, Draw, Given, Mirror, MirrorKind, Network, Pass
from reprocheck.verdict.chance import are_too_many
from reprocheck.verdict.step_mirrors import largest_batch, may_be_meant, slots

_LEAST = 2
_MOST_RANKS = 8
"""Ranks that are compared in pairs: what the first of them share, the others do too."""
_Relation = Literal["data", "model", "unknown", "apart"]
_Look = Iterator[tuple[MirrorKind, Mirror | None]]


def of_ranks(given: Sequence[Given]) -> _Look:
    """Yield each kind of which two ranks recorded enough, with the mirror if there is one."""
    ranks = {process.rank: process for process in given if process.rank is not None}
    networks = {rank: by_network(process) for rank, process in sorted(ranks.items())}
    trained = [rank for rank, of_rank in networks.items() if of_rank]
    for first, second in combinations(trained[:_MOST_RANKS], 2):
        for number in networks[first].keys() & networks[second].keys():
            own = {rank: networks[rank][number] for rank in (first, second)}
            relation = _relation(own[first].groups, first, second)
            if relation != "apart":
                yield from _of_samples(own, ranks[first], relation)
                yield from _of_noise(own, relation)


@dataclass(frozen=True, kw_only=True, slots=True)
class _OfNetwork:
    """What a rank recorded of the training of one network."""

    groups: frozenset[tuple[str, tuple[int, ...]]]
    facts: tuple[AnyFact, ...]


def by_network(process: Given) -> dict[int, _OfNetwork]:
    """Return the batches and draws of a process by the number of the network."""
    groups: dict[int, frozenset[tuple[str, tuple[int, ...]]]] = {}
    facts: defaultdict[int, list[AnyFact]] = defaultdict(list)
    current = -1
    for fact in process.facts:
        if isinstance(fact, Network):
            # what was handed out last is for this network
            moved = facts[current].pop() if facts[current] else None
            current = fact.number
            groups[current] = frozenset(fact.groups)
            facts[current] += filter(None, [moved])
        elif isinstance(fact, (Batch, Draw)):
            facts[current].append(fact)
    return {
        number: _OfNetwork(groups=of_network, facts=tuple(facts[number]))
        for number, of_network in groups.items()
    }


def _relation(groups: Collection[tuple[str, tuple[int, ...]]], *pair: int) -> _Relation:
    """Return what two ranks share: a model, of which each trains on other data, or parts of one."""
    kinds = {kind for kind, ranks in groups if set(pair) <= set(ranks)}
    if "model" in kinds:
        return "model"
    if "data" in kinds:
        return "data"
    return "apart" if groups else "unknown"


def _of_samples(ranks: Mapping[int, _OfNetwork], process: Given, relation: _Relation) -> _Look:
    """Yield whether two ranks train on the same samples, or on other ones where they must not."""
    first, second = map(_batches, ranks.values())
    both = [(one, first[one], second[one]) for one in first.keys() & second.keys()]
    compared = [row for row in both if row[1].samples and row[2].samples]
    if len(compared) < _LEAST:
        return
    compared.sort(key=lambda row: row[1].iteration)
    same = [one for _, one, other in compared if one.samples == other.samples]
    apart = [one for _, one, other in compared if sorted(one.samples) != sorted(other.samples)]
    kind: MirrorKind = "replicas" if relation == "model" else "rank-samples"
    shared = apart if relation == "model" else same
    every = {sample for _, one, other in compared for sample in (*one.samples, *other.samples)}
    mirror = None
    drawn = sum(len(batch.samples) for batch in shared)
    if len(shared) >= _LEAST and (relation == "model" or are_too_many(drawn, len(every))):
        mirror = Mirror(
            kind=kind,
            between=tuple(ranks),
            place=shared[0].place,
            line=_line(process, shared[0].place),
            count=len(shared),
            asked=relation == "unknown",
        )
    yield kind, mirror


def _batches(process: _OfNetwork) -> dict[tuple[str, int], Batch]:
    """Return the batches of the loaders that feed a training, by place and number."""
    batches = [fact for fact in process.facts if isinstance(fact, Batch)]
    trains = {
        place
        for place in {batch.place for batch in batches}
        if len({batch.iteration for batch in batches if batch.place == place}) > 1
    }
    counts: dict[str, int] = {}
    numbered: dict[tuple[str, int], Batch] = {}
    for batch in batches:
        if batch.place in trains:
            number = counts[batch.place] = counts.get(batch.place, 0) + 1
            numbered[batch.place, number] = batch
    return numbered


def _line(process: Given, place: str) -> str:
    passes = (fact for fact in process.facts if isinstance(fact, Pass))
    return next((one.line for one in passes if one.place == place), "")


def _of_noise(ranks: Mapping[int, _OfNetwork], relation: _Relation) -> _Look:
    """Yield whether two ranks draw the same for other inputs, or otherwise for the same."""
    pair = tuple(ranks)
    first, second = (slots(one.facts) for one in ranks.values())
    samples = largest_batch(ranks[pair[0]].facts)
    for slot in first.keys() & second.keys():
        draws, others = first[slot], second[slot]
        iterations = sorted(draws.keys() & others.keys())
        both = [(draws[at], others[at]) for at in iterations]
        unequal = [row for row in both if row[0].inputs != row[1].inputs]
        if len(unequal) >= _LEAST:
            kind: MirrorKind = "shard-noise" if relation == "model" else "rank-noise"
            yield kind, _same_noise(kind, pair, unequal, samples, relation)
        equal = [row for row in both if row[0].inputs and row[0].inputs == row[1].inputs]
        if relation == "model" and len(equal) >= _LEAST:
            yield "replicas", _other_noise(pair, equal)


def _same_noise(
    kind: MirrorKind,
    pair: tuple[int, ...],
    both: Sequence[tuple[Draw, Draw]],
    samples: int,
    relation: _Relation,
) -> Mirror | None:
    draws = [
        (one, generator)
        for one, other in both
        for generator, state in sorted(_states(one).items())
        if _states(other).get(generator) == state
    ]
    if len(draws) < _LEAST:
        return None
    (first, name) = draws[0]
    generator = next(one for one in first.states if one.partition(":")[0] == name)
    alike = [draw for draw, _ in draws]
    asked = relation == "unknown" or may_be_meant(alike, generator, samples)
    return Mirror(
        kind=kind,
        between=pair,
        place=first.place,
        line=first.line,
        count=len(alike),
        generator=generator,
        asked=asked,
    )


def _states(draw: Draw) -> dict[str, str]:
    """Return the states by generator, whichever number its device has."""
    return {name.partition(":")[0]: state for name, state in draw.states.items()}


def _other_noise(pair: tuple[int, ...], both: Sequence[tuple[Draw, Draw]]) -> Mirror | None:
    apart = [one for one, other in both if _states(one) != _states(other)]
    if len(apart) < _LEAST:
        return None
    first = apart[0]
    return Mirror(
        kind="replicas",
        between=pair,
        place=first.place,
        line=first.line,
        count=len(apart),
        generator=next(iter(first.states)),
    )
