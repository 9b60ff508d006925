"""Finds noise that repeats: in each step, or, by one key, on each device."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from reprocheck.model.mirrors import AnyFact, Batch, Draw, Given, Mirror, MirrorKind
from reprocheck.verdict.chance import is_noise

DROPPING = frozenset((
    "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout",
    "RReLU", "MultiheadAttention", "GaussianNoise", "GaussianDropout", "SpatialDropout1D",
))  # fmt: skip
"""Modules that draw a number for each element: their draws are always noise."""

_KEY = "key"
"""What stands for a class where a computation of JAX is given keys."""

Slot = tuple[str, int]
"""The place of a draw, and which of those in its iteration it is."""


def slots(facts: Iterable[AnyFact]) -> dict[Slot, dict[int, Draw]]:
    """Return the draws among facts by place and number, and of each by iteration."""
    counts: defaultdict[tuple[str, int], int] = defaultdict(int)
    draws: defaultdict[Slot, dict[int, Draw]] = defaultdict(dict)
    for fact in facts:
        if isinstance(fact, Draw):
            number = counts[fact.place, fact.iteration]
            counts[fact.place, fact.iteration] += 1
            draws[fact.place, number][fact.iteration] = fact
    return draws


def largest_batch(facts: Iterable[AnyFact]) -> int:
    """Return how many samples the largest batch among facts holds."""
    sizes = (len(fact.samples) for fact in facts if isinstance(fact, Batch))
    return max(sizes, default=1)


def may_be_meant(draws: Sequence[Draw], generator: str, samples: int) -> bool:
    """Return whether equal draws may be a decision that is shared, or indices of samples.

    samples  in a batch: a script may draw a few numbers for each, to choose it
    """
    if draws[0].class_ in DROPPING:
        return False
    amounts = [draw.amounts.get(generator, 0) for draw in draws]
    return not (is_noise(amounts, 4 * samples) if not draws[0].place else is_noise(amounts))


def of_steps(given: Sequence[Given]) -> Iterator[tuple[MirrorKind, Mirror | None]]:
    """Yield whether noise repeats from iteration to iteration, place by place."""
    for process in given:
        samples = largest_batch(process.facts)
        for (place, _), draws in slots(process.facts).items():
            if len(draws) > 1:
                yield "step-noise", _repeated(place, draws, samples)
                if any(draw.class_ == _KEY for draw in draws.values()):
                    yield "device-keys", _one_key(place, list(draws.values()))


def _repeated(place: str, draws: dict[int, Draw], samples: int) -> Mirror | None:
    first, *later = sorted(draws)
    start = draws[first]
    for generator, state in sorted(start.states.items()):
        same = [at for at in later if draws[at].states.get(generator) == state]
        if not same:
            continue
        repeated = [start, *(draws[at] for at in same)]
        return Mirror(
            kind="step-noise",
            between=(first, *same),
            place=place,
            line=start.line,
            count=len(repeated),
            generator=generator,
            asked=may_be_meant(repeated, generator, samples),
        )
    return None


def _one_key(place: str, draws: Sequence[Draw]) -> Mirror | None:
    """Return that devices draw by the same key: the program may hold it constant on purpose."""
    same = [draw for draw in draws if draw.copies > 1]
    if len(same) < 2:
        return None
    return Mirror(
        kind="device-keys",
        between=tuple(range(same[0].copies)),
        place=place,
        count=len(same),
        generator=next(iter(same[0].states), ""),
        asked=True,
    )
