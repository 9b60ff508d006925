"""Hyper-parameters and initial weights in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reprocheck.ladder import words
from reprocheck.ladder.align import Step
from reprocheck.ladder.seeds import Seeding
from reprocheck.ladder.sentences.generators import equally, since_then, with_another_number
from reprocheck.ladder.sentences.said import Said
from reprocheck.language import form, joined, sentences, tr
from reprocheck.model.evidence import HyperParameterDiffers, WeightsDiffer
from reprocheck.model.letters import capital
from reprocheck.trace.deep import Seen
from reprocheck.wording.ladder.start import other_sizes

_Shapes = tuple[tuple[int, ...], tuple[int, ...]]


def hyper_parameter(
    evidence: HyperParameterDiffers,
    seen: Seen,
    name: str,
    values: tuple[object, object] | None,
    others: Sequence[str],
    *,
    all_before_agrees: bool,
) -> Said:
    """Return a value of an optimizer that differs at an update; `others`: those that differ there,
    too.
    """
    both = tr("not the same in both runs")
    if values is not None:
        both = words.both(*values)
    text = tr(
        "`{name}` of {place} is {both} at the update of iteration {iteration}",
        name=name,
        place=seen.place,
        both=both,
        iteration=seen.iteration,
    )
    if evidence.other_weights:
        text = tr(
            "{place} holds other weights in `{group}` in each run: they are {both}",
            place=seen.place,
            group=name.rpartition(".")[0],
            both=both,
        )
    too, agrees = "", ""
    if others:
        too = tr("{named} differ too.", named=words.named(others))
    if all_before_agrees:
        agrees = tr("; everything recorded before it agrees")
    return Said(detail=sentences(tr("{sentence}.", sentence=text), too), sentence=text + agrees)


@dataclass(frozen=True, kw_only=True, slots=True)
class OfWeights:
    """What a sentence on initial weights names beside the evidence."""

    seeded: Mapping[str, Seeding]
    """Generator -> how it was seeded before the weight was made."""
    later: Sequence[Seeding]
    """How those that it was drawn from were seeded afterwards."""
    sizes: _Shapes | None
    """Its shapes in both runs, where they are not the same."""
    differing: int
    compared: int
    """Parameters and buffers that differ, and all that were recorded."""


def weights(evidence: WeightsDiffer, step: Step, known: OfWeights) -> Said:
    """Return a parameter or buffer that differs before the first iteration."""
    seen = step.seen
    count = tr(
        "{differing} of {compared} parameters and buffers",
        differing=known.differing,
        compared=known.compared,
    )
    return Said(
        detail=tr(
            "{what} before the first iteration ({count}){states}.",
            what=_what(step),
            count=count,
            states=_states(evidence),
        ),
        sentence=tr(
            "{subject} before the first iteration, {why}",
            subject=_subject(seen),
            why=_why(evidence, seen, known),
        ),
    )


def _what(step: Step) -> str:
    weight = words.weight(step.seen)
    if step.both:
        return tr("{weight} is the first that differs", weight=capital(weight))
    here, there = words.runs(step)
    return tr(
        "Run {here} has {weight} and run {there} does not,", here=here, weight=weight, there=there
    )


def _subject(seen: Seen) -> str:
    """Return `the weights of stem.0 differ` for `stem.0.weight`."""
    module = seen.place.rpartition(".")[0]
    if not module:
        return tr("{weight} differs", weight=words.weight(seen))
    if seen.buffer:
        return tr("the buffers of `{module}` differ", module=module)
    return tr("the weights of `{module}` differ", module=module)


def _states(evidence: WeightsDiffer) -> str:
    names = evidence.generators.names
    if names:
        return tr(
            "; the state of {generators} differed when it was made",
            generators=words.generators(names),
        )
    if evidence.states_known:
        return tr("; the generators were in the same state when it was made")
    return ""


def _why(evidence: WeightsDiffer, seen: Seen, known: OfWeights) -> str:
    names = evidence.generators.names
    not_equally = [
        name for name in names if name not in known.seeded or not known.seeded[name].equal
    ]
    if evidence.filled_in_other_order and not not_equally:
        where = words.at(seen.filled)
        return tr("because the weights are filled in another order in each run{where}", where=where)
    if known.sizes is not None:
        return tr(
            "which {sizes}: the runs do not build the same model",
            sizes=other_sizes(known.sizes),
        )
    if names:
        return _of_generators(seen, names, known)
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
        if known.seeded:
            return unknown
        return tr("{unknown}; nothing seeds a generator before it", unknown=unknown)
    made = tr("made{line}", line=words.at(seen.line))
    if seen.filled:
        made = tr("filled{line}", line=words.at(seen.filled))
    return tr(
        "although the generators were in the same state when it was {made}: its memory was never"
        " filled, or it was filled from a private generator, from the clock or from the"
        " operating system",
        made=made,
    )


def _of_generators(seen: Seen, names: Sequence[str], known: OfWeights) -> str:
    """Return why generators stood differently when a weight was made."""
    concerned = [known.seeded[name] for name in names if name in known.seeded]
    if not concerned:
        return _nothing_seeds(seen, names, known.later)
    # one with another number in each run explains more than those with the same
    one = min(concerned, key=lambda seeding: seeding.equal)
    if not one.equal:
        return tr("because {why}", why=with_another_number(one))
    return tr("although {same}: {since_then}", same=equally(one), since_then=since_then(one))


def _nothing_seeds(seen: Seen, names: Sequence[str], later: Sequence[Seeding]) -> str:
    weights = 1 + ("." in seen.place)
    it, is_built = form(weights, "it", "them"), form(weights, "it is built", "they are built")
    if seen.filled:
        is_built = tr("{filled} fills {it}", filled=words.line(seen.filled), it=it)
    elif seen.line:
        is_built = tr("{line} builds {it}", line=words.line(seen.line), it=it)
    afterwards = [
        tr(
            "; {seeder} seeds {generator} afterwards, with {first}",
            seeder=words.seeder(one.by, one.line),
            generator=one.generator,
            first=words.number(one.first),
        )
        for one in later
    ]
    return tr(
        "because nothing seeds {listed} before {is_built}{afterwards}",
        listed=words.listed(names),
        is_built=is_built,
        afterwards=joined("", afterwards),
    )
