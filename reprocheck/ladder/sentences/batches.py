"""Batches and orders of samples in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reprocheck.ladder import words
from reprocheck.ladder.align import Step
from reprocheck.ladder.pair import Difference
from reprocheck.ladder.seeds import Seeding
from reprocheck.ladder.sentences.said import Said
from reprocheck.model.evidence import BatchDiffers

INPUTS_OF = "inputs of "
"""How the place of a batch begins that no loader made."""

_ORDER = "the same samples in another order"
_CHANGES = {
    ("data set", "other order"): (
        f"{_ORDER} (same samples, other order, over the epoch: the data set itself holds them so)"
    ),
    ("data set", "other content"): (
        "other samples or other content for the same indices: the data set itself does not hold"
        " the same"
    ),
    ("data set", "other samples"): (
        "other samples or other content: the data set itself does not hold the same"
    ),
    ("subset", "other order"): (
        f"{_ORDER} (same samples, other order, over the epoch: the subset lists them so)"
    ),
    ("subset", "other samples"): "other samples: the subset takes others from the data set",
    ("epoch", "other order"): f"{_ORDER} (same samples, other order, over the epoch)",
    ("epoch", "other samples"): "other samples (over the whole epoch)",
    ("indices", "other content"): "the same samples with other content",
    ("all batches", "other order"): f"{_ORDER} (over the {{seen}} seen)",
    ("all batches", "other samples"): "other samples (in the {seen} seen)",
    ("number of samples", "other samples"): "another number of samples ({first} and {second})",
    ("rest of the batch", "other content"): "other content (the rest of the batch agrees)",
    ("few samples", "other content"): (
        "other content in {changed} of {first} samples, the others agree"
    ),
    ("no sample", "unknown"): "other content: none of the {seen} seen holds the same samples",
    ("batch", "other samples"): "other samples or other content (in the {seen} seen)",
    ("nothing", "unknown"): "another batch",
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


def batch(evidence: BatchDiffers, step: Step, known: OfBatch) -> Said:
    """A batch, or an order of samples, that differs."""
    who = f"{words.code(step.seen.place)} hands out"
    if not evidence.by_loader:
        who = f"{words.code(step.seen.place.removeprefix(INPUTS_OF))} is given"
    change = _change(evidence, step, known)
    if evidence.worker is not None:
        change += f", made by worker {evidence.worker}"
    return Said(
        detail=f"{who} {change}.{_leaves(known.content)}",
        sentence=f"{words.within(step.seen.iteration)} {who} {change}{_why(evidence, known)}",
    )


def _change(evidence: BatchDiffers, step: Step, known: OfBatch) -> str:
    if evidence.only_in_one_run:
        what = "an order of samples"
        if step.seen.kind == "batch":
            what = f"batch {step.seen.call + 1} of the iteration"
        here, there = words.runs(step)
        return f"{what} in run {here} that it does not in run {there}"
    first, second = known.content.samples
    return _CHANGES[evidence.shown_by, evidence.samples].format(
        seen=words.plural(known.batches, "batch", "batches"),
        first=len(first),
        second=len(second),
        changed=unequal_samples(first, second),
    )


def unequal_samples(one: Sequence[str], other: Sequence[str]) -> int:
    """How many samples of a batch are not the same, place by place."""
    return sum(x != y for x, y in zip(one, other, strict=False))


def _leaves(content: Difference) -> str:
    """The parts of a batch that differ, where the others do not."""
    leaves, total = content.outputs, len(content.seen.outputs)
    if not 0 < len(leaves) < total:
        return ""
    differ = words.agreeing(leaves, "differs", "differ")
    return f" Of the {total} parts of a batch, {words.named(leaves)} {differ}."


def _why(evidence: BatchDiffers, known: OfBatch) -> str:
    """What the states and seeds of the generators say."""
    if evidence.only_in_one_run:
        return ""
    if known.own_seeds:
        return f", because the worker seeds {_seeds(known.own_seeds)}"
    if evidence.built:
        return f": it was built differently before the training, {_seeded_late(evidence)}"
    if known.moved:
        return f", although {words.generators(known.moved)} that it draws from agrees"
    of = ""
    if evidence.worker is not None:
        of = " of the main process"
    return f", and no process-wide generator{of} explains it"


def _seeds(own: Sequence[Seeding]) -> str:
    """`numpy from the operating system in line 9 of train.py`."""
    first = own[0]
    number = "with another number in each run"
    if first.by_system or first.first is None:
        number = "from the operating system"
    names = words.listed([one.generator for one in own])
    return f"{names} {number}{words.at(first.line, ' in ')}"


def _seeded_late(evidence: BatchDiffers) -> str:
    """Generators that were drawn from before the script seeded them, as a clause."""
    early = evidence.drawn_before_seed
    if not early:
        return "and nothing recorded explains that"
    names = sorted(early)
    was, them = words.agreeing(names, "was", "were"), words.agreeing(names, "it", "them")
    line = next(iter(early.values()))
    seeder = words.seeder("", line)
    return f"and {words.listed(names)} {was} drawn from before {seeder} seeds {them}"
