"""Batches and orders of samples in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reprocheck.ladder import words
from reprocheck.ladder.align import Step
from reprocheck.ladder.pair import Difference
from reprocheck.ladder.seeds import Seeding
from reprocheck.ladder.sentences.said import Said
from reprocheck.language import count, form, mark, sentences, tr
from reprocheck.model.evidence import BatchDiffers

INPUTS_OF = "inputs of "
"""How the place of a batch begins that no loader made."""

_CHANGES = {
    ("data set", "other order"): mark(
        "the same samples in another order (same samples, other order, over the epoch: the data"
        " set itself holds them so)"
    ),
    ("data set", "other content"): mark(
        "other samples or other content for the same indices: the data set itself does not hold"
        " the same"
    ),
    ("data set", "other samples"): mark(
        "other samples or other content: the data set itself does not hold the same"
    ),
    ("subset", "other order"): mark(
        "the same samples in another order (same samples, other order, over the epoch: the"
        " subset lists them so)"
    ),
    ("subset", "other samples"): mark("other samples: the subset takes others from the data set"),
    ("epoch", "other order"): mark(
        "the same samples in another order (same samples, other order, over the epoch)"
    ),
    ("epoch", "other samples"): mark("other samples (over the whole epoch)"),
    ("indices", "other content"): mark("the same samples with other content"),
    ("all batches", "other order"): mark(
        "the same samples in another order (over the {seen} seen)"
    ),
    ("all batches", "other samples"): mark("other samples (in the {seen} seen)"),
    ("number of samples", "other samples"): mark(
        "another number of samples ({first} and {second})"
    ),
    ("rest of the batch", "other content"): mark("other content (the rest of the batch agrees)"),
    ("few samples", "other content"): mark(
        "other content in {changed} of {first} samples, the others agree"
    ),
    ("no sample", "unknown"): mark("other content: none of the {seen} seen holds the same samples"),
    ("batch", "other samples"): mark("other samples or other content (in the {seen} seen)"),
    ("nothing", "unknown"): mark("another batch"),
}
"""What shows a change, and what it is -> what a loader hands out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OfBatch:
    """What a sentence on batches names beside the evidence."""

    content: Difference
    """The batch that differs."""
    batches: int
    """How many batches of the loader both runs have."""
    moved: Sequence[str]
    """The generators that moved for it."""
    own_seeds: Sequence[Seeding]
    """The seeds that the worker set by itself."""
    differing: Sequence[str]
    """The generators whose states differ, and that something draws from that was not recorded."""


def batch(evidence: BatchDiffers, step: Step, known: OfBatch) -> Said:
    """Return a batch, or an order of samples, that differs."""
    who = tr("{place} hands out", place=words.code(step.seen.place))
    if not evidence.by_loader:
        who = tr(
            "{place} is given",
            place=words.code(step.seen.place.removeprefix(INPUTS_OF)),
        )
    change = _change(evidence, step, known)
    if evidence.worker is not None:
        change += tr(", made by worker {worker}", worker=evidence.worker)
    return Said(
        detail=sentences(tr("{who} {change}.", who=who, change=change), _leaves(known.content)),
        sentence=tr(
            "{within} {who} {change}{why}",
            within=words.within(step.seen.iteration),
            who=who,
            change=change,
            why=_why(evidence, known),
        ),
    )


def _change(evidence: BatchDiffers, step: Step, known: OfBatch) -> str:
    if evidence.only_in_one_run:
        what = tr("an order of samples")
        if step.seen.kind == "batch":
            what = tr("batch {call} of the iteration", call=step.seen.call + 1)
        here, there = words.runs(step)
        return tr(
            "{what} in run {here} that it does not in run {there}",
            what=what,
            here=here,
            there=there,
        )
    first, second = known.content.samples
    return tr(
        _CHANGES[evidence.shown_by, evidence.samples],
        seen=count(known.batches, "batch", "batches"),
        first=len(first),
        second=len(second),
        changed=unequal_samples(first, second),
    )


def unequal_samples(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many samples of a batch are not the same, place by place."""
    return sum(x != y for x, y in zip(one, other, strict=False))


def _leaves(content: Difference) -> str:
    """Return the parts of a batch that differ, where the others do not."""
    leaves, total = content.outputs, len(content.seen.outputs)
    if not 0 < len(leaves) < total:
        return ""
    return form(
        len(leaves),
        "Of the {total} parts of a batch, {named} differs.",
        "Of the {total} parts of a batch, {named} differ.",
        total=total,
        named=words.named(leaves),
    )


def _why(evidence: BatchDiffers, known: OfBatch) -> str:
    """Return what the states and seeds of the generators say."""
    if evidence.only_in_one_run:
        return ""
    if known.own_seeds:
        return tr(", because the worker seeds {seeds}", seeds=_seeds(known.own_seeds))
    if evidence.built:
        return tr(
            ": it was built differently before the training, {seeded_late}",
            seeded_late=_seeded_late(evidence),
        )
    if known.moved:
        return tr(
            ", although {generators} that it draws from agrees",
            generators=words.generators(known.moved),
        )
    if known.differing:
        return tr(
            "; {generators} differed before, and what draws from it was not recorded",
            generators=words.generators(known.differing),
        )
    of = ""
    if evidence.worker is not None:
        of = tr(" of the main process")
    return tr(", and no process-wide generator{of} explains it", of=of)


def _seeds(own: Sequence[Seeding]) -> str:
    """`numpy from the operating system in line 9 of train.py`."""
    first = own[0]
    number = tr("with another number in each run")
    if first.by_system or first.first is None:
        number = tr("from the operating system")
    return tr(
        "{names} {number}{line}",
        names=words.listed([one.generator for one in own]),
        number=number,
        line=words.at(first.line, mark(" in ")),
    )


def _seeded_late(evidence: BatchDiffers) -> str:
    """Return generators that were drawn from before the script seeded them, as a clause."""
    early = evidence.drawn_before_seed
    if not early:
        return tr("and nothing recorded explains that")
    names = sorted(early)
    line = next(iter(early.values()))
    return form(
        len(names),
        "and {listed} was drawn from before {seeder} seeds it",
        "and {listed} were drawn from before {seeder} seeds them",
        listed=words.listed(names),
        seeder=words.seeder("", line),
    )
