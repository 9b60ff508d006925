"""Level `op`: the operator that makes the difference which a rung names by module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from reprocheck.ladder import compare, words
from reprocheck.ladder.align import Step
from reprocheck.ladder.finding import source
from reprocheck.ladder.generators import drawn_from, seedings
from reprocheck.ladder.pair import Difference, Pair
from reprocheck.model import SourceLine
from reprocheck.model.evidence import Generators, OperatorDiffers

_ALLOCATES = ("empty", "new_empty", "resize", "_resize_output", "all_gather_copy_in")
"""How operators begin that return memory of which a part is filled later, by others."""
_FILLS = {
    "fill_",
    "zero_",
    "copy_",
    "set_",
    "uniform_",
    "normal_",
    "random_",
    "bernoulli_",
    "exponential_",
    "log_normal_",
    "cauchy_",
    "geometric_",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Operator:
    """The first operator that differs, in the order of execution, and what that means in one
    sentence.
    """

    detail: str
    culprit: str | None
    tells: bool = True
    """Whether it says more than that something not recorded made the difference."""
    source: SourceLine | None = None
    evidence: OperatorDiffers
    node: str = ""
    """The autograd node that it belongs to."""
    generators: Generators = field(default_factory=Generators)
    """Those whose states differ that it draws from."""


def first_operator(pair: Pair, *, backward: bool | None = None) -> Operator | None:
    """The first operator whose output differs; `backward` asks for those of the backward or of the
    forward pass alone.
    """
    unfilled: set[str] = set()
    for step in pair.operators:
        seen = step.seen
        outputs = _outputs(pair, step, unfilled)
        if backward is not None and seen.backward is not backward:
            continue
        if not step.both:
            return _alone(pair, step)
        if outputs:
            return _operator(pair, step, outputs, unfilled)
    return None


def _outputs(pair: Pair, step: Step, unfilled: set[str]) -> tuple[str, ...]:
    """The outputs that differ; what an allocation returns is nothing yet, nor what a collective
    under way does, and is remembered.
    """
    if not step.first or not step.second:
        return ()
    outputs = compare.outputs(step, pair.algorithms)
    if outputs and (
        _base(step.seen.place).startswith(_ALLOCATES) or step.seen.place.startswith("c10d.")
    ):
        unfilled |= compare.hashes(step.first.outputs) | compare.hashes(step.second.outputs)
        return ()
    return outputs


def _operator(pair: Pair, step: Step, outputs: tuple[str, ...], unfilled: set[str]) -> Operator:
    seen = step.seen
    assert step.first is not None
    difference = Difference(
        step=step, rung="forward", inputs=compare.inputs(step, pair.algorithms), outputs=outputs
    )
    dirty = [
        path
        for path in difference.inputs
        if (leaf := compare.leaf(step.first.inputs, path)) is not None and leaf.hash in unfilled
    ]
    fills = _base(seen.place) in _FILLS  # what was in `self` does not matter to it
    inputs = [
        path for path in difference.inputs if path not in dirty and not (fills and path == "self")
    ]
    states = compare.states(step)
    where = _where(step)
    name = words.code(seen.place)
    reads_unfilled = bool(dirty) and not fills and not inputs
    given = _given_generator(seen.place) and not inputs and not reads_unfilled
    drawn = () if inputs or reads_unfilled or given else states
    culprit: str | None = f"{name}{where}"
    if inputs:
        culprit, why = (
            None,
            (
                f"its {_given(step, inputs[0])}, and no recorded operator has made that: it comes"
                " from something not recorded"
            ),
        )
    elif reads_unfilled:
        why = "it reads memory that nothing has filled"
    elif given:
        why = "it draws from a private generator that it is given"
    elif states:
        why = f"it draws from {words.generators(states)}, whose state differs"
    elif seen.after:
        why = (
            f"its inputs agree, and so does {words.generators(list(seen.after))} that it draws"
            " from: it is noisy itself"
        )
    else:
        why = (
            "its inputs agree and no process-wide generator moved: it is noisy itself, or draws"
            " from a private generator"
        )
    return Operator(
        detail=f"The first operator that differs is {name}{where}: {why}.",
        culprit=culprit,
        tells=culprit is not None or _plain(step, inputs[0]) is not None,
        source=source(seen.line),
        evidence=OperatorDiffers(
            name=seen.place,
            inputs_differ=bool(inputs),
            reads_unfilled=reads_unfilled,
            given_generator=given,
        ),
        node=seen.node,
        generators=drawn_from(seedings(pair, step.number), drawn),
    )


def _given(step: Step, path: str) -> str:
    """An input that differs, with its values where they are plain."""
    values = _plain(step, path)
    return (
        f"input {words.code(path)} differs already"
        if values is None
        else f"input {words.code(path)} is {words.both(*values)}"
    )


def _plain(step: Step, path: str) -> tuple[object, object] | None:
    """The values of an input in both runs, where it is no tensor."""
    assert step.first is not None
    assert step.second is not None
    values = compare.values(
        compare.leaf(step.first.inputs, path), compare.leaf(step.second.inputs, path)
    )
    return (
        None
        if values is None or any(isinstance(value, (list, dict)) for value in values)
        else values
    )


def _alone(pair: Pair, step: Step) -> Operator:
    seen = step.seen
    here, there = (1, 2) if step.first else (2, 1)
    return Operator(
        detail=(
            f"Run {here} calls {words.code(seen.place)}{_where(step)}, which run {there} does not:"
            " the control flow differs."
        ),
        culprit="the control flow",
        source=source(seen.line),
        evidence=OperatorDiffers(name=seen.place, only_in_one_run=True),
    )


def _where(step: Step) -> str:
    """Node, module and line of an operator, in words."""
    seen = step.seen
    parts: Iterator[str] = (
        text
        for text in (
            f" ({seen.node})" if seen.node else "",
            f" in {words.module(seen.module)}" if seen.module else "",
            f" at {words.line(seen.line)}" if seen.line else "",
        )
        if text
    )
    return "".join(parts)


def _given_generator(name: str) -> bool:
    """Whether an operator is the variant that takes a generator, such as `aten.rand.generator`."""
    return "generator" in name.split(".")[-1]


def _base(name: str) -> str:
    """`empty_like` of `aten.empty_like.default`."""
    parts = name.replace("::", ".").split(".")
    return parts[1] if len(parts) > 1 else parts[0]
