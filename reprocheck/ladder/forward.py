"""The forward and the loss rung: culprit or victim, module by module in the order in which they
return.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reprocheck.ladder import compare, generators, words
from reprocheck.ladder.align import Step
from reprocheck.ladder.compiled import shown_by
from reprocheck.ladder.finding import Finding, Measure, found, measure
from reprocheck.ladder.pair import Difference, Pair
from reprocheck.ladder.unseen import unequal_at_the_start, unseen_weights
from reprocheck.model.evidence import (
    CallDiffers,
    Generators,
    InputsDiffer,
    LossDiffers,
    PathDiffers,
)
from reprocheck.model.letters import capital
from reprocheck.trace.deep import Seen

_LABELS = ("target", "targets", "label", "labels")
NO_PRODUCER = "no recorded producer differs"


def forward(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """The first call of a module to return with a difference: the innermost one."""
    difference = differences[0]
    if difference.structural:
        return structure(pair, difference)
    if difference.step.moved and not difference.inputs and not difference.outputs:
        return structure(pair, difference)
    if difference.inputs:
        return _victim(pair, difference)
    return _own(pair, difference)


def _own(pair: Pair, difference: Difference) -> Finding:
    """Equal inputs, another output: the module itself, or what lies between its last child and its
    output.
    """
    seen = difference.seen
    name = words.module(seen.place, seen.class_)
    measured = measure(pair, difference)
    states = compare.states(difference.step)
    moved = list(difference.step.first.after) if difference.step.first else []
    last = next(_children(pair, difference.step), None)
    stretch = (
        f", in the stretch between {words.module(last.place, last.class_)} and its own output"
        if last is not None
        else ""
    )
    if states:
        culprit: str | None = f"the state of {words.generators(states)}"
        why = f"the state of {words.generators(states)} that it draws from does not agree"
    elif moved:
        culprit = f"the forward of {name}"
        why = (
            f"{words.generators(moved)} that it draws from agrees: it is noisy itself, or draws"
            " from a private generator besides"
        )
    else:
        culprit = f"the forward of {name}"
        why = "no process-wide generator moved: it draws from a private generator or is noisy"
    return found(
        pair,
        difference.step,
        difference.rung,
        measured,
        culprit=culprit,
        detail=f"The inputs of {name} agree, its output differs{stretch}; {why}.",
        sentence=(
            f"{words.within(seen.iteration)} {name} returns something else for the same"
            f" inputs{stretch}, and {why}"
        ),
        head=f"{words.within(seen.iteration)} {name} returns something else for the same inputs",
        evidence=CallDiffers(class_=seen.class_, generators=_drawn(pair, difference.step, states)),
        inside=seen.place,
    )


def _drawn(pair: Pair, step: Step, states: Sequence[str]) -> Generators:
    if not states:
        return Generators()
    return generators.drawn_from(generators.seedings(pair, step.number), states)


def _victim(pair: Pair, difference: Difference) -> Finding:
    """Other inputs although nothing recorded before differs: something between was not recorded."""
    seen = difference.seen
    measured = measure(pair, difference, inputs=True)
    if _is_loss(pair, difference.step):
        return _labels_of_module(pair, difference, measured)
    enters = _enclosing(pair, difference)
    before = _last_agreeing(pair, difference.step, enters)
    stretch = (
        f"something between {_named(before)} and {words.module(enters.place, enters.class_)} that"
        " was not recorded"
    )
    if before is None:
        stretch = (
            f"something before {words.module(enters.place, enters.class_)} that was not recorded"
        )
    return found(
        pair,
        difference.step,
        difference.rung,
        measured,
        culprit=stretch,
        detail=(
            f"The inputs of {words.module(seen.place, seen.class_)} differ already and"
            f" {NO_PRODUCER}: {stretch}."
        ),
        sentence=(
            f"{words.within(seen.iteration)} the inputs of"
            f" {words.module(enters.place, enters.class_)} differ and {NO_PRODUCER}: the difference"
            f" is made by {stretch}"
        ),
        head=(
            f"{words.within(seen.iteration)} the inputs of"
            f" {words.module(enters.place, enters.class_)} differ and {NO_PRODUCER}"
        ),
        evidence=InputsDiffer(),
        inside=_shared(before, enters),
    )


# ------------------------------------------------------------------------------------ around a call


def _children(pair: Pair, step: Step) -> Iterator[Seen]:
    """The calls that a call made, the last first: those that returned before it, down to the end of
    its previous call.
    """
    seen = step.seen
    prefix = seen.place + "." if seen.place else ""
    for before in pair.before(step.number, "call", "batch"):
        other = before.seen
        if other.kind == "batch" or other.iteration != seen.iteration or other.place == seen.place:
            return
        if prefix and not other.place.startswith(prefix):
            return
        yield other


def _enclosing(pair: Pair, difference: Difference) -> Seen:
    """The outermost call around a call into which the differing inputs came."""
    outermost = difference.seen
    for step in pair.after(difference.step.number, "call"):
        seen = step.seen
        if seen.iteration != difference.seen.iteration:
            break
        inside = not seen.place or outermost.place.startswith(seen.place + ".")
        if inside and step.both:
            if not compare.inputs(step, pair.algorithms):
                break
            outermost = seen
    return outermost


def _last_agreeing(pair: Pair, step: Step, around: Seen) -> Seen | None:
    """The nearest call or batch before a call, outside of `around`, that agrees."""
    prefix = around.place + "." if around.place else ""
    for before in pair.before(step.number, "call", "batch"):
        seen = before.seen
        if seen.iteration != step.seen.iteration:
            return None
        if (
            before.both
            and not pair.differs(before)
            and not (prefix and seen.place.startswith(prefix))
        ):
            return seen
    return None


def _named(seen: Seen | None) -> str:
    if seen is None:
        return "the start"
    return words.module(seen.place, seen.class_) if seen.kind == "call" else words.code(seen.place)


def _shared(before: Seen | None, after: Seen) -> str:
    """The module whose forward holds the stretch between two calls."""
    if before is None or before.kind != "call":
        return after.place.rpartition(".")[0]
    a, b = before.place.split(".")[:-1], after.place.split(".")[:-1]
    common = next(
        (n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    return ".".join(a[:common])


# ----------------------------------------------------------------------------------------- the loss


def _is_loss(pair: Pair, step: Step) -> bool:
    """Whether a call is that of a loss: its one output is what the backward pass starts from, or
    its class says so.
    """
    seen = step.seen
    roots = {
        seen_.hash
        for root in pair.after(step.number, "root")
        for _, seen_ in root.seen.outputs
        if root.seen.iteration == seen.iteration
    }
    scalar = [
        leaf
        for _, leaf in seen.outputs
        if leaf.shape is not None and all(size == 1 for size in leaf.shape)
    ]
    from_model = compare.hashes(seen.inputs) & {
        value
        for before in pair.before(step.number, "call")
        if before.both
        for value in compare.hashes(before.seen.outputs)
    }
    named = seen.class_.endswith(("Loss", "Criterion")) or seen.class_ in (
        "CrossEntropy",
        "SoftmaxCrossEntropyWithLogits",
    )
    return bool(
        len(scalar) == 1
        and len(seen.inputs) > 1
        and from_model
        and (scalar[0].hash in roots or named)
    )


def _labels_of_module(pair: Pair, difference: Difference, measured: Measure) -> Finding:
    seen = difference.seen
    name = words.module(seen.place, seen.class_)
    return found(
        pair,
        difference.step,
        difference.rung,
        measured,
        culprit=f"the labels that {name} is given",
        detail=_labels(pair, f"the labels that the loss {name} is taken against do not"),
        sentence=(
            f"{words.within(seen.iteration)} {_agreeing(pair)}, the labels that the loss {name} is"
            " taken against do not: they are made by something that was not recorded"
        ),
        evidence=InputsDiffer(),
        inside=seen.place,
    )


def _labels(pair: Pair, differ: str) -> str:
    return f"{words.sentence(_agreeing(pair))[:-1]}, {differ}; {NO_PRODUCER}."


def _agreeing(pair: Pair) -> str:
    """What agrees up to the loss, as far as it was recorded."""
    unseen = bool(unseen_weights(pair))
    recorded = {
        "weights": "initial weights" in pair.recorded and not unseen,
        "RNG states": generators.recorded(pair) and not unequal_at_the_start(pair),
        # else they need not be named beside the weights
        "batches": "batch" in pair.recorded and unseen,
        "module outputs": "forward" in pair.recorded,
    }
    names = [name for name, agrees in recorded.items() if agrees]
    return f"{words.listed(names)} agree" if names else "nothing else was recorded"


def loss(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """The loss, or what goes into it behind the last module."""
    first = differences[0]
    if first.structural:
        return structure(pair, first)
    iteration = first.seen.iteration
    near = [one for one in differences if one.seen.iteration == iteration and not one.structural]
    entering = [one for one in near if one.seen.kind == "between"]
    difference = next(
        (one for one in entering if _label_names(one)), entering[0] if entering else first
    )
    seen = difference.seen
    inputs = bool(difference.inputs)
    measured = measure(pair, difference, inputs=inputs)
    last = _last_seen(pair, first.step, iteration)
    names = _label_names(difference)
    between = seen.kind == "between"
    only_labels = between and inputs and (bool(names) or not _single(difference))
    after = f"the last module, {words.module(last.place, last.class_)}," if last else "the start"
    if between and inputs:
        what = "the labels that the loss is taken against do not"
        if not names:
            what = (
                "what the loss is taken from besides them (labels, targets, constants) does not:"
                f" `{difference.inputs[0]}` of {seen.place}"
            )
        culprit = f"something between {after} and the loss that was not recorded"
        if names:
            culprit = f"the labels that the loss is taken against (`{names[0]}` of {seen.place})"
        detail = _labels(pair, what)
        sentence = (
            f"{words.within(iteration)} {_agreeing(pair)}, {what}; {NO_PRODUCER}: what makes it was"
            " not recorded"
        )
    else:
        culprit, shown = _unseen(pair, after)
        detail = f"The loss differs, {_agreeing(pair)}: {culprit}."
        sentence = (
            f"{words.within(iteration)} {_agreeing(pair)} and the loss differs: the difference is"
            f" made by {culprit}{shown}"
        )
    return found(
        pair,
        first.step,
        "loss",
        measured,
        place=seen.place,
        culprit=culprit,
        detail=detail,
        sentence=sentence,
        evidence=LossDiffers(only_labels=only_labels),
        operations=[seen.place] if between else [],
    )


def _unseen(pair: Pair, after: str) -> tuple[str, str]:
    """What makes a difference of the loss that nothing recorded explains, and what would show
    it.
    """
    first_weights = bool(unseen_weights(pair))
    if shown := shown_by(pair):
        also = ", or the first weights" if first_weights else ""
        return (
            f"something in the forward pass, which a compiled function hides{also}",
            f" ({shown} shows the forward pass)",
        )
    such = ", such as the first weights" if first_weights else ""
    return f"something between {after} and the loss that was not recorded{such}", ""


def _last_seen(pair: Pair, step: Step, iteration: int | None) -> Seen | None:
    """The nearest call before a step of which something that it took or returned was recorded:
    where a generator alone shows a call, nothing says what came before it.
    """
    calls = (
        before for before in pair.before(step.number, "call") if before.seen.iteration == iteration
    )
    return next(
        (before.seen for before in calls if not before.both or pair.comparable(before)), None
    )


def _single(difference: Difference) -> bool:
    """Whether the first input that differs is a single number."""
    first = difference.step.first
    leaf = (
        compare.leaf(first.inputs, difference.inputs[0])
        if first is not None and difference.inputs
        else None
    )
    return leaf is not None and leaf.shape is not None and all(size == 1 for size in leaf.shape)


def _label_names(difference: Difference) -> list[str]:
    """The differing inputs of a loss that are labels by name, or integers that a loss takes."""
    first = difference.step.first
    if first is None or difference.seen.kind != "between":
        return []
    named = [path for path in difference.inputs if path in _LABELS]
    if named or "Loss" not in difference.seen.place:
        return named
    whole = {path for path, leaf in first.inputs if leaf.dtype.startswith(("int", "uint", "bool"))}
    return [path for path in difference.inputs if path in whole]


# ------------------------------------------------------------------------------------- control flow


def structure(pair: Pair, difference: Difference) -> Finding:
    """What only one run does, or what both do in another order."""
    step, seen = difference.step, difference.seen
    fact = words.fact(seen)
    if step.both:
        detail = (
            f"{capital(fact)} stands at another place in the order of run 2 than of run 1: the"
            " control flow differs."
        )
    else:
        here, there = (1, 2) if step.first else (2, 1)
        again = f" (number {seen.call + 1})" if seen.call else ""
        does = {"call": f"calls {words.module(seen.place, seen.class_)}{again}"}.get(
            seen.kind, f"has {fact}{again}"
        )
        detail = (
            f"{words.within(seen.iteration)} run {here} {does}, which run {there} does not: the"
            " control flow differs."
        )
    return found(
        pair,
        step,
        difference.rung,
        culprit="the control flow",
        detail=detail,
        sentence=detail,
        evidence=PathDiffers(),
        inside=seen.place.rpartition(".")[0],
    )
