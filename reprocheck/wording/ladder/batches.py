"""Batches and orders of samples in words."""

from __future__ import annotations

from reprocheck.language import count, form, joined, mark, shortlist, tr
from reprocheck.model.evidence import BatchDiffers
from reprocheck.model.statements.batches import INPUTS_OF, OtherBatch
from reprocheck.wording.ladder import words
from reprocheck.wording.ladder.registry import Said, said_of

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


@said_of.register
def other_batch(batch: OtherBatch) -> Said:
    """Say that a batch, or an order of samples, differs."""
    evidence, place = batch.evidence, batch.fact.place
    who = tr("{place} hands out", place=words.code(place))
    if not evidence.by_loader:
        who = tr("{place} is given", place=words.code(place.removeprefix(INPUTS_OF)))
    change = _change(batch)
    if evidence.worker is not None:
        change += tr(", made by worker {worker}", worker=evidence.worker)
    detail, unequal = f"{who} {change}.", batch.unequal_parts
    if 0 < len(unequal) < batch.parts:
        differ = "differs" if len(unequal) == 1 else "differ"
        detail += f" Of the {batch.parts} parts of a batch, {words.named(unequal)} {differ}."
    return Said(
        detail=detail,
        sentence=tr(
            "{within} {who} {change}{why}",
            within=words.within(batch.fact.iteration),
            who=who,
            change=change,
            why=_why(batch),
        ),
    )


def _change(batch: OtherBatch) -> str:
    evidence = batch.evidence
    if evidence.only_in_one_run:
        what = "an order of samples"
        if batch.fact.kind == "batch":
            what = f"batch {batch.fact.call + 1} of the iteration"
        here, there = words.runs(batch.fact)
        return tr(
            "{what} in run {here} that it does not in run {there}",
            what=what,
            here=here,
            there=there,
        )
    first, second = batch.samples
    return tr(
        _CHANGES[evidence.shown_by, evidence.samples],
        seen=count(batch.batches, "batch", "batches"),
        first=first,
        second=second,
        changed=batch.changed,
    )


def _why(batch: OtherBatch) -> str:
    """Return what the states and seeds of the generators show about a batch."""
    evidence = batch.evidence
    if evidence.only_in_one_run:
        return ""
    if batch.own_seeds:
        first = batch.own_seeds[0]
        number = tr("with another number in each run")
        if first.by_system or first.first is None:
            number = tr("from the operating system")
        names = shortlist([seeding.generator for seeding in batch.own_seeds])
        place = words.at(first.line, mark(" in "))
        seeds = joined("", (f"{names} ", number, place))
        return tr(", because the worker seeds {seeds}", seeds=seeds)
    if evidence.built:
        late = _seeded_late(evidence)
        return tr(": it was built differently before the training, {seeded_late}", seeded_late=late)
    if batch.moved:
        generators = words.generators(batch.moved)
        return tr(", although {generators} that it draws from agrees", generators=generators)
    if batch.differing:
        return tr(
            "; {generators} differed before, and what draws from it was not recorded",
            generators=words.generators(batch.differing),
        )
    of = "" if evidence.worker is None else " of the main process"
    return tr(", and no process-wide generator{of} explains it", of=of)


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
        listed=shortlist(names),
        seeder=words.seeder("", line),
    )
