"""What stands before an iteration: hyper-parameters and initial weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reprocheck.ladder import compare, words
from reprocheck.ladder.finding import Finding, found, measure
from reprocheck.ladder.forward import structure
from reprocheck.ladder.generators import (
    Seeding,
    drawn_before_seed,
    drawn_from,
    equally,
    seeded_before,
    seeded_later,
    since_then,
    unequal_before,
    with_another_number,
)
from reprocheck.ladder.pair import Difference, Pair
from reprocheck.model.evidence import HyperParameterDiffers, Loaded, Measured, WeightsDiffer
from reprocheck.trace.deep import Seen


def hyper_parameters(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """The first value of an optimizer that differs at an update."""
    difference = differences[0]
    if difference.structural:
        return structure(pair, difference)
    seen = difference.seen
    names = list(difference.outputs)
    measured = measure(pair, difference)
    name = names[0]
    values = measured.of.values
    both = words.both(*values) if values is not None else "not the same in both runs"
    others = (
        f" {words.listed([words.code(one) for one in names[1:]])} differ too." if names[1:] else ""
    )
    text = f"`{name}` of {seen.place} is {both} at the update of iteration {seen.iteration}"
    holds, _, what = name.rpartition(".")
    other_weights = bool(holds) and what == "params"
    if other_weights:
        text = f"{seen.place} holds other weights in `{holds}` in each run: they are {both}"
    return found(
        pair,
        difference.step,
        "hyper-parameters",
        measured,
        place=name,
        detail=f"{text}.{others}",
        sentence=f"{text}{_agreement(pair, difference)}",
        line=seen.line,
        evidence=HyperParameterDiffers(other_weights=other_weights),
    )


def _agreement(pair: Pair, difference: Difference) -> str:
    agrees = not pair.differences or pair.differences[0].step.number >= difference.step.number
    return (
        "; everything recorded before it agrees" if agrees and "gradient" in pair.recorded else ""
    )


# ------------------------------------------------------------------------------------------ weights


def initial_weights(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """The first parameter or buffer, in order of recording, that differs before the first
    iteration.
    """
    difference = next((one for one in differences if not one.structural), differences[0])
    seen = difference.seen
    compared = sum(1 for step in pair.steps if step.seen.kind == "weights")
    generators = unequal_before(difference.step)
    known = bool(difference.step.first and difference.step.first.before)
    seeded = seeded_before(pair, difference.step)
    later = {
        name: one for name, one in seeded_later(pair, difference.step).items() if name in generators
    }
    measured = measure(pair, difference)
    evidence = WeightsDiffer(
        generators=drawn_from(seeded, generators, later),
        states_known=known,
        filled_in_other_order=_other_order(pair),
        loaded=None if generators else _loaded(pair, difference.step.number),
        missing_from=_missing(pair, seen),
        drawn_before_seed=None if known else drawn_before_seed(pair, difference.step.number),
    )
    count = f"{len(differences)} of {compared} parameters and buffers"
    finding = found(
        pair,
        difference.step,
        "initial weights",
        measured,
        place=seen.place,
        detail=(
            f"{_what(difference)} before the first iteration ({count}){_states(generators, known)}."
        ),
        sentence=(
            f"{_subject(seen)} differ{'s' if '.' not in seen.place else ''} before the first"
            f" iteration, {_why(seen, seeded, later, evidence, measured.of)}"
        ),
        line=seen.filled or seen.line,
        evidence=evidence,
    )
    return replace(finding, number=-1, iteration=None)


def _what(difference: Difference) -> str:
    seen = difference.seen
    kind = "buffer" if seen.buffer else "parameter"
    if difference.structural:
        here, there = (1, 2) if difference.step.first else (2, 1)
        return f"Run {here} has the {kind} `{seen.place}`, which run {there} has not,"
    return f"The {kind} `{seen.place}` is the first that differs"


def _subject(seen: Seen) -> str:
    """`the weights of stem.0` for `stem.0.weight`."""
    module, _, name = seen.place.rpartition(".")
    if not module:
        return f"the {'buffer' if seen.buffer else 'parameter'} `{name}`"
    return f"the {'buffers' if seen.buffer else 'weights'} of `{module}`"


def other_sizes(measured: Measured) -> str:
    """`have 8×1 elements in run 1 and 16×1 in run 2`; "" where they have as many."""
    if measured.shapes is None:
        return ""
    one, other = ("×".join(map(str, shape)) or "1" for shape in measured.shapes)
    return f"have {one} elements in run 1 and {other} in run 2"


def _other_order(pair: Pair) -> bool:
    """Whether the weights that were written to after they were made were written to in another
    order in each run.
    """
    weights = [step for step in pair.steps if step.seen.kind == "weights"]
    orders = [
        sorted(
            (seen.write, seen.place) for seen in side if seen is not None and seen.write is not None
        )
        for side in ([step.first for step in weights], [step.second for step in weights])
    ]
    one, other = ([place for _, place in order] for order in orders)
    return one != other and sorted(one) == sorted(other)


def _states(generators: Sequence[str], known: bool) -> str:
    if generators:
        return f"; the state of {words.generators(generators)} differed when it was made"
    return "; the generators stood the same when it was made" if known else ""


def _why(
    seen: Seen,
    seeded: dict[str, Seeding],
    later: dict[str, Seeding],
    evidence: WeightsDiffer,
    measured: Measured,
) -> str:
    generators = evidence.generators.names
    if evidence.filled_in_other_order and all(
        name in seeded and seeded[name].equal for name in generators
    ):
        at = f" at {words.line(seen.filled)}" if seen.filled else ""
        return f"because the weights are filled in another order in each run{at}"
    if sizes := other_sizes(measured):
        return f"which {sizes}: the runs do not build the same model"
    if generators:
        return _of_generators(seen, generators, seeded, later)
    if loaded := evidence.loaded:
        return (
            f"and {words.code(loaded.file)} does not hold the same in both runs where it is"
            f" loaded{_at(loaded.line)}"
        )
    if evidence.missing_from is not None:
        return f"and {checkpoint(evidence.missing_from)} does not hold it"
    if evidence.drawn_before_seed:
        name, line = next(iter(evidence.drawn_before_seed.items()))
        return (
            f"and {name} was drawn from before {words.line(line) if line else 'the script'}"
            " seeds it"
        )
    if not evidence.states_known:
        return "and no state of a generator was recorded when it was made" + (
            "" if seeded else "; nothing seeds a generator before it"
        )
    line = seen.filled or seen.line
    made = f"filled{_at(line)}" if seen.filled else f"made{_at(line)}"
    return (
        f"although the generators stood the same when it was {made}: its memory was never filled,"
        " or it was filled from a generator of its own, from the clock or from the operating"
        " system"
    )


def _at(line: str) -> str:
    return f" at {words.line(line)}" if line else ""


def _of_generators(
    seen: Seen, generators: Sequence[str], seeded: dict[str, Seeding], later: dict[str, Seeding]
) -> str:
    """Why generators stood differently when a weight was made."""
    concerned = [seeded[name] for name in generators if name in seeded]
    unequal = next((seeding for seeding in concerned if not seeding.equal), None)
    if unequal is not None:
        return f"because {with_another_number(unequal)}"
    if concerned:
        one = concerned[0]
        return f"although {equally(one)}: {since_then(one)}"
    it = "them" if "." in seen.place else "it"
    builds = f"{'they are' if it == 'them' else 'it is'} built"
    if seen.filled:
        builds = f"{words.line(seen.filled)} fills {it}"
    elif seen.line:
        builds = f"{words.line(seen.line)} builds {it}"
    afterwards = [
        f"{one.who} seeds {one.generator} afterwards, with {words.number(one.first)}"
        for one in later.values()
    ]
    return "; ".join(
        [f"because nothing seeds {words.listed(list(generators))} before {builds}", *afterwards]
    )


def _loaded(pair: Pair, number: int) -> Loaded | None:
    """The last file with weights that was loaded before a step and did not hold the same in both
    runs.
    """
    for step in pair.before(number, "load"):
        if step.both and compare.outputs(step, pair.algorithms):
            return Loaded(file=step.seen.place, line=step.seen.line)
    return None


def _missing(pair: Pair, seen: Seen) -> str | None:
    """The module that a checkpoint which lacked this weight was loaded into."""
    for step in pair.steps:
        if step.seen.kind == "load" and _lacks(step.seen, seen.place):
            return step.seen.place
    return None


def _lacks(load: Seen, weight: str) -> bool:
    leaf = compare.leaf(load.inputs, "missing")
    names = leaf.value if leaf is not None else None
    if isinstance(names, str):
        names = names.split(", ")
    prefix = f"{load.place}." if load.place else ""
    return isinstance(names, list) and weight.removeprefix(prefix) in names


def checkpoint(module: str) -> str:
    """A checkpoint by what it was loaded into, in words."""
    return f"the checkpoint loaded into {words.module(module)}"
