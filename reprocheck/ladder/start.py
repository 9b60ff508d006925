"""What stands before an iteration: hyper-parameters and initial weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reprocheck.ladder import compare
from reprocheck.ladder.facts import fact_of_step
from reprocheck.ladder.finding import Finding, found, measure
from reprocheck.ladder.forward import structure
from reprocheck.ladder.pair import Difference, Pair
from reprocheck.ladder.seeds import (
    drawn_before_seed,
    drawn_from,
    seeded_before,
    seeded_later,
    unequal_before,
)
from reprocheck.model.evidence import HyperParameterDiffers, Loaded, WeightsDiffer
from reprocheck.model.statements.start import OtherHyperParameter, OtherWeights
from reprocheck.trace.deep import DeepTrace, Seen


def hyper_parameters(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """Return the first value of an optimizer that differs at an update."""
    difference = differences[0]
    if difference.structural:
        return structure(pair, difference)
    name, *others = difference.outputs
    measured = measure(pair, difference)
    # `group.params` stands for the list of the weights, not for a value of the optimizer
    group, _, what = name.rpartition(".")
    evidence = HyperParameterDiffers(other_weights=bool(group) and what == "params")
    first = pair.differences[0].step.number
    statement = OtherHyperParameter(
        optimizer=difference.seen.place,
        iteration=difference.seen.iteration,
        name=name,
        values=measured.of.values,
        others=tuple(others),
        other_weights=evidence.other_weights,
        all_before_agrees=first >= difference.step.number and "gradient" in pair.recorded,
    )
    return found(
        pair,
        difference.step,
        "hyper-parameters",
        statement,
        measured,
        place=name,
        line=difference.seen.line,
        evidence=evidence,
    )


def initial_weights(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """Return the first parameter or buffer, in order of recording, that differs before the first
    iteration.
    """
    difference = next((one for one in differences if not one.structural), differences[0])
    seen, step = difference.seen, difference.step
    seeded = seeded_before(pair, step)
    later = seeded_later(pair, step)
    measured = measure(pair, difference)
    evidence = _evidence(pair, difference)
    evidence = replace(evidence, generators=drawn_from(seeded, unequal_before(step), later))
    names = evidence.generators.names
    statement = OtherWeights(
        evidence=evidence,
        weight=fact_of_step(step),
        line=seen.line,
        filled=seen.filled,
        seeded=tuple(seeded.values()),
        later=tuple(one for name, one in later.items() if name in names),
        shapes=measured.of.shapes,
        differing=len(differences),
        compared=len(pair.of_kind("weights")),
    )
    finding = found(
        pair,
        step,
        "initial weights",
        statement,
        measured,
        place=seen.place,
        line=seen.filled or seen.line,
        evidence=evidence,
    )
    return replace(finding, number=-1, iteration=None)


def _evidence(pair: Pair, difference: Difference) -> WeightsDiffer:
    """Return what the traces show of a weight that differs, but for its generators."""
    step = difference.step
    states_known = bool(step.first and step.first.before)
    loaded, early = None, None
    if not unequal_before(step):
        loaded = _loaded(pair, step.number)
    if not states_known:
        early = drawn_before_seed(pair, step.number)
    one, other = _order_of_writes(pair.first), _order_of_writes(pair.second)
    return WeightsDiffer(
        states_known=states_known,
        filled_in_other_order=one != other and sorted(one) == sorted(other),
        loaded=loaded,
        missing_from=_missing(pair, difference.seen),
        drawn_before_seed=early,
    )


def _order_of_writes(trace: DeepTrace) -> list[str]:
    weights = [seen for seen in trace.seen if seen.kind == "weights"]
    writes = [(seen.write, seen.place) for seen in weights if seen.write is not None]
    return [place for _, place in sorted(writes)]


def _loaded(pair: Pair, number: int) -> Loaded | None:
    """Return the last file with weights that was loaded before a step and did not hold the same in
    both runs.
    """
    for step in pair.before(number, "load"):
        if compare.outputs(step, pair.algorithms):
            return Loaded(file=step.seen.place, line=step.seen.line)
    return None


def _missing(pair: Pair, seen: Seen) -> str | None:
    """Return the module that a checkpoint which lacked this weight was loaded into."""
    for step in pair.of_kind("load"):
        if seen.place.removeprefix(f"{step.seen.place}.") in _lacked(step.seen):
            return step.seen.place
    return None


def _lacked(load: Seen) -> list[str]:
    """Return the names of the weights that a checkpoint lacks, in the module that it is loaded
    into.
    """
    leaf = compare.leaf(load.inputs, "missing")
    if leaf is None:
        return []
    names = leaf.value
    # a trace holds a short list as it is, and a long one as text
    if isinstance(names, str):
        names = names.split(", ")
    if not isinstance(names, list):
        return []
    return list(names)
