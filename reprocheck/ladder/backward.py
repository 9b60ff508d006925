"""The rungs after the loss: gradients in backward order, reduced gradients, updates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import Literal

from reprocheck.ladder import compare
from reprocheck.ladder.align import Step
from reprocheck.ladder.compare import fact_of, place_of
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
from reprocheck.model.statements.difference import FirstDifference
from reprocheck.model.statements.training import BehindBackward, OutputGradient, ParameterGradient
from reprocheck.trace.deep import Seen


def gradient(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """Return the first gradient, in backward order, that differs."""
    difference = differences[0]
    if difference.structural:
        return structure(pair, difference)
    if difference.seen.kind == "reduced":
        # one rank: the gradient as it was accumulated, and as the optimizer uses it
        place = difference.seen.place
        accumulated = pair.before(difference.step.number, "gradient")
        evidence = ChangedAfterBackward(
            agreed_before=any(step.seen.place == place for step in accumulated),
            loss_agrees=_loss_agrees(pair, difference),
        )
        return _behind(pair, difference, evidence)
    if difference.seen.kind == "outgrad":
        innermost = difference
        # modules that return the same tensor have one gradient
        for other in differences[1:]:
            outer, inner = innermost.seen, other.seen
            in_one_pass = (inner.kind, inner.iteration) == ("outgrad", outer.iteration)
            below = not outer.place or inner.place.startswith(f"{outer.place}.")
            if other.structural or not in_one_pass or not below:
                break
            if compare.hashes(outer.outputs) != compare.hashes(inner.outputs):
                break
            innermost = other
        return _of_output(pair, innermost)
    return _of_parameter(pair, difference)


def _of_output(pair: Pair, difference: Difference) -> Finding:
    """Return the finding for the gradient of a module's output.

    The backward pass of later operations made it.
    """
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
    """Return the finding for the gradient of a parameter.

    The backward pass of its own module, or a hook, made the difference if the incoming gradient
    agrees.
    """
    seen = difference.seen
    nodes = _nodes(pair, difference)
    path = seen.place.rpartition(".")[0]
    calls = reversed(pair.calls(seen.iteration))
    module = next((call for call in calls if call.place == path), None)
    own, operations, inside = None, nodes, ""
    if module is not None:
        inside = module.place
        outputs = pair.before_in_iteration(difference.step, "outgrad")
        incoming = next((step for step in outputs if step.seen.place == inside), None)
        if incoming is not None and not pair.differs(incoming):
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
        inside=inside,
    )


def reduced(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """Return the first gradient that differs at the update, after several ranks reduced it."""
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
    """Return the finding with what all ranks together say of a reduction (such as all-reduce).

    After a reduction all replicas hold the same gradient, unless something changes it on one rank
    alone. `of_place` gives the traces of each rank for one place, up to the end of an iteration. If
    weights are sharded, every rank holds another part, and nothing is added.
    """
    if not isinstance(first.evidence, ReducedDiffers) or first.iteration is None:
        return first
    if not first.evidence.local_equal or not first.statement.blames:
        return first
    # the hashes of both runs on each rank; "" where a rank has none
    weights: list[tuple[str, str]] = []
    sums: list[tuple[str, str]] = []
    for pair in of_place(first.place, first.iteration):
        gradients = pair.at(first.place, "reduced")
        of_iteration = [step for step in gradients if step.seen.iteration == first.iteration]
        weights.append(_hashes(pair.at(first.place, "weights")))
        sums.append(_hashes(of_iteration))
    are_replicas = bool(weights) and all(_alike(weights))
    if not are_replicas or "" in chain(*weights, *sums):
        return first
    evidence = replace(first.evidence, one_sum=_alike(sums))
    statement = BehindBackward(evidence=evidence, place=first.place, iteration=first.iteration)
    return replace(first, statement=statement, evidence=evidence)


def _hashes(steps: Sequence[Step]) -> tuple[str, str]:
    """Return the hashes of the first of several facts in run 1 and run 2; "" if a run has none."""
    if not steps:
        return "", ""
    step = steps[0]
    return compare.first_output(step.first).hash, compare.first_output(step.second).hash


def _alike(hashes: Sequence[tuple[str, str]]) -> tuple[bool, bool]:
    """Return whether all ranks have the same hash in run 1, and in run 2."""
    first, second = (set(run) for run in zip(*hashes, strict=True))
    return len(first) == 1, len(second) == 1


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
    """Return the finding for a weight that changed between an update and the next forward pass.

    Something other than the optimizer wrote to the weight.
    """
    seen, number = difference.seen, difference.step.number
    iterations = (step.seen.iteration for step in pair.before(number, "update"))
    iteration = next(iterations, seen.iteration)
    own = (step for step in pair.before(number, "update") if step.seen.place == seen.place)
    update = next(own, None)
    after_update: Literal["agrees", "differs", "no update"] = "differs"
    if update is None:
        after_update = "no update"
    elif pair.agrees(update):
        after_update = "agrees"
    evidence = WeightWritten(after_update=after_update, only_in_one_run=difference.structural)
    statement = BehindBackward(evidence=evidence, place=seen.place, iteration=iteration)
    return replace(_finding(pair, difference, statement, evidence), iteration=iteration)


def _behind(
    pair: Pair,
    difference: Difference,
    evidence: ChangedAfterBackward | ReducedDiffers | UpdateDiffers,
) -> Finding:
    """Return the finding for a difference after the backward pass."""
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
    """Return whether batch, forward pass and loss agree, as far as they were recorded."""
    return {"forward", "loss", "batch"}.isdisjoint(pair.rungs_before(difference.step.number))


def _leaf_calls(pair: Pair, iteration: int) -> list[Seen]:
    """Return the calls of modules without inner modules, each module once, in forward order."""
    calls: dict[str, Seen] = {}
    for call in pair.calls(iteration):
        calls.setdefault(call.place, call)
    # `a` and `a.b` of `a.b.c`
    paths = (accumulate(place.split(".")[:-1], "{}.{}".format) for place in calls)
    parents = set(chain.from_iterable(paths))
    if len(calls) > 1:
        parents.add("")
    return [call for place, call in calls.items() if place not in parents]


def _nodes(pair: Pair, difference: Difference) -> list[str]:
    """Return the operations recorded between the last module and the loss, from the loss back."""
    between = pair.before_in_iteration(difference.step, "between")
    return list(dict.fromkeys(step.seen.place for step in between))
