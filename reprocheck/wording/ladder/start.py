"""Hyper-parameters and initial weights in words."""

from __future__ import annotations

from reprocheck.language import form, joined, sentences, shortlist, tr
from reprocheck.language.letters import capital
from reprocheck.model.evidence import WeightsDiffer
from reprocheck.model.statements.difference import Fact
from reprocheck.model.statements.start import OtherHyperParameter, OtherWeights, Shapes
from reprocheck.wording.ladder import words
from reprocheck.wording.ladder.generators import (
    equally,
    of_names,
    since_then,
    with_another_number,
)
from reprocheck.wording.ladder.registry import Said, said_of


@said_of.register
def other_hyper_parameter(differs: OtherHyperParameter) -> Said:
    """Say that a value of an optimizer differs at an update."""
    both = tr("not the same in both runs")
    if differs.values is not None:
        both = words.both(*differs.values)
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
    too, agrees = "", ""
    if differs.others:
        too = tr("{named} differ too.", named=words.named(differs.others))
    if differs.all_before_agrees:
        agrees = tr("; everything recorded before it agrees")
    return Said(detail=sentences(f"{text}.", too), sentence=text + agrees)


@said_of.register
def other_weights(differs: OtherWeights) -> Said:
    """Say that a parameter or buffer differs before the first iteration."""
    count = f"{differs.differing} of {differs.compared} parameters and buffers"
    return Said(
        detail=(
            f"{_what(differs.weight)} before the first iteration"
            f" ({count}){_states(differs.evidence)}."
        ),
        sentence=tr(
            "{subject} before the first iteration, {why}",
            subject=_subject(differs.weight),
            why=_why(differs),
        ),
    )


def _what(seen: Fact) -> str:
    weight = words.weight(seen)
    if seen.only_in is None:
        return f"{capital(weight)} is the first that differs"
    here, there = words.runs(seen)
    return f"Run {here} has {weight} and run {there} does not,"


def _subject(seen: Fact) -> str:
    """Return `the weights of stem.0 differ` for `stem.0.weight`."""
    module = seen.place.rpartition(".")[0]
    if not module:
        return tr("{weight} differs", weight=words.weight(seen))
    if seen.buffer:
        return tr("the buffers of `{module}` differ", module=module)
    return tr("the weights of `{module}` differ", module=module)


def other_sizes(shapes: Shapes | None) -> str:
    """`have 8×1 elements in run 1 and 16×1 in run 2`; "" where they have as many."""
    if shapes is None:
        return ""
    one, other = ("×".join(map(str, shape)) or "1" for shape in shapes)
    return tr("have {one} elements in run 1 and {other} in run 2", one=one, other=other)


def _states(evidence: WeightsDiffer) -> str:
    names = evidence.generators.names
    if names:
        return f"; the state of {words.generators(names)} differed when it was made"
    if evidence.states_known:
        return "; the generators were in the same state when it was made"
    return ""


def _why(differs: OtherWeights) -> str:
    evidence = differs.evidence
    names = evidence.generators.names
    equally_seeded = {one.generator for one in differs.seeded if one.equal}
    if evidence.filled_in_other_order and equally_seeded.issuperset(names):
        where = words.at(differs.filled)
        return tr("because the weights are filled in another order in each run{where}", where=where)
    if differs.shapes is not None:
        return tr(
            "which {sizes}: the runs do not build the same model",
            sizes=other_sizes(differs.shapes),
        )
    if names:
        return _of_generators(differs)
    if evidence.loaded is not None:
        file, where = words.code(evidence.loaded.file), words.at(evidence.loaded.line)
        return tr(
            "and {file} does not hold the same in both runs where it is loaded{where}",
            file=file,
            where=where,
        )
    if evidence.missing_from is not None:
        return tr(
            "and {checkpoint} does not hold it", checkpoint=words.checkpoint(evidence.missing_from)
        )
    if evidence.drawn_before_seed:
        name, line = next(iter(evidence.drawn_before_seed.items()))
        return tr(
            "and {name} was drawn from before {seeder} seeds it",
            name=name,
            seeder=words.seeder("", line),
        )
    if not evidence.states_known:
        unknown = tr("and no state of a generator was recorded when it was made")
        if differs.seeded:
            return unknown
        return tr("{unknown}; nothing seeds a generator before it", unknown=unknown)
    made = tr("made{line}", line=words.at(differs.line))
    if differs.filled:
        made = tr("filled{line}", line=words.at(differs.filled))
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
    one = min(concerned, key=lambda seeding: seeding.equal)
    if not one.equal:
        return tr("because {why}", why=with_another_number(one))
    return tr("although {same}: {since_then}", same=equally(one), since_then=since_then(one))


def _nothing_seeds(differs: OtherWeights) -> str:
    weights = 1 + ("." in differs.weight.place)
    it, is_built = form(weights, "it", "them"), form(weights, "it is built", "they are built")
    if differs.filled:
        is_built = tr("{filled} fills {it}", filled=words.line(differs.filled), it=it)
    elif differs.line:
        is_built = tr("{line} builds {it}", line=words.line(differs.line), it=it)
    afterwards = [
        tr(
            "; {seeder} seeds {generator} afterwards, with {first}",
            seeder=words.seeder(one.by, one.line),
            generator=one.generator,
            first=words.number(one.first),
        )
        for one in differs.later
    ]
    return tr(
        "because nothing seeds {listed} before {is_built}{afterwards}",
        listed=shortlist(differs.evidence.generators.names),
        is_built=is_built,
        afterwards=joined("", afterwards),
    )
