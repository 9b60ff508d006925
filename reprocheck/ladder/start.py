"""The rungs before the first iteration: hyper-parameters and initial weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reprocheck.ladder import compare
from reprocheck.ladder.compare import fact_of_step
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
from reprocheck.model.statements.training import OtherHyperParameter, OtherWeights
from reprocheck.trace.deep import DeepTrace, Seen


def hyper_parameters(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """Return the finding for the first optimizer setting that differs at an update: `lr`."""
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
    """Return the finding for the first parameter or buffer that differs before iteration 1."""
    difference = next((one for one in differences if not one.structural), differences[0])
    seen, step = difference.seen, difference.step
    seeded = seeded_before(pair, step)
    later = seeded_later(pair, step)
    measured = measure(pair, difference)
    unequal = unequal_before(step)
    states_known = bool(step.first and step.first.before)
    loads = pair.before(step.number, "load")
    unequal_loads = (load.seen for load in loads if compare.outputs(load, pair.algorithms))
    last_load = next(unequal_loads, None)
    loaded = None
    if last_load is not None and not unequal:
        loaded = Loaded(file=last_load.place, line=last_load.line)
    lacking = (load.seen for load in pair.of_kind("load") if _lacks(load.seen, seen.place))
    first, second = _order_of_writes(pair.first), _order_of_writes(pair.second)
    evidence = WeightsDiffer(
        generators=drawn_from(seeded, unequal, later),
        states_known=states_known,
        filled_in_other_order=first != second and sorted(first) == sorted(second),
        loaded=loaded,
        missing_from=next((load.place for load in lacking), None),
        drawn_before_seed=None if states_known else drawn_before_seed(pair, step.number),
    )
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


def _order_of_writes(trace: DeepTrace) -> list[str]:
    weights = [seen for seen in trace.seen if seen.kind == "weights"]
    writes = [(seen.write, seen.place) for seen in weights if seen.write is not None]
    return [place for _, place in sorted(writes)]


def _lacks(load: Seen, weight: str) -> bool:
    """Return whether a checkpoint lacks a weight of the module that loads it."""
    leaf = compare.leaf(load.inputs, "missing")
    names = None if leaf is None else leaf.value
    # a trace holds a short list as it is, and a long one as text
    if isinstance(names, str):
        names = names.split(", ")
    return isinstance(names, list) and weight.removeprefix(f"{load.place}.") in names
