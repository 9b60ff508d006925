"""Hyper-parameters and initial weights in words."""

from __future__ import annotations

from reprocheck.language import joined, shortlist, tr
from reprocheck.language.letters import capital
from reprocheck.model.evidence import WeightsDiffer
from reprocheck.model.statements.difference import Fact
from reprocheck.model.statements.training import OtherHyperParameter, OtherWeights, Shapes
from reprocheck.wording.ladder import terms
from reprocheck.wording.ladder.inputs import equally, of_names, since_then, with_another_number
from reprocheck.wording.ladder.terms import Said, said_of


@said_of.register
def other_hyper_parameter(differs: OtherHyperParameter) -> Said:
    """Say that a value of an optimizer differs at an update."""
    both = "not the same in both runs"
    if differs.values is not None:
        both = terms.both(*differs.values)
    text = tr(
        "`{name}` of {place} is {both} at the update of iteration {iteration}",
        name=differs.name,
        place=differs.optimizer,
        both=both,
        iteration=differs.iteration,
    )
    if differs.other_weights:
        text = tr(
            "{place} holds other weights in `{group}` in each run: they are {both}",
            place=differs.optimizer,
            group=differs.name.rpartition(".")[0],
            both=both,
        )
    detail, sentence = f"{text}.", text
    if differs.others:
        detail += f" {terms.named(differs.others)} differ too."
    if differs.all_before_agrees:
        sentence = tr("{text}; everything recorded before it agrees", text=text)
    return Said(detail=detail, sentence=sentence)


@said_of.register
def other_weights(differs: OtherWeights) -> Said:
    """Say that a parameter or buffer differs before the first iteration."""
    count = f"{differs.differing} of {differs.compared} parameters and buffers"
    what = f"{capital(terms.weight(differs.weight))} is the first that differs"
    if differs.weight.only_in is not None:
        here, there = terms.runs(differs.weight)
        what = f"Run {here} has {terms.weight(differs.weight)} and run {there} does not,"
    return Said(
        detail=f"{what} before the first iteration ({count}){_states(differs.evidence)}.",
        sentence=tr(
            "{subject} before the first iteration, {why}",
            subject=_subject(differs.weight),
            why=_why(differs),
        ),
    )


def _subject(seen: Fact) -> str:
    """Return `the weights of stem.0 differ` for `stem.0.weight`."""
    module = seen.place.rpartition(".")[0]
    if not module:
        return tr("{weight} differs", weight=terms.weight(seen))
    if seen.buffer:
        return tr("the buffers of `{module}` differ", module=module)
    return tr("the weights of `{module}` differ", module=module)


def other_sizes(shapes: Shapes | None) -> str:
    """Return a clause on unequal sizes: `have 8×1 elements in run 1 and 16×1 in run 2`.

    "" if they are equal.
    """
    if shapes is None:
        return ""
    first, second = ("×".join(map(str, shape)) or "1" for shape in shapes)
    return f"have {first} elements in run 1 and {second} in run 2"


def _states(evidence: WeightsDiffer) -> str:
    names = evidence.generators.names
    if names:
        return f"; the state of {terms.generators(names)} differed when it was made"
    if evidence.states_known:
        return "; the generators were in the same state when it was made"
    return ""


def _why(differs: OtherWeights) -> str:
    evidence = differs.evidence
    names = evidence.generators.names
    equally_seeded = {seeding.generator for seeding in differs.seeded if seeding.equal}
    if evidence.filled_in_other_order and equally_seeded.issuperset(names):
        where = terms.at(differs.filled)
        return tr("because the weights are filled in another order in each run{where}", where=where)
    if differs.shapes is not None:
        sizes = other_sizes(differs.shapes)
        return tr("which {sizes}: the runs do not build the same model", sizes=sizes)
    if names:
        return _of_generators(differs)
    if evidence.loaded is not None:
        file, where = terms.code(evidence.loaded.file), terms.at(evidence.loaded.line)
        return tr(
            "and {file} does not hold the same in both runs where it is loaded{where}",
            file=file,
            where=where,
        )
    if evidence.missing_from is not None:
        checkpoint = terms.checkpoint(evidence.missing_from)
        return tr("and {checkpoint} does not hold it", checkpoint=checkpoint)
    if evidence.drawn_before_seed:
        name, line = next(iter(evidence.drawn_before_seed.items()))
        seeder = terms.seeder("", line)
        return tr("and {name} was drawn from before {seeder} seeds it", name=name, seeder=seeder)
    if not evidence.states_known:
        unknown = tr("and no state of a generator was recorded when it was made")
        if differs.seeded:
            return unknown
        return tr("{unknown}; nothing seeds a generator before it", unknown=unknown)
    made = tr("made{line}", line=terms.at(differs.line))
    if differs.filled:
        made = tr("filled{line}", line=terms.at(differs.filled))
    return tr(
        "although the generators were in the same state when it was {made}: its memory was never"
        " filled, or it was filled from a private generator, from the clock or from the"
        " operating system",
        made=made,
    )


def _of_generators(differs: OtherWeights) -> str:
    """Return why generators stood differently when a weight was made."""
    concerned = of_names(differs.seeded, differs.evidence.generators.names)
    if not concerned:
        return _nothing_seeds(differs)
    # one with another number in each run explains more than those with the same
    seeding = min(concerned, key=lambda seeding: seeding.equal)
    if not seeding.equal:
        return tr("because {why}", why=with_another_number(seeding))
    same, since = equally(seeding), since_then(seeding)
    return tr("although {same}: {since_then}", same=same, since_then=since)


def _nothing_seeds(differs: OtherWeights) -> str:
    them, built = tr("it"), tr("it is built")
    if "." in differs.weight.place:
        them, built = tr("them"), tr("they are built")
    if differs.filled:
        built = tr("{filled} fills {it}", filled=terms.line(differs.filled), it=them)
    elif differs.line:
        built = tr("{line} builds {it}", line=terms.line(differs.line), it=them)
    afterwards = [
        tr(
            "; {seeder} seeds {generator} afterwards, with {first}",
            seeder=terms.seeder(seeding.by, seeding.line),
            generator=seeding.generator,
            first=terms.number(seeding.first),
        )
        for seeding in differs.later
    ]
    return tr(
        "because nothing seeds {listed} before {is_built}{afterwards}",
        listed=shortlist(differs.evidence.generators.names),
        is_built=built,
        afterwards=joined("", afterwards),
    )
