"""The rungs behind the loss: gradients in backward order, reduced gradients, updates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from reprocheck.ladder import compare, sentences, words
from reprocheck.ladder.align import Step
from reprocheck.ladder.finding import Finding, found, measure
from reprocheck.ladder.forward import structure
from reprocheck.ladder.pair import Difference, Pair
from reprocheck.ladder.sentences import Said
from reprocheck.model.evidence import (
    ChangedAfterBackward,
    Evidence,
    GradientDiffers,
    ReducedDiffers,
    UpdateDiffers,
    WeightWritten,
)
from reprocheck.trace.deep import Seen


def gradient(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """The first gradient, in backward order, that differs."""
    difference = differences[0]
    if difference.structural:
        return structure(pair, difference)
    if difference.seen.kind == "reduced":
        return _changed_afterwards(pair, difference)
    if difference.seen.kind == "outgrad":
        return _of_output(pair, _innermost(pair, difference, differences))
    return _of_parameter(pair, difference)


def _innermost(pair: Pair, difference: Difference, differences: Sequence[Difference]) -> Difference:
    """Of the modules that returned the same tensor, the innermost: its gradient is that of all of
    them.
    """
    best = difference
    for other in differences[1:]:
        below = other.seen.place.startswith(best.seen.place + ".") or not best.seen.place
        if (
            other.seen.kind != "outgrad"
            or not below
            or other.structural
            or not _same_gradient(best, other)
        ):
            break
        best = other
    return best


def _same_gradient(a: Difference, b: Difference) -> bool:
    if not (a.step.first and b.step.first) or a.step.first.iteration != b.step.first.iteration:
        return False
    return compare.hashes(a.step.first.outputs) == compare.hashes(b.step.first.outputs)


def _of_output(pair: Pair, difference: Difference) -> Finding:
    """The gradient of a module's output: made by the backward of what used that output."""
    seen = difference.seen
    calls = _leaf_calls(pair, seen.iteration)
    own = next((n for n, call in enumerate(calls) if call.place == seen.place), None)
    last = max(
        (
            n
            for n, call in enumerate(calls)
            if call.place.startswith(seen.place + ".") or call.place == seen.place
        ),
        default=own,
    )
    later = calls[last + 1 :] if last is not None else []
    agreeing = _agreeing_outputs(pair, difference)
    users = _users(pair, seen, later)
    between = users or _up_to(later, agreeing)
    nodes = [] if between else _nodes(pair, difference)
    anchor = next((call for call in later if call.place in agreeing and call not in between), None)
    name = words.module(seen.place)
    top = words.module(anchor.place) if anchor is not None else "the loss"
    stretch = f"between {top} (agrees) and {name}"
    if between:
        of = words.listed([words.module(call.place, call.class_) for call in between])
        culprit = f"the backward of {words.listed([words.code(call.place) for call in between])}"
    else:
        of = f"what lies between {name} and {top}" + (f" ({words.listed(nodes)})" if nodes else "")
        culprit = f"the backward of {of}"
    holds = _common([*(call.place for call in between), seen.place])
    return _finding(
        pair,
        difference,
        culprit=culprit,
        detail=(
            f"The gradient of the output of {name} is the first that differs; {stretch}: the"
            f" backward of {of}."
        ),
        head=(
            f"{_forward(pair, difference)} the first gradient that differs is that of the output of"
            f" {name}, {stretch}"
        ),
        clause=f": look at the backward of {of}",
        evidence=GradientDiffers(),
        operations=[*nodes, *(call.class_ for call in between)],
        inside=between[0].place if len(between) == 1 else holds,
    )


def _of_parameter(pair: Pair, difference: Difference) -> Finding:
    """The gradient of a parameter: of its module's own backward, or of a hook on it, where the
    gradient that came in agrees.
    """
    seen = difference.seen
    module = _module_of(pair, seen)
    incoming = _outgrad(pair, difference, module) if module is not None else None
    name = words.code(seen.place)
    nodes = _nodes(pair, difference)
    operations = nodes
    if module is not None and incoming is not None and not pair.differs(incoming):
        owner = words.module(module.place, module.class_)
        culprit = f"the backward of {owner} or a hook on {name}"
        detail = (
            f"The gradient of the output of {owner} agrees, that of its parameter {name} differs:"
            f" {culprit}."
        )
        operations = [*nodes, module.class_]
    else:
        after = f" ({words.listed(nodes)})" if nodes else ""
        culprit = f"the backward of what lies between {name} and the loss{after}"
        agrees = [
            step.seen
            for step in pair.before(difference.step.number, "outgrad", "gradient")
            if step.seen.iteration == seen.iteration
        ]
        place = agrees[0].place if agrees else "loss"
        shown = words.module(place) if agrees and agrees[0].kind == "outgrad" else words.code(place)
        before = f"that of {shown}" if agrees else "the loss"
        detail = f"The gradient of {name} is the first that differs; {before} agrees: {culprit}."
    return _finding(
        pair,
        difference,
        culprit=culprit,
        detail=detail,
        head=f"{_forward(pair, difference)} the first gradient that differs is that of {name}",
        clause=f": look at {culprit}",
        evidence=GradientDiffers(),
        operations=operations,
        inside=module.place if module is not None else "",
    )


def _changed_afterwards(pair: Pair, difference: Difference) -> Finding:
    """One rank, gradients as they were accumulated agree, those that the optimizer uses do not."""
    seen = difference.seen
    in_backward = pair.before(difference.step.number, "gradient")
    evidence = ChangedAfterBackward(
        agreed_before=any(step.seen.place == seen.place for step in in_backward),
        loss_agrees=_loss_agrees(pair, difference),
    )
    said = sentences.changed_afterwards(evidence, seen.place, seen.iteration)
    return _said(pair, difference, said, evidence)


def reduced(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """Several ranks: the gradient at the update, after it was reduced."""
    difference = differences[0]
    if difference.structural:
        return structure(pair, difference)
    seen, number = difference.seen, difference.step.number
    local_differs = any(
        one.rung == "gradient" and one.step.number < number for one in pair.differences
    )
    recorded = any(
        step.both and (step.seen.place, step.seen.iteration) == (seen.place, seen.iteration)
        for step in pair.before(number, "gradient")
    )
    equal = True if recorded else None
    evidence = ReducedDiffers(
        local_equal=False if local_differs else equal,
        loss_agrees=_loss_agrees(pair, difference),
    )
    said = sentences.reduced(evidence, seen.place, seen.iteration)
    return _said(pair, difference, said, evidence)


def across_ranks(first: Finding, pairs: Sequence[Pair]) -> Finding:
    """What the ranks say together of a reduction: replicas hold one gradient after it, unless
    something changes it on a rank alone.

    Where weights are sharded, every rank holds another part, and nothing is said.
    """
    if not isinstance(first.evidence, ReducedDiffers) or not first.evidence.local_equal:
        return first
    if first.culprit is None or first.iteration is None or len(pairs) < 2:
        return first
    weights = _on_each(pairs, "weights", first.place, None)
    reduced = _on_each(pairs, "reduced", first.place, first.iteration)
    replicas = all(len(set(run)) == 1 and "" not in run for run in weights)
    if not replicas or any("" in run for run in reduced):
        return first
    one, other = (len(set(run)) == 1 for run in reduced)
    evidence = replace(first.evidence, one_sum=(one, other))
    said = sentences.reduced(evidence, first.place, first.iteration)
    return replace(
        first,
        culprit=said.culprit,
        detail=said.detail,
        sentence=said.sentence,
        head=said.head,
        evidence=evidence,
    )


def _on_each(
    pairs: Sequence[Pair], kind: str, place: str, iteration: int | None
) -> tuple[list[str], list[str]]:
    """The hashes of a fact (the first, or that of an iteration) on all ranks, of run 1 and of run
    2; empty where a rank has none.
    """
    found: tuple[list[str], list[str]] = ([], [])
    for pair in pairs:
        steps = (step for step in pair.steps if step.seen.kind == kind and step.seen.place == place)
        step = next((step for step in steps if iteration in (None, step.seen.iteration)), None)
        for side, seen in zip(
            found, (step.first, step.second) if step is not None else (None, None), strict=True
        ):
            side.append(seen.outputs[0][1].hash if seen is not None and seen.outputs else "")
    return found


def update(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """The first weight or state of an optimizer that differs after an update."""
    difference = differences[0]
    if difference.seen.kind == "written":
        return _written(pair, difference)
    if difference.structural:
        return structure(pair, difference)
    seen = difference.seen
    earlier = any(
        one.step.number < difference.step.number and one.rung != "RNG state"
        for one in pair.differences
    )
    optimizers = (
        step.seen.place
        for step in pair.before(difference.step.number, "hyper")
        if seen.optimizer in (None, step.seen.optimizer)
    )
    evidence = UpdateDiffers(inputs_agree=not earlier, optimizer=next(optimizers, ""))
    said = sentences.update(evidence, seen.place, seen.iteration)
    return _said(pair, difference, said, evidence)


def _written(pair: Pair, difference: Difference) -> Finding:
    """A weight that something else than the optimizer wrote to, between an update and the forward
    pass that follows.
    """
    seen, number = difference.seen, difference.step.number
    last = next(pair.before(number, "update"), None)
    iteration = last.seen.iteration if last is not None else seen.iteration
    own = (step for step in pair.before(number, "update") if step.seen.place == seen.place)
    evidence = WeightWritten(
        after_update=_after_update(pair, next(own, None)), only_in_one_run=difference.structural
    )
    said = sentences.written(evidence, seen.place, iteration)
    return replace(_said(pair, difference, said, evidence), iteration=iteration)


def _after_update(pair: Pair, update: Step | None) -> Literal["agrees", "differs", "no update"]:
    if update is None:
        return "no update"
    return "agrees" if update.both and not pair.differs(update) else "differs"


# -------------------------------------------------------------------------------- around a gradient


def _said(pair: Pair, difference: Difference, said: Said, evidence: Evidence) -> Finding:
    return found(
        pair,
        difference.step,
        difference.rung,
        measure(pair, difference),
        place=_place(pair, difference),
        culprit=said.culprit,
        detail=said.detail,
        sentence=said.sentence,
        head=said.head,
        evidence=evidence,
    )


def _place(pair: Pair, difference: Difference) -> str:
    """A gradient has no class, its module has."""
    seen = difference.seen
    return words.place(seen.place, seen.class_ or _class_of(pair, seen.place))


def _finding(
    pair: Pair,
    difference: Difference,
    *,
    culprit: str | None,
    detail: str,
    head: str,
    evidence: Evidence,
    clause: str = "",
    operations: Sequence[str] = (),
    inside: str = "",
) -> Finding:
    """A finding whose sentence is its head and what follows from it."""
    measured = measure(pair, difference)
    whole = head + clause
    return found(
        pair,
        difference.step,
        difference.rung,
        measured,
        place=_place(pair, difference),
        culprit=culprit,
        detail=detail,
        sentence=whole,
        head=head,
        evidence=evidence,
        operations=operations,
        inside=inside,
    )


def _forward(pair: Pair, difference: Difference) -> str:
    """How a sentence on a gradient begins."""
    agrees = _loss_agrees(pair, difference)
    return sentences.up_to_loss(difference.seen.iteration, agrees=agrees)


def _loss_agrees(pair: Pair, difference: Difference) -> bool:
    """Whether everything agrees up to the loss, as far as it was recorded."""
    return not any(
        one.step.number < difference.step.number and one.rung in ("forward", "loss", "batch")
        for one in pair.differences
    )


def _leaf_calls(pair: Pair, iteration: int) -> list[Seen]:
    """The calls of modules that called no other, each once, in the order of the forward pass."""
    calls = list(
        dict.fromkeys(
            step.seen.place
            for step in pair.steps
            if step.seen.kind == "call" and step.seen.iteration == iteration
        )
    )
    parents = {place.rpartition(".")[0] for place in calls if place} | (
        {""} if len(calls) > 1 else set()
    )
    parents |= {prefix for place in parents for prefix in _prefixes(place)}
    by_place = {
        step.seen.place: step.seen
        for step in reversed(pair.steps)
        if step.seen.kind == "call" and step.seen.iteration == iteration
    }
    return [by_place[place] for place in calls if place not in parents]


def _prefixes(place: str) -> list[str]:
    parts = place.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]


def _agreeing_outputs(pair: Pair, difference: Difference) -> set[str]:
    """Modules whose gradient of the output came before in this iteration and agrees."""
    return {
        step.seen.place
        for step in pair.before(difference.step.number, "outgrad")
        if step.seen.iteration == difference.seen.iteration and step.both and not pair.differs(step)
    }


def _users(pair: Pair, seen: Seen, later: Sequence[Seen]) -> list[Seen]:
    """The calls that took what a module returned, known by the hash."""
    returned = {
        value
        for step in pair.steps
        if step.seen.kind == "call"
        and step.seen.iteration == seen.iteration
        and step.seen.place == seen.place
        for value in compare.hashes(step.seen.outputs)
    }
    return [call for call in later if returned & compare.hashes(call.inputs)]


def _up_to(later: Sequence[Seen], agreeing: set[str]) -> list[Seen]:
    """The calls behind a module up to the first whose gradient of the output agrees, that one
    included.
    """
    end = next((n for n, call in enumerate(later) if call.place in agreeing), None)
    return list(later[: end + 1]) if end is not None else []


def _common(places: Sequence[str]) -> str:
    """The module that holds all these places."""
    parts = [place.split(".")[:-1] for place in places]
    common = parts[0] if parts else []
    for other in parts[1:]:
        common = common[
            : next(
                (n for n, (x, y) in enumerate(zip(common, other, strict=False)) if x != y),
                min(len(common), len(other)),
            )
        ]
    return ".".join(common)


def _nodes(pair: Pair, difference: Difference) -> list[str]:
    """The operations recorded between the last module and the loss, that of the loss first."""
    seen = difference.seen
    nodes = [
        step.seen.place
        for step in pair.before(difference.step.number, "between")
        if step.seen.iteration == seen.iteration
    ]
    return list(dict.fromkeys(nodes))


def _module_of(pair: Pair, seen: Seen) -> Seen | None:
    """The last call of the module that a parameter belongs to, in the iteration of its gradient."""
    path = seen.place.rpartition(".")[0]
    calls = (
        step.seen
        for step in reversed(pair.steps)
        if step.seen.kind == "call" and step.seen.iteration == seen.iteration
    )
    return next((call for call in calls if call.place == path), None)


def _outgrad(pair: Pair, difference: Difference, module: Seen) -> Step | None:
    """The gradient of the output of a module that came last before a gradient."""
    steps = pair.before(difference.step.number, "outgrad")
    return next(
        (
            step
            for step in steps
            if step.seen.place == module.place and step.seen.iteration == difference.seen.iteration
        ),
        None,
    )


def _class_of(pair: Pair, place: str) -> str:
    return next(
        (
            step.seen.class_
            for step in pair.steps
            if step.seen.kind == "call" and step.seen.place == place
        ),
        "",
    )
