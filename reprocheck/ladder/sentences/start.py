"""Hyper-parameters and initial weights in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reprocheck.ladder import words
from reprocheck.ladder.align import Step
from reprocheck.ladder.seeds import Seeding
from reprocheck.ladder.sentences.generators import equally, since_then, with_another_number
from reprocheck.ladder.sentences.said import Said
from reprocheck.model.evidence import HyperParameterDiffers, WeightsDiffer
from reprocheck.model.letters import capital
from reprocheck.trace.deep import Seen

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
    """A value of an optimizer that differs at an update; `others`: those that differ there, too."""
    both = "not the same in both runs"
    if values is not None:
        both = words.both(*values)
    text = f"`{name}` of {seen.place} is {both} at the update of iteration {seen.iteration}"
    if evidence.other_weights:
        group = name.rpartition(".")[0]
        text = f"{seen.place} holds other weights in `{group}` in each run: they are {both}"
    too, agrees = "", ""
    if others:
        too = f" {words.named(others)} differ too."
    if all_before_agrees:
        agrees = "; everything recorded before it agrees"
    return Said(detail=f"{text}.{too}", sentence=f"{text}{agrees}")


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
    """A parameter or buffer that differs before the first iteration."""
    seen = step.seen
    count = f"{known.differing} of {known.compared} parameters and buffers"
    subject = _subject(seen)
    return Said(
        detail=f"{_what(step)} before the first iteration ({count}){_states(evidence)}.",
        sentence=f"{subject} before the first iteration, {_why(evidence, seen, known)}",
    )


def _what(step: Step) -> str:
    weight = words.weight(step.seen)
    if step.both:
        return f"{capital(weight)} is the first that differs"
    here, there = words.runs(step)
    return f"Run {here} has {weight} and run {there} does not,"


def _subject(seen: Seen) -> str:
    """`the weights of stem.0 differ` for `stem.0.weight`."""
    module = seen.place.rpartition(".")[0]
    if not module:
        return f"{words.weight(seen)} differs"
    kind = {True: "buffers", False: "weights"}[seen.buffer]
    return f"the {kind} of `{module}` differ"


def other_sizes(shapes: _Shapes | None) -> str:
    """`have 8×1 elements in run 1 and 16×1 in run 2`; "" where they have as many."""
    if shapes is None:
        return ""
    one, other = ("×".join(map(str, shape)) or "1" for shape in shapes)
    return f"have {one} elements in run 1 and {other} in run 2"


def _states(evidence: WeightsDiffer) -> str:
    names = evidence.generators.names
    if names:
        return f"; the state of {words.generators(names)} differed when it was made"
    if evidence.states_known:
        return "; the generators were in the same state when it was made"
    return ""


def _why(evidence: WeightsDiffer, seen: Seen, known: OfWeights) -> str:
    names = evidence.generators.names
    not_equally = [
        name for name in names if name not in known.seeded or not known.seeded[name].equal
    ]
    if evidence.filled_in_other_order and not not_equally:
        where = words.at(seen.filled)
        return f"because the weights are filled in another order in each run{where}"
    if known.sizes is not None:
        return f"which {other_sizes(known.sizes)}: the runs do not build the same model"
    if names:
        return _of_generators(seen, names, known)
    if evidence.loaded is not None:
        file, where = words.code(evidence.loaded.file), words.at(evidence.loaded.line)
        return f"and {file} does not hold the same in both runs where it is loaded{where}"
    if evidence.missing_from is not None:
        return f"and {words.checkpoint(evidence.missing_from)} does not hold it"
    if evidence.drawn_before_seed:
        name, line = next(iter(evidence.drawn_before_seed.items()))
        return f"and {name} was drawn from before {words.seeder('', line)} seeds it"
    if not evidence.states_known:
        return _without_states(known)
    made = f"made{words.at(seen.line)}"
    if seen.filled:
        made = f"filled{words.at(seen.filled)}"
    return (
        f"although the generators were in the same state when it was {made}: its memory was never"
        " filled, or it was filled from a private generator, from the clock or from the"
        " operating system"
    )


def _without_states(known: OfWeights) -> str:
    unknown = "and no state of a generator was recorded when it was made"
    if known.seeded:
        return unknown
    return f"{unknown}; nothing seeds a generator before it"


def _of_generators(seen: Seen, names: Sequence[str], known: OfWeights) -> str:
    """Why generators stood differently when a weight was made."""
    concerned = [known.seeded[name] for name in names if name in known.seeded]
    if not concerned:
        return _nothing_seeds(seen, names, known.later)
    # one with another number in each run explains more than those with the same
    one = min(concerned, key=lambda seeding: seeding.equal)
    if not one.equal:
        return f"because {with_another_number(one)}"
    return f"although {equally(one)}: {since_then(one)}"


def _nothing_seeds(seen: Seen, names: Sequence[str], later: Sequence[Seeding]) -> str:
    it, is_built = "it", "it is built"
    if "." in seen.place:
        it, is_built = "them", "they are built"
    if seen.filled:
        is_built = f"{words.line(seen.filled)} fills {it}"
    elif seen.line:
        is_built = f"{words.line(seen.line)} builds {it}"
    afterwards = [
        f"; {words.seeder(one.by, one.line)} seeds {one.generator} afterwards, with"
        f" {words.number(one.first)}"
        for one in later
    ]
    return f"because nothing seeds {words.listed(names)} before {is_built}{''.join(afterwards)}"
