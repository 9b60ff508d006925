"""List the batches that a run trained on, and find them in the continued run.

They are in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from reprocheck.model import RunRecord
from reprocheck.model.statements.inputs import INPUTS_OF
from reprocheck.resume.gap.evidence import BatchGap, Counts, GeneratorGap, Spot
from reprocheck.resume.gap.sides import Side
from reprocheck.trace.deep import Leaves, Seen
from reprocheck.trace.deep_run import read_deep

_WAITING = 64
"""Batches that were handed out and not used yet, as with a loader that fetches ahead."""


@dataclass(eq=False, slots=True)
class Pass:
    """One walk of a run through its data.

    number  the number of the pass, from 0, among those of its loader, or of the loaders that its
            line walks through
    order   the indices of the samples in the order of the sampler
    """

    number: int
    fact: Seen | None = None
    handed: int = 0

    @property
    def order(self) -> Sequence[object]:
        """The indices of all samples of the pass; empty if unknown."""
        if self.fact is None or self.fact.cut:
            return ()
        return self.fact.indices or ()

    @property
    def line(self) -> str:
        """The line of the script that walks through the data; "" if unknown."""
        return self.fact.line if self.fact is not None else ""

    @property
    def private(self) -> Mapping[str, str]:
        """States that generators of the loader's own had when the order was drawn."""
        if self.fact is None or not isinstance(self.fact.private, dict):
            return {}
        return self.fact.private


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """A batch, and its position in its pass (from 0)."""

    fact: Seen
    of: Pass
    position: int
    iteration: int = 0

    @property
    def indices(self) -> tuple[object, ...]:
        """The indices of the samples; none if unknown."""
        return tuple(self.fact.indices or ())

    @property
    def samples(self) -> tuple[object, ...]:
        """Return the identity of each sample: its index, else the hash of its content."""
        return self.indices or tuple(self.fact.samples or ())

    def equals(self, other: Batch) -> bool:
        """Return whether two batches hold the same content in the same order."""
        if self.fact.samples and other.fact.samples:
            return self.fact.samples == other.fact.samples
        return _hashes(self.fact.outputs) == _hashes(other.fact.outputs)

    def is_of(self, other: Batch) -> bool:
        """Return whether two batches are made of the same samples, even if the content differs."""
        if self.indices and self.indices == other.indices:
            return True
        mine, others = self.fact.samples, other.fact.samples
        if mine and others:
            return Counter(mine) == Counter(others)
        return self.equals(other)


def taken(facts: Iterable[Seen]) -> list[Batch]:
    """Return the batches that a run trained on, in order.

    Of those that a loader handed out, they are the ones that a module was given before a loss.
    Batches of a validation, those that a loop passes over, and those that were fetched ahead are
    left out.
    """
    passes: dict[str, Pass] = {}
    waiting: list[Batch] = []
    used: list[Batch] = []
    # line -> how many passes that began there the training has taken a batch of: each may have a
    # loader of its own
    trained: dict[str, int] = {}
    given: set[str] = set()  # hashes of what modules were given since the last loss
    for fact in facts:
        if fact.kind == "epoch":
            before = passes.get(fact.place)
            number = trained.get(fact.line, 0) if before is None else before.number + 1
            passes[fact.place] = Pass(number, fact)
        elif fact.kind == "batch":
            of = passes.setdefault(fact.place, Pass(0))
            waiting.append(Batch(fact, of, of.handed))
            of.handed += 1
            del waiting[:-_WAITING]
        elif fact.kind == "call":
            given.update(_hashes(fact.inputs))
        elif fact.kind == "loss":
            matching = [batch for batch in waiting if given & _hashes(batch.fact.outputs)]
            fresh = [batch for batch in waiting if batch.fact.iteration == fact.iteration]
            given.clear()
            for batch in matching[-1:] or fresh[-1:]:
                used.append(replace(batch, iteration=fact.iteration))
                if batch.of.fact is not None and batch.of.fact.line:
                    trained[batch.of.fact.line] = batch.of.number + 1
                del waiting[: waiting.index(batch) + 1]
    return used


def _hashes(leaves: Leaves) -> set[str]:
    """Return the hashes of the tensors among some leaves."""
    return {leaf.hash for _, leaf in leaves if leaf.hash and leaf.shape}


@dataclass(frozen=True)
class Data:
    """The batches of the continued and the resumed run.

    private  hashes of the states that the loaders' own generators had at the checkpoint
    """

    continued: Sequence[Batch]
    resumed: Sequence[Batch]
    offset: int
    private: Collection[str] = ()

    @property
    def due(self) -> list[Batch]:
        """Return the batches that the continued run trained on after the checkpoint."""
        return [batch for batch in self.continued if batch.iteration > self.offset]

    @property
    def done(self) -> list[Batch]:
        """Return the batches that the continued run trained on before the checkpoint."""
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
    """Return the first batch of the resumed run that is not that of the continued run.

    None if all batches that both runs have agree, or no batches are known.

    unrestored  generators that the training draws from, whose state differed when the resumed run
                went on, and of which no state was put back
    """
    pairs = list(zip(data.due, data.resumed, strict=False))
    for number, (due, came) in enumerate(pairs):
        if not due.equals(came):
            return _gap(data, pairs[number:], unrestored)
    return None


def drawn(gap: BatchGap, generator: GeneratorGap | None) -> BatchGap:
    """Return the gap of a batch that the script makes of what it draws from a generator.

    The generator stands elsewhere; such a batch has no place in an epoch.
    """
    if gap.iteration != 1 or (generator is None and not gap.unrestored):
        return gap
    spot = gap.found and Spot(gap.found.iteration)
    return replace(
        gap,
        expected=Spot(gap.expected.iteration),
        found=spot,
        made_from=generator,
        counts=Counts(),
    )


def ended_early(data: Data, facts: Iterable[Seen] = ()) -> BatchGap | None:
    """Return the first batch that a resumed run which ended by itself does not reach.

    facts  all facts that the resumed run recorded
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
        line=due.of.line,
        passed_over=times > int(rightly),
    )


def _gap(data: Data, rest: Sequence[tuple[Batch, Batch]], unrestored: Collection[str]) -> BatchGap:
    due, came = rest[0]
    known = spots(data.continued)
    # generators that the loader has of its own and that stood elsewhere when its order was drawn:
    # those that stand anywhere, and those that stand where they stood at the checkpoint
    private = came.of.private if due.of.private != came.of.private else {}
    own = {f"{came.fact.place} {name}": state for name, state in private.items()}
    elsewhere = [name for name, state in own.items() if state not in data.private]
    same_order = None
    if due.of.order and came.of.order:
        same_order = _is_part(came.of.order, due.of.order)
    taken_there = set(_samples(data.continued))
    never_taken = [sample for sample in came.samples if sample not in taken_there]
    return BatchGap(
        iteration=came.iteration,
        expected=known[due],
        found=_spot(data, due, came, known),
        position=_own_position(due, came),
        first_pass=came.of.number == 0,
        first_epoch=_in_first_order(data, due, came),
        same_order=same_order,
        drawn_from=tuple(came.of.fact.after) if came.of.fact is not None else (),
        unrestored=(*sorted(unrestored), *elsewhere),
        of_its_own=tuple(name for name in own if name not in elsewhere),
        later_pass=came.of is not data.resumed[0].of,
        without_loader=came.fact.place.startswith(INPUTS_OF),
        content=due.is_of(came),
        line=came.of.line,
        strange=2 * len(never_taken) > len(came.samples),
        counts=_counts(data, due, rest, known),
    )


def _own_position(due: Batch, came: Batch) -> int | None:
    """Return the position of a batch in the pass of the resumed run itself.

    The position is that in the drawn order, if known: a sampler may have skipped the batches
    before, or may yield only the rest of its order.
    """
    if came.of.fact is None:
        return None
    in_order = _position_in(came.of.order, came)
    if in_order is None:
        return came.position
    left_out = max(0, len(due.of.order) - len(came.of.order))
    return in_order + left_out // len(came.indices)


def _position_in(order: Sequence[object], batch: Batch) -> int | None:
    """Return the position of a batch in an order of samples.

    None if the batch is not in the order.
    """
    size = len(batch.indices)
    if not size:
        return None
    for position, start in enumerate(range(0, len(order), size)):
        if tuple(order[start : start + size]) == batch.indices:
            return position
    return None


def spots(batches: Sequence[Batch]) -> Mapping[Batch, Spot]:
    """Return where each batch of the continued run stands.

    For batches that no loader reports, an epoch ends when a sample comes again.
    """
    where: dict[Batch, Spot] = {}
    epochs: list[list[Batch]] = []
    seen: set[object] = set()
    for batch in batches:
        if batch.of.fact is not None:
            where[batch] = Spot(batch.iteration, batch.of.number, batch.position)
            continue
        if not epochs or seen & set(batch.samples):
            epochs.append([])
            seen.clear()
        epochs[-1].append(batch)
        seen.update(batch.samples)
    are_epochs = _are_epochs(epochs)
    for number, epoch in enumerate(epochs):
        for position, batch in enumerate(epoch):
            place = (number, position) if are_epochs else ()
            where[batch] = Spot(batch.iteration, *place)
    return where


def _are_epochs(stretches: Sequence[Sequence[Batch]]) -> bool:
    """Return whether each stretch goes through the same data.

    An epoch may drop less than a batch at its end. Samples that are drawn with replacement or from
    a buffer that grows have no epochs.
    """
    complete = stretches[:-1]
    if not complete:
        return True
    first = set(_samples(complete[0]))
    others = set(_samples(batch for epoch in complete[1:] for batch in epoch))
    same_length = len(set(map(len, complete))) == 1
    return same_length and len(others - first) < len(complete[0][0].samples)


def _spot(data: Data, due: Batch, came: Batch, known: Mapping[Batch, Spot]) -> Spot | None:
    """Return where the batch that came stands in the continued run.

    Of several places the one in the epoch that is under way comes first, then the one at the same
    position of another epoch; then one in an order that was drawn, but not yet walked through.
    """
    wanted = known[due]

    def rank(spot: Spot) -> tuple[bool, bool, int]:
        other_epoch, other_position = spot.epoch != wanted.epoch, spot.position != wanted.position
        return other_epoch, other_position, spot.iteration or 0

    same = [known[batch] for batch in data.continued if batch.is_of(came)]
    if same:
        return min(same, key=rank)
    for of in {id(batch.of): batch.of for batch in data.continued}.values():
        position = _position_in(of.order, came)
        if position is not None:
            return Spot(None, of.number, position)
    return None


def _in_first_order(data: Data, due: Batch, came: Batch) -> bool:
    """Return whether the resumed run walks in the order of the first epoch by mistake.

    That order is another one than that of the epoch that is due.
    """
    first, own = data.continued[0].of, came.of
    if first is due.of or own.fact is None or first.fact is None or due.of.fact is None:
        return False
    if first.order and own.order:
        return _is_part(own.order, first.order) and not _is_part(own.order, due.of.order)
    return bool(own.private) and own.private == first.private != due.of.private


def _is_part(order: Sequence[object], whole: Sequence[object]) -> bool:
    """Return whether an order equals another order, or the end of it."""
    if not order or len(order) > len(whole):
        return False
    return list(whole[len(whole) - len(order) :]) == list(order)


def _counts(
    data: Data, due: Batch, rest: Sequence[tuple[Batch, Batch]], known: Mapping[Batch, Spot]
) -> Counts:
    """Return how many samples came and were due up to the end of the epoch, or of the recording.

    Empty counts if there are no epochs.
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
    return chain.from_iterable(batch.samples for batch in batches)


def batches(folder: Path, runs: tuple[RunRecord, RunRecord], k: int) -> dict[str, object]:
    """Return the batches of the continued run that replace those of a resumed run.

    They are those of the first rank: `docs/reference/trace-format.md`. {} if no loader is known on
    both sides.
    """
    one, other = (read_deep(folder, run) for run in runs)
    ranks = sorted({*one.ranks} & {*other.ranks})
    if not ranks:
        return {}
    continued, resumed = Side(one.read(ranks[0]), k), Side(other.read(ranks[0]))
    data = data_of(continued, resumed)
    pairs = list(zip(data.due, data.resumed, strict=False))
    if not pairs:
        return {}
    first, came = pairs[0]
    if INPUTS_OF in f"{first.fact.place} {came.fact.place}":
        return {}
    to = dict.fromkeys(_places(data.resumed), 0)
    to[came.fact.place] = _number(resumed.trace.seen, came)
    return {
        "of": list(_places(data.due)),
        "start": [first.fact.place, _number(continued.trace.seen, first)],
        "to": to,
    }


def _places(batches: Iterable[Batch]) -> Sequence[str]:
    """Return the loaders that handed batches out, in their order."""
    return list(dict.fromkeys(batch.fact.place for batch in batches))


def _number(facts: Sequence[Seen], batch: Batch) -> int:
    """Return how many batches the loader of a batch had handed out before it."""
    place = batch.fact.place
    same = [fact for fact in facts if fact.kind == "batch" and fact.place == place]
    return next(number for number, fact in enumerate(same) if fact is batch.fact)
