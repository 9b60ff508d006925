"""The forward and the loss rung: which module makes the difference, and which only passes it on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reprocheck.ladder import compare, generators
from reprocheck.ladder.align import Step
from reprocheck.ladder.compare import fact_of, fact_of_step
from reprocheck.ladder.finding import Finding, found, measure
from reprocheck.ladder.forks import shown_by
from reprocheck.ladder.pair import Difference, Pair, is_inside, module_around
from reprocheck.ladder.seeds import drawn_from, seedings
from reprocheck.ladder.unrecorded_weights import unequal_at_the_start, unseen_weights
from reprocheck.model.evidence import (
    CallDiffers,
    Generators,
    InputsDiffer,
    LossDiffers,
    PathDiffers,
)
from reprocheck.model.statements.difference import FirstDifference
from reprocheck.model.statements.training import (
    Agreed,
    OtherInputs,
    OtherLabels,
    OtherLoss,
    OtherLossInput,
    OtherOutput,
    OtherPath,
)
from reprocheck.trace.deep import Leaf, Seen

_LABELS = ("target", "targets", "label", "labels")
_LOSS = re.compile(r".*Loss|.*Criterion|CrossEntropy|SoftmaxCrossEntropyWithLogits")
"""Classes of losses, by name: those of MindSpore do not all end as the others do."""


def forward(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """Return the finding for the innermost module call that returns with a difference first."""
    difference = differences[0]
    if difference.structural:
        return structure(pair, difference)
    if not difference.inputs:
        return _own(pair, difference)
    if _is_loss(pair, difference.step):
        return found(
            pair,
            difference.step,
            difference.rung,
            OtherLabels(call=fact_of(difference.seen), agreed=_agreed(pair)),
            measure(pair, difference, inputs=True),
            evidence=InputsDiffer(),
            inside=difference.seen.place,
        )
    # other inputs although nothing recorded before differs: something between was not recorded
    enters = difference.seen
    # the outermost call around it into which the differing inputs came
    for step in pair.after_in_iteration(difference.step, "call"):
        seen = step.seen
        if not step.both or not is_inside(enters.place, seen.place):
            continue
        if not compare.inputs(step, pair.algorithms):
            break
        enters = seen
    # no place begins with a dot: around the model itself, which has no path, every call counts
    inside = f"{enters.place}."
    agreeing = filter(pair.agrees, pair.before_in_iteration(difference.step, "call", "batch"))
    before = next((one.seen for one in agreeing if not one.seen.place.startswith(inside)), None)
    around = enters.place.rpartition(".")[0]
    if before is not None and before.kind == "call":
        around = module_around([before.place, enters.place])
    return found(
        pair,
        difference.step,
        difference.rung,
        OtherInputs(
            call=fact_of(difference.seen),
            enters=fact_of(enters),
            before=None if before is None else fact_of(before),
        ),
        measure(pair, difference, inputs=True),
        evidence=InputsDiffer(),
        inside=around,
    )


def _own(pair: Pair, difference: Difference) -> Finding:
    """Return the finding for a module that returns another output for equal inputs.

    The module itself, or code between its last child and its output, makes the difference.
    """
    seen, step = difference.seen, difference.step
    drawn = Generators()
    if states := compare.states(step):
        drawn = drawn_from(seedings(pair, step.number), states)
    evidence = CallDiffers(class_=seen.class_, generators=drawn)
    return found(
        pair,
        step,
        difference.rung,
        OtherOutput(
            call=fact_of(seen),
            unequal=drawn.names,
            drawn=seen.drawn,
            last=next(map(fact_of, _children(pair, step)), None),
        ),
        measure(pair, difference),
        evidence=evidence,
        inside=seen.place,
    )


def _children(pair: Pair, step: Step) -> Iterator[Seen]:
    """Yield the calls made inside a call, the last first."""
    seen = step.seen
    for before in pair.before(step.number, "call", "batch"):
        other = before.seen
        elsewhere = other.kind == "batch" or other.iteration != seen.iteration
        if elsewhere or not is_inside(other.place, seen.place):
            return
        yield other


def _is_loss(pair: Pair, step: Step) -> bool:
    """Return whether a call computes the loss.

    Its only output starts the backward pass, or its class is that of a loss.
    """
    seen = step.seen
    scalars = [leaf for _, leaf in seen.outputs if _is_single(leaf)]
    if len(scalars) != 1 or len(seen.inputs) < 2:
        return False
    before = (call.seen for call in pair.before(step.number, "call") if call.both)
    if compare.returned(before).isdisjoint(compare.hashes(seen.inputs)):
        return False
    roots = compare.returned(root.seen for root in pair.after_in_iteration(step, "root"))
    called_a_loss = _LOSS.fullmatch(seen.class_) is not None
    return called_a_loss or scalars[0].hash in roots


def _is_single(leaf: Leaf) -> bool:
    """Return whether a leaf is a tensor of one element."""
    return leaf.shape is not None and set(leaf.shape) <= {1}


def _agreed(pair: Pair) -> Agreed:
    """Return what agrees up to the loss, as far as recorded.

    Weights, generator states, batches and outputs.
    """
    unseen = bool(unseen_weights(pair))
    return Agreed(
        weights="initial weights" in pair.recorded and not unseen,
        states=generators.recorded(pair) and not unequal_at_the_start(pair),
        # else they need not be named beside the weights
        batches="batch" in pair.recorded and unseen,
        outputs="forward" in pair.recorded,
    )


def loss(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """Return the finding for the loss, or for its input after the last module."""
    first = differences[0]
    if first.structural:
        return structure(pair, first)
    wanted = ("between", first.seen.iteration, False)
    entering = [
        one for one in differences if (one.seen.kind, one.seen.iteration, one.structural) == wanted
    ]
    difference = min(entering, key=lambda one: not _label_names(one), default=first)
    seen = difference.seen
    # where a generator alone shows a call, nothing says what came before it
    before = filter(pair.tells, pair.before_in_iteration(first.step, "call"))
    last, agreed = next((fact_of(call.seen) for call in before), None), _agreed(pair)
    statement: FirstDifference = OtherLoss(
        iteration=seen.iteration,
        compiled=shown_by(pair),
        first_weights=bool(unseen_weights(pair)),
        last=last,
        agreed=agreed,
    )
    only_labels, operations = False, []
    # an operation before the loss is recorded by its inputs, a loss by what comes out
    if seen.kind == "between":
        names = _label_names(difference)
        leaf = compare.leaf(difference.seen.inputs, difference.inputs[0])
        only_labels = bool(names) or leaf is None or not _is_single(leaf)
        operations = [seen.place]
        statement = OtherLossInput(
            fact=fact_of(seen),
            path=difference.inputs[0],
            label=next(iter(names), None),
            last=last,
            agreed=agreed,
        )
    return found(
        pair,
        first.step,
        "loss",
        statement,
        measure(pair, difference, inputs=bool(difference.inputs)),
        place=seen.place,
        evidence=LossDiffers(only_labels=only_labels),
        operations=operations,
    )


def _label_names(difference: Difference) -> list[str]:
    """Return the paths of differing inputs of a loss that are labels, by name or as integers."""
    named = [path for path in difference.inputs if path in _LABELS]
    if named or "Loss" not in difference.seen.place:
        return named
    integers = ("int", "uint", "bool")
    whole_numbers = {
        path for path, leaf in difference.seen.inputs if leaf.dtype.startswith(integers)
    }
    return [path for path in difference.inputs if path in whole_numbers]


def structure(pair: Pair, difference: Difference) -> Finding:
    """Return the finding for something that only one run does."""
    return found(
        pair,
        difference.step,
        difference.rung,
        OtherPath(fact=fact_of_step(difference.step)),
        evidence=PathDiffers(),
        inside=difference.seen.place.rpartition(".")[0],
    )
