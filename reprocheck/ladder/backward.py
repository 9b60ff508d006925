"""The rungs behind the loss: gradients in backward order, reduced gradients, updates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import Literal, TypeAlias

from reprocheck.ladder import compare
from reprocheck.ladder.align import Step
from reprocheck.ladder.facts import fact_of, place_of
from reprocheck.ladder.finding import Finding, found, measure
from reprocheck.ladder.forward import structure
from reprocheck.ladder.pair import Difference, Pair, module_around
from reprocheck.model.evidence import (
    ChangedAfterBackward,
    Evidence,
    GradientDiffers,
    ReducedDiffers,
    UpdateDiffers,
    WeightWritten,
)
from reprocheck.model.statements.backward import BehindBackward, OutputGradient, ParameterGradient
from reprocheck.model.statements.difference import FirstDifference
from reprocheck.trace.deep import Seen


def gradient(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """Return the first gradient, in backward order, that differs."""
    difference = differences[0]
    if difference.structural:
        return structure(pair, difference)
    if difference.seen.kind == "reduced":
        return _changed_afterwards(pair, difference)
    if difference.seen.kind == "outgrad":
        return _of_output(pair, _innermost(difference, differences))
    return _of_parameter(pair, difference)


def _innermost(difference: Difference, differences: Sequence[Difference]) -> Difference:
    """Return, of the modules that returned the same tensor, the innermost, its gradient is that
    of all of them.
    """
    best = difference
    for other in differences[1:]:
        below = not best.seen.place or other.seen.place.startswith(f"{best.seen.place}.")
        if not below or not _same_gradient(best, other):
            break
        best = other
    return best


def _same_gradient(a: Difference, b: Difference) -> bool:
    """Return whether two outputs, the first of both runs, have one gradient in one iteration of run
    1.
    """
    in_one_pass = (b.seen.kind, b.seen.iteration) == ("outgrad", a.seen.iteration)
    if b.structural or not in_one_pass:
        return False
    return compare.hashes(a.seen.outputs) == compare.hashes(b.seen.outputs)


def _of_output(pair: Pair, difference: Difference) -> Finding:
    """Return the gradient of a module's output: made by the backward of what used that output."""
    seen = difference.seen
    calls = _leaf_calls(pair, seen.iteration)
    inner = [n for n, call in enumerate(calls) if f"{call.place}.".startswith(f"{seen.place}.")]
    later = calls[inner[-1] + 1 :] if inner else []
    before = pair.before_in_iteration(difference.step, "outgrad")
    agreeing = {step.seen.place for step in before if pair.agrees(step)}
    own = (call for call in pair.calls(seen.iteration) if call.place == seen.place)
    returned = compare.returned(own)
    users = [call for call in later if returned & compare.hashes(call.inputs)]
    agree = (n for n, call in enumerate(later, start=1) if call.place in agreeing)
    between = users or later[: next(agree, 0)]
    nodes: list[str] = []
    if not between:
        nodes = _nodes(pair, difference)
    anchors = (call for call in later if call.place in agreeing and call not in between)
    inside = module_around([*(call.place for call in between), seen.place])
    if len(between) == 1:
        inside = between[0].place
    statement = OutputGradient(
        gradient=fact_of(seen),
        between=tuple(map(fact_of, between)),
        nodes=tuple(nodes),
        anchor=next(map(fact_of, anchors), None),
        loss_agrees=_loss_agrees(pair, difference),
    )
    return _finding(
        pair,
        difference,
        statement,
        GradientDiffers(),
        operations=[*nodes, *(call.class_ for call in between)],
        inside=inside,
    )


def _of_parameter(pair: Pair, difference: Difference) -> Finding:
    """Return the gradient of a parameter: of its module's own backward, or of a hook on it, where
    the gradient that came in agrees.
    """
    seen = difference.seen
    nodes = _nodes(pair, difference)
    path = seen.place.rpartition(".")[0]
    calls = reversed(pair.calls(seen.iteration))
    module = next((call for call in calls if call.place == path), None)
    own, operations = None, nodes
    if module is not None and _incoming_agrees(pair, difference, module):
        own, operations = fact_of(module), [*nodes, module.class_]
    before = pair.before_in_iteration(difference.step, "outgrad", "gradient")
    return _finding(
        pair,
        difference,
        ParameterGradient(
            gradient=fact_of(seen),
            module=own,
            nodes=tuple(nodes),
            before=next((fact_of(step.seen) for step in before), None),
            loss_agrees=_loss_agrees(pair, difference),
        ),
        GradientDiffers(),
        operations=operations,
        inside=module.place if module is not None else "",
    )


def _changed_afterwards(pair: Pair, difference: Difference) -> Finding:
    """Return one rank, gradients as they were accumulated agree, those that the optimizer uses do
    not.
    """
    seen = difference.seen
    in_backward = pair.before(difference.step.number, "gradient")
    evidence = ChangedAfterBackward(
        agreed_before=any(step.seen.place == seen.place for step in in_backward),
        loss_agrees=_loss_agrees(pair, difference),
    )
    return _behind(pair, difference, evidence)


def reduced(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """Several ranks: the gradient at the update, after it was reduced."""
    difference = differences[0]
    if difference.structural:
        return structure(pair, difference)
    seen = difference.seen
    in_backward = pair.before_in_iteration(difference.step, "gradient")
    compared = {step.seen.place for step in in_backward if step.both}
    equal = None
    if seen.place in compared:
        equal = True
    if "gradient" in pair.rungs_before(difference.step.number):
        equal = False
    evidence = ReducedDiffers(
        local_equal=equal,
        loss_agrees=_loss_agrees(pair, difference),
    )
    return _behind(pair, difference, evidence)


def across_ranks(first: Finding, of_place: Callable[[str, int], Iterable[Pair]]) -> Finding:
    """Return what the ranks, of which there are several, say together of a reduction: replicas hold
    one gradient after it, unless something changes it on a rank alone. `of_place` gives the traces
    of each rank of one place, up to the end of an iteration.

    Where weights are sharded, every rank holds another part, and nothing is said.
    """
    if not isinstance(first.evidence, ReducedDiffers) or first.iteration is None:
        return first
    if not first.evidence.local_equal or not first.statement.blames:
        return first
    pairs = of_place(first.place, first.iteration)
    weights, reduced = _on_each(pairs, first.place, first.iteration)
    replicas = all(map(_is_one, weights))
    recorded = "" not in chain(*weights, *reduced)
    if not replicas or not recorded:
        return first
    one, other = map(_is_one, reduced)
    evidence = replace(first.evidence, one_sum=(one, other))
    statement = BehindBackward(evidence=evidence, place=first.place, iteration=first.iteration)
    return replace(first, statement=statement, evidence=evidence)


def _is_one(hashes: Sequence[str]) -> bool:
    """Return whether all ranks hold the same."""
    return len(set(hashes)) == 1


_OfRuns: TypeAlias = tuple[list[str], list[str]]
"""The hashes of a fact on all ranks, of run 1 and of run 2; "" where a rank has none."""


def _on_each(pairs: Iterable[Pair], place: str, iteration: int) -> tuple[_OfRuns, _OfRuns]:
    """Return, of both runs, the first values of a weight on each rank, and its gradient as it
    was reduced in an iteration.
    """
    weights: _OfRuns = [], []
    reduced: _OfRuns = [], []
    for pair in pairs:
        _add(weights, _first_of(pair, "weights", place, None))
        _add(reduced, _first_of(pair, "reduced", place, iteration))
    return weights, reduced


def _add(hashes: _OfRuns, facts: tuple[Seen | None, Seen | None]) -> None:
    for of_run, seen in zip(hashes, facts, strict=True):
        of_run.append(compare.first_output(seen).hash)


def _first_of(
    pair: Pair, kind: str, place: str, iteration: int | None
) -> tuple[Seen | None, Seen | None]:
    for step in pair.at(place, kind):
        if iteration in (None, step.seen.iteration):
            return step.first, step.second
    return None, None


def update(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """Return the first weight or state of an optimizer that differs after an update."""
    difference = differences[0]
    if difference.seen.kind == "written":
        return _written(pair, difference)
    if difference.structural:
        return structure(pair, difference)
    seen = difference.seen
    number = difference.step.number
    optimizers = (
        step.seen.place
        for step in pair.before(number, "hyper")
        if seen.optimizer in (None, step.seen.optimizer)
    )
    evidence = UpdateDiffers(
        inputs_agree=not pair.rungs_before(number), optimizer=next(optimizers, "")
    )
    return _behind(pair, difference, evidence)


def _written(pair: Pair, difference: Difference) -> Finding:
    """Return a weight that something else than the optimizer wrote to, between an update and the
    forward pass that follows.
    """
    seen, number = difference.seen, difference.step.number
    iterations = (step.seen.iteration for step in pair.before(number, "update"))
    iteration = next(iterations, seen.iteration)
    own = (step for step in pair.before(number, "update") if step.seen.place == seen.place)
    evidence = WeightWritten(
        after_update=_after_update(pair, next(own, None)), only_in_one_run=difference.structural
    )
    statement = BehindBackward(evidence=evidence, place=seen.place, iteration=iteration)
    return replace(_finding(pair, difference, statement, evidence), iteration=iteration)


def _after_update(pair: Pair, update: Step | None) -> Literal["agrees", "differs", "no update"]:
    if update is None:
        return "no update"
    if pair.agrees(update):
        return "agrees"
    return "differs"


def _behind(
    pair: Pair,
    difference: Difference,
    evidence: ChangedAfterBackward | ReducedDiffers | UpdateDiffers,
) -> Finding:
    """Return the finding that something differs behind the backward pass."""
    seen = difference.seen
    statement = BehindBackward(evidence=evidence, place=seen.place, iteration=seen.iteration)
    return _finding(pair, difference, statement, evidence)


def _finding(
    pair: Pair,
    difference: Difference,
    statement: FirstDifference,
    evidence: Evidence,
    operations: Sequence[str] = (),
    inside: str = "",
) -> Finding:
    seen = difference.seen
    calls = (call.seen for call in pair.of_kind("call"))
    of_module = next((call.class_ for call in calls if call.place == seen.place), "")
    return found(
        pair,
        difference.step,
        difference.rung,
        statement,
        measure(pair, difference),
        # a gradient has no class, its module has
        place=place_of(seen, of_module),
        evidence=evidence,
        operations=operations,
        inside=inside,
    )


def _loss_agrees(pair: Pair, difference: Difference) -> bool:
    """Return whether everything agrees up to the loss, as far as it was recorded."""
    return {"forward", "loss", "batch"}.isdisjoint(pair.rungs_before(difference.step.number))


def _leaf_calls(pair: Pair, iteration: int) -> list[Seen]:
    """Return the calls of modules that called no other, each once, in the order of the forward
    pass.
    """
    calls: dict[str, Seen] = {}
    for call in pair.calls(iteration):
        calls.setdefault(call.place, call)
    parents = set(chain.from_iterable(map(_parents, calls)))
    if len(calls) > 1:
        parents.add("")
    return [call for place, call in calls.items() if place not in parents]


def _parents(place: str) -> Iterator[str]:
    """Return the paths of the modules around a module: `a` and `a.b` of `a.b.c`."""
    return accumulate(place.split(".")[:-1], "{}.{}".format)


def _nodes(pair: Pair, difference: Difference) -> list[str]:
    """Return the operations recorded between the last module and the loss, that of the loss
    first.
    """
    between = pair.before_in_iteration(difference.step, "between")
    return list(dict.fromkeys(step.seen.place for step in between))


def _incoming_agrees(pair: Pair, difference: Difference, module: Seen) -> bool:
    """Return whether the gradient of the output of a module that came last before a gradient
    agrees.
    """
    before = pair.before_in_iteration(difference.step, "outgrad")
    incoming = next((step for step in before if step.seen.place == module.place), None)
    return incoming is not None and not pair.differs(incoming)
