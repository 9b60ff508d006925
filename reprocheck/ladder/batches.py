"""The batch rung: the same samples in another order or with other content, or other samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, filterfalse
from operator import attrgetter

from reprocheck.ladder import compare
from reprocheck.ladder.compare import fact_of_step
from reprocheck.ladder.finding import Finding, found, measure
from reprocheck.ladder.generators import unused_and_moving
from reprocheck.ladder.pair import Difference, Pair
from reprocheck.ladder.seeds import drawn_before_seed, seedings, worker_seeds
from reprocheck.model.evidence import BatchDiffers
from reprocheck.model.statements.inputs import INPUTS_OF, OtherBatch, is_key
from reprocheck.trace.deep import Seen


@dataclass(frozen=True, kw_only=True, slots=True)
class _Loader:
    """What is known of a data loader whose batches differ."""

    difference: Difference
    """The first difference: of a batch, or of an order of samples."""
    content: Difference
    """The first batch of its that differs; the first difference itself where none does."""
    epoch: tuple[Seen, Seen]
    """The order of samples that was said last before the difference, in both runs; facts that say
    nothing where there is none.
    """
    batches: Sequence[tuple[Seen, Seen]]
    """All its batches that both runs have."""


def batch(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """Return the finding for the first batch, or the first order of samples, that differs."""
    loader = _loader(pair, differences)
    difference, content = loader.difference, loader.content
    number, worker = difference.step.number, content.seen.worker
    own_seeds = worker_seeds(pair, worker)
    change = _change(loader)
    early = None
    if change.built:
        early = drawn_before_seed(pair, number)
    a, b = (seen.private for seen in loader.epoch)
    # a text where they could not be read
    private: list[str] = []
    if not isinstance(a, str) and not isinstance(b, str):
        private = sorted(compare.unequal_states(a, b))
    evidence = replace(
        change,
        only_in_one_run=difference.structural,
        by_loader=not difference.seen.place.startswith(INPUTS_OF),
        by_indices=content.seen.indices is not None,
        subset=change.built and _unequal_subsets(loader.epoch),
        worker=worker,
        worker_seeds={name: (seed.first, seed.second) for name, seed in own_seeds.items()},
        seed_line=next(map(attrgetter("line"), own_seeds.values()), ""),
        private_generators=tuple(private),
        seeded=tuple(sorted(seedings(pair, number))),
        drawn_before_seed=early,
    )
    names = set(chain.from_iterable(seen.after for seen in difference.step.known))
    one, other = content.samples
    statement = OtherBatch(
        evidence=evidence,
        fact=fact_of_step(difference.step),
        batches=len(loader.batches),
        samples=(len(one), len(other)),
        changed=_unequal_samples(one, other),
        parts=len(content.seen.outputs),
        unequal_parts=content.outputs,
        moved=tuple(sorted(filterfalse(is_key, names))),
        own_seeds=tuple(own_seeds.values()),
        differing=() if worker is not None else tuple(unused_and_moving(pair, number)),
    )
    return found(
        pair,
        difference.step,
        "batch",
        statement,
        measure(pair, content),
        evidence=evidence,
    )


def _loader(pair: Pair, differences: Sequence[Difference]) -> _Loader:
    difference = differences[0]
    place = difference.seen.place
    own = (one for one in differences if (one.seen.kind, one.seen.place) == ("batch", place))
    before = pair.before(difference.step.number + 1, "epoch")
    epochs = (step.facts for step in before if step.seen.place == place)
    batches = (step.facts for step in pair.at(place, "batch"))
    return _Loader(
        difference=difference,
        content=next(own, difference),
        # the nearest that both runs have
        epoch=next(filter(None, epochs), compare.NO_FACTS),
        batches=list(filter(None, batches)),
    )


def _change(loader: _Loader) -> BatchDiffers:
    """Return how the samples differ: in order, in content, or as a set.

    The first evidence counts: the data set, then the order of the epoch, then the batches.
    """
    if loader.difference.structural:
        return BatchDiffers()
    a, b = loader.epoch
    if _told_apart(a.held, b.held):
        shown = BatchDiffers(shown_by="data set", built=True)
        if a.bag == b.bag:
            return replace(shown, samples="other order", whole_epoch=True)
        if a.indices == b.indices:
            return replace(shown, samples="other content")
        return replace(shown, samples="other samples")
    is_cut = a.cut or b.cut
    if a.indices != b.indices and not is_cut:
        shown = BatchDiffers(shown_by="epoch", samples="other samples", whole_epoch=True)
        if _unequal_subsets(loader.epoch):
            shown = replace(shown, shown_by="subset", built=True)
        if _count(a.indices) == _count(b.indices):
            return replace(shown, samples="other order")
        return shown
    return _by_content(loader)


def _unequal_subsets(epoch: tuple[Seen, Seen]) -> bool:
    """Return whether both runs recorded which samples a subset takes, and these differ."""
    a, b = epoch
    return _told_apart(a.subset, b.subset)


def _told_apart(a: str, b: str) -> bool:
    """Return whether both runs recorded a hash of a data set, and the hashes differ."""
    return "" not in (a, b) and a != b


def _by_content(loader: _Loader) -> BatchDiffers:
    """Return how the samples of batches differ if the recorded order of the epoch does not."""
    content = loader.content
    if content.step.facts is None:
        return BatchDiffers()
    a, b = content.step.facts
    if a.indices is not None and a.indices == b.indices:
        return BatchDiffers(samples="other content", shown_by="indices")
    change = _by_all_batches(loader.batches)
    if change is not None:
        return change
    one, other = content.samples
    sizes = {len(one), len(other)}
    # without hashes of samples their number is not known
    hashed = 0 not in sizes
    if hashed and len(sizes) > 1:
        return BatchDiffers(samples="other samples", shown_by="number of samples")
    if set(content.outputs) < dict(a.outputs).keys():
        return BatchDiffers(samples="other content", shown_by="rest of the batch")
    if hashed and 2 * _unequal_samples(one, other) < len(one):
        return BatchDiffers(samples="other content", shown_by="few samples")
    if hashed and set(one).isdisjoint(other):
        return BatchDiffers(samples="unknown", shown_by="no sample")
    return BatchDiffers(samples="other samples", shown_by="batch")


def _by_all_batches(batches: Sequence[tuple[Seen, Seen]]) -> BatchDiffers | None:
    """Return whether all batches together hold the same samples in another order, or other samples.

    None if that is not known.
    """
    shown = BatchDiffers(samples="other order", shown_by="all batches")
    by_index = _count_together([(a.indices, b.indices) for a, b in batches])
    by_hash = _count_together([(a.samples, b.samples) for a, b in batches])
    known = by_index or by_hash
    if known is None:
        return None
    first, second = known
    if first == second:
        return shown
    # other hashes may be those of other content
    if known is by_hash:
        return None
    return replace(shown, samples="other samples")


def _count_together(
    samples: Sequence[tuple[Sequence[object] | None, Sequence[object] | None]],
) -> tuple[Counter[Hashable], Counter[Hashable]] | None:
    """Return how often each sample occurs in all batches of run 1 and of run 2.

    None if there is no batch, or the samples of one batch are not known.
    """
    first, second = Counter[Hashable](), Counter[Hashable]()
    for both in samples:
        if None in both:
            return None
        one, other = map(_count, both)
        first += one
        second += other
    if not first:
        return None
    return first, second


def _unequal_samples(one: Sequence[str], other: Sequence[str]) -> int:
    """Return at how many positions of a batch the samples differ."""
    return sum(x != y for x, y in zip(one, other, strict=False))


def _count(values: Iterable[object] | None) -> Counter[Hashable]:
    """Return how often each sample occurs.

    A sample may be a list of indices, which is counted by its `repr`.
    """
    each = values or ()
    return Counter(value if isinstance(value, Hashable) else repr(value) for value in each)
