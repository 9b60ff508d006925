"""The batches that a run trained on, in order, and which batch of the continued run another one
is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reprocheck.resume.gap.evidence import BatchGap, Counts, GeneratorGap, Spot
from reprocheck.resume.gap.sides import Side
from reprocheck.trace.deep import Leaves, Seen

_WAITING = 64
"""Batches that were handed out and not used yet, as with a loader that fetches ahead."""

NO_LOADER = "inputs of "
"""How the place of a batch begins that no loader has handed out."""


@dataclass(eq=False, slots=True)
class Pass:
    """One walk of a run through its data.

    number  among those of its loader, or of the loaders that its line walks through, from 0
    order   the indices in the order of the sampler
    """

    number: int
    fact: Seen | None = None
    handed: int = 0

    @property
    def order(self) -> Sequence[object]:
        """The indices of all its samples; empty where they are not known."""
        if self.fact is None or self.fact.cut:
            return ()
        return self.fact.indices or ()

    @property
    def private(self) -> Mapping[str, str]:
        """States that generators of the loader's own had when the order was drawn."""
        if self.fact is None or not isinstance(self.fact.private, dict):
            return {}
        return self.fact.private


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """A batch, and where it stood in its pass (from 0)."""

    fact: Seen
    of: Pass
    position: int
    iteration: int = 0

    @property
    def indices(self) -> tuple[object, ...]:
        """The indices of its samples; none where they are not known."""
        return tuple(self.fact.indices or ())

    @property
    def samples(self) -> tuple[object, ...]:
        """Return what its samples are known by: their indices, else the hashes of their content."""
        return self.indices or tuple(self.fact.samples or ())

    def equals(self, other: Batch) -> bool:
        """Return whether both hold the same in the same order."""
        if self.fact.samples and other.fact.samples:
            return self.fact.samples == other.fact.samples
        return _hashes(self.fact.outputs) == _hashes(other.fact.outputs)

    def is_of(self, other: Batch) -> bool:
        """Return whether both are of the same samples, whatever was made of them."""
        if self.indices and self.indices == other.indices:
            return True
        mine, others = self.fact.samples, other.fact.samples
        if mine and others:
            return Counter(mine) == Counter(others)
        return self.equals(other)


@dataclass(slots=True)
class _Taking:
    """The batches of a run while its facts are walked through."""

    passes: dict[str, Pass] = field(default_factory=dict)
    waiting: list[Batch] = field(default_factory=list)
    used: list[Batch] = field(default_factory=list)
    trained: dict[str, int] = field(default_factory=dict)
    """Line -> how many passes that began there the training has taken a batch of: each may have a
    loader of its own.
    """
    given: set[str] = field(default_factory=set)
    """Hashes of what modules were given since the last loss."""

    def epoch(self, fact: Seen) -> None:
        before = self.passes.get(fact.place)
        number = self.trained.get(fact.line, 0) if before is None else before.number + 1
        self.passes[fact.place] = Pass(number, fact)

    def batch(self, fact: Seen) -> None:
        taken = self.passes.setdefault(fact.place, Pass(0))
        self.waiting.append(Batch(fact, taken, taken.handed))
        taken.handed += 1
        del self.waiting[:-_WAITING]

    def call(self, fact: Seen) -> None:
        self.given.update(_hashes(fact.inputs))

    def loss(self, fact: Seen) -> None:
        """Note which batches a pass of the training took, as it is over."""
        matching = [one for one in self.waiting if self.given & _hashes(one.fact.outputs)]
        fresh = [one for one in self.waiting if one.fact.iteration == fact.iteration]
        taken = matching[-1:] or fresh[-1:]
        self.given.clear()
        for batch in taken:
            self.used.append(Batch(batch.fact, batch.of, batch.position, fact.iteration))
            if batch.of.fact is not None and batch.of.fact.line:
                self.trained[batch.of.fact.line] = batch.of.number + 1
            del self.waiting[: self.waiting.index(batch) + 1]


def taken(facts: Iterable[Seen]) -> list[Batch]:
    """Return the batches that a run trained on, in order: of those that a loader handed out, the
    ones that a module was given before a loss.

    Batches of a validation, those that a loop passes over, and those that were fetched ahead are
    left out.
    """
    taking = _Taking()
    for fact in facts:
        if fact.kind in ("epoch", "batch", "call", "loss"):
            getattr(taking, fact.kind)(fact)
    return taking.used


def _hashes(leaves: Leaves) -> set[str]:
    """Return the hashes of the tensors among some leaves."""
    return {leaf.hash for _, leaf in leaves if leaf.hash and leaf.shape}


@dataclass(frozen=True)
class Data:
    """The batches of both runs.

    private  hashes of the states that generators of loaders' own had at the checkpoint
    """

    continued: Sequence[Batch]
    resumed: Sequence[Batch]
    offset: int
    private: Collection[str] = ()

    @property
    def due(self) -> list[Batch]:
        """Return what the continued run trained on from there on."""
        return [batch for batch in self.continued if batch.iteration > self.offset]

    @property
    def done(self) -> list[Batch]:
        """Return what it had trained on before."""
        return [batch for batch in self.continued if batch.iteration <= self.offset]


def data_of(continued: Side, resumed: Side) -> Data:
    """Return the batches of two sides."""
    return Data(
        continued=taken(continued.trace.seen),
        resumed=taken(resumed.trace.seen),
        offset=continued.offset,
        private=continued.private,
    )


def first_gap(data: Data, unrestored: Collection[str] = ()) -> BatchGap | None:
    """Return the first batch of the resumed run that is not the one of the continued run; None
    where all that both have agree, and where none are known.

    unrestored  generators that the training draws from, that stood elsewhere when the resumed run
                went on, and of which no state was put back
    """
    pairs = list(zip(data.due, data.resumed, strict=False))
    for number, (due, came) in enumerate(pairs):
        if not due.equals(came):
            return _gap(data, pairs[number:], unrestored)
    return None


def drawn(gap: BatchGap, generator: GeneratorGap | None) -> BatchGap:
    """Return a batch that the script makes itself, of what it draws from a generator that stands
    elsewhere: it has no place in an epoch then.
    """
    if gap.iteration != 1 or (generator is None and not gap.unrestored):
        return gap
    found = gap.found and Spot(gap.found.iteration)
    return replace(
        gap,
        expected=Spot(gap.expected.iteration),
        found=found,
        made_from=generator,
        counts=Counts(),
    )


def ended_early(data: Data, facts: Iterable[Seen] = ()) -> BatchGap | None:
    """Return the first batch that the resumed run does not reach, although it ended by itself.
    `facts`: all that it did.
    """
    number = len(data.resumed)
    if number >= len(data.due):
        return None
    due = data.due[number]
    handed = (Batch(fact, Pass(0), 0) for fact in facts if fact.kind == "batch")
    times = sum(due.equals(batch) for batch in handed)
    # in an order that is the same in each epoch, the epoch that was done may be passed over rightly
    rightly = any(due.equals(batch) for batch in (*data.done, *data.resumed))
    return BatchGap(
        iteration=number + 1,
        expected=spots(data.continued)[due],
        ended=True,
        line=due.of.fact.line if due.of.fact is not None else "",
        passed_over=times > int(rightly),
    )


def _gap(data: Data, rest: Sequence[tuple[Batch, Batch]], unrestored: Collection[str]) -> BatchGap:
    due, came = rest[0]
    known = spots(data.continued)
    drawn = tuple(came.of.fact.after) if came.of.fact is not None else ()
    elsewhere, put_back = _private(data, due, came)
    same_order = None
    if due.of.order and came.of.order:
        same_order = _is_part(came.of.order, due.of.order)
    taken_there = set(_samples(data.continued))
    taken = [sample for sample in came.samples if sample in taken_there]
    return BatchGap(
        iteration=came.iteration,
        expected=known[due],
        found=_spot(data, due, came, known),
        position=_own_position(due, came),
        first_pass=came.of.number == 0,
        first_epoch=_in_first_order(data, due, came),
        same_order=same_order,
        drawn_from=drawn,
        unrestored=(*sorted(unrestored), *elsewhere),
        of_its_own=tuple(put_back),
        later_pass=came.of is not data.resumed[0].of,
        without_loader=came.fact.place.startswith(NO_LOADER),
        content=due.is_of(came),
        line=came.of.fact.line if came.of.fact is not None else "",
        strange=2 * len(taken) < len(came.samples),
        counts=_counts(data, due, rest, known),
    )


def _private(data: Data, due: Batch, came: Batch) -> tuple[list[str], list[str]]:
    """Return the generators that the loader has of its own, where they stood elsewhere when its
    order was drawn: those that stand anywhere, and those that stand where they stood at the
    checkpoint.
    """
    elsewhere: list[str] = []
    put_back: list[str] = []
    if due.of.private == came.of.private:
        return elsewhere, put_back
    for name, state in came.of.private.items():
        told = put_back if state in data.private else elsewhere
        told.append(f"{came.fact.place} {name}")
    return elsewhere, put_back


def _own_position(due: Batch, came: Batch) -> int | None:
    """Return where a batch stands in the pass of the resumed run itself: in the order that was
    drawn, where that is known, as a sampler may have passed over the batches before, or gives the
    rest of its order alone.
    """
    if came.of.fact is None:
        return None
    in_order = _position_in(came.of.order, came)
    if in_order is None:
        return came.position
    left_out = max(0, len(due.of.order) - len(came.of.order))
    return in_order + left_out // len(came.indices)


def _position_in(order: Sequence[object], batch: Batch) -> int | None:
    """Return which batch of an order another one is; None where it is none."""
    size = len(batch.indices)
    if not size:
        return None
    for position, start in enumerate(range(0, len(order), size)):
        if tuple(order[start : start + size]) == batch.indices:
            return position
    return None


def spots(batches: Sequence[Batch]) -> Mapping[Batch, Spot]:
    """Return where each batch of the continued run stands."""
    untold = [batch for batch in batches if batch.of.fact is None]
    found = {
        batch: Spot(batch.iteration, batch.of.number, batch.position)
        for batch in batches
        if batch.of.fact is not None
    }
    return {**found, **_without_loader(untold)}


def _without_loader(batches: Sequence[Batch]) -> Mapping[Batch, Spot]:
    """Return where batches stand of which no loader tells: an epoch ends where a sample comes
    again.
    """
    epochs: list[list[Batch]] = []
    seen: set[object] = set()
    for batch in batches:
        if not epochs or seen & set(batch.samples):
            epochs.append([])
            seen.clear()
        epochs[-1].append(batch)
        seen.update(batch.samples)
    if not _are_epochs(epochs):
        return {batch: Spot(batch.iteration) for batch in batches}
    return {
        batch: Spot(batch.iteration, number, position)
        for number, epoch in enumerate(epochs)
        for position, batch in enumerate(epoch)
    }


def _are_epochs(found: Sequence[Sequence[Batch]]) -> bool:
    """Return whether each goes through the same data, but for less than a batch that an epoch may
    drop at its end: not so where samples are drawn with replacement or from a buffer that grows.
    """
    whole = found[:-1]
    if not whole:
        return True
    first = set(_samples(whole[0]))
    others = set(_samples(batch for epoch in whole[1:] for batch in epoch))
    same_length = len(set(map(len, whole))) == 1
    return same_length and len(others - first) < len(whole[0][0].samples)


def _spot(data: Data, due: Batch, came: Batch, known: Mapping[Batch, Spot]) -> Spot | None:
    """Return where the batch that came stands in the continued run.

    Of several places the one in the epoch that is under way comes first, then the one at the same
    position of another epoch.
    """
    wanted = known[due]

    def rank(spot: Spot) -> tuple[bool, bool, int]:
        return (
            spot.epoch != wanted.epoch,
            spot.position != wanted.position,
            spot.iteration or 0,
        )

    same = [known[batch] for batch in data.continued if batch.is_of(came)]
    if same:
        return min(same, key=rank)
    return _in_orders(data, came)


def _in_orders(data: Data, came: Batch) -> Spot | None:
    """Return its place in an order of the continued run that was drawn, but not yet walked
    through.
    """
    for one in list({id(batch.of): batch.of for batch in data.continued}.values()):
        position = _position_in(one.order, came)
        if position is not None:
            return Spot(None, one.number, position)
    return None


def _in_first_order(data: Data, due: Batch, came: Batch) -> bool:
    """Return whether the resumed run walks in the order of the first epoch, which is another than
    that of the epoch that is due.
    """
    first, own = data.continued[0].of, came.of
    if first is due.of or own.fact is None or first.fact is None or due.of.fact is None:
        return False
    if first.order and own.order:
        return _is_part(own.order, first.order) and not _is_part(own.order, due.of.order)
    return bool(own.private) and own.private == first.private != due.of.private


def _is_part(order: Sequence[object], whole: Sequence[object]) -> bool:
    """Return whether an order is another one, or the end of it."""
    if not order or len(order) > len(whole):
        return False
    return list(whole[len(whole) - len(order) :]) == list(order)


def _counts(
    data: Data, due: Batch, rest: Sequence[tuple[Batch, Batch]], known: Mapping[Batch, Spot]
) -> Counts:
    """Return what came and was due up to the end of the epoch, or of what was recorded; nothing
    where there are no epochs.
    """
    epoch = known[due].epoch
    if epoch is None:
        return Counts()
    in_epoch = [(one, other) for one, other in rest if known[one].epoch == epoch]
    before = (batch for batch in data.continued if batch.iteration < due.iteration)
    seen = Counter(_samples(batch for batch in before if known[batch].epoch == epoch))
    were_due = Counter(_samples(one for one, _ in in_epoch))
    came = Counter(_samples(other for _, other in in_epoch))
    return Counts((came & seen).total(), (were_due - came).total(), came.total())


def _samples(batches: Iterable[Batch]) -> Iterator[object]:
    for batch in batches:
        yield from batch.samples
