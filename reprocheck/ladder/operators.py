"""Level `op`: the operator that makes the difference which a rung names by module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from reprocheck.ladder import compare, words
from reprocheck.ladder.align import Step
from reprocheck.ladder.finding import source
from reprocheck.ladder.generators import drawn_from, seedings
from reprocheck.ladder.pair import Pair
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
        differs = _differs(pair, step, unfilled)
        if backward is not None and seen.backward is not backward:
            continue
        if not step.both:
            return _alone(pair, step)
        if differs:
            return _operator(pair, step, unfilled)
    return None


def _differs(pair: Pair, step: Step, unfilled: set[str]) -> bool:
    """Whether an output differs; what an allocation returns is nothing yet, nor what a collective
    under way does, and is remembered.
    """
    if not step.first or not step.second or not compare.outputs(step, pair.algorithms):
        return False
    name = step.seen.place
    if not _base(name).startswith(_ALLOCATES) and not name.startswith("c10d."):
        return True
    unfilled |= compare.hashes(step.first.outputs) | compare.hashes(step.second.outputs)
    return False


def _operator(pair: Pair, step: Step, unfilled: set[str]) -> Operator:
    seen = step.seen
    inputs, dirty = _unequal_inputs(pair, step, unfilled)
    states = compare.states(step)
    evidence = OperatorDiffers(
        name=seen.place,
        inputs_differ=bool(inputs),
        reads_unfilled=dirty and not inputs,
        given_generator=_given_generator(seen.place) and not inputs and not dirty,
    )
    draws = not (inputs or evidence.reads_unfilled or evidence.given_generator)
    named = f"{words.code(seen.place)}{_where(step)}"
    why = _why(step, evidence, inputs, states)
    return Operator(
        detail=f"The first operator that differs is {named}: {why}.",
        culprit=None if inputs else named,
        tells=not inputs or _plain(step, inputs[0]) is not None,
        source=source(seen.line),
        evidence=evidence,
        node=seen.node,
        generators=drawn_from(seedings(pair, step.number), states if draws else ()),
    )


def _unequal_inputs(pair: Pair, step: Step, unfilled: set[str]) -> tuple[list[str], bool]:
    """The inputs that differ, and whether others are memory that nothing has filled.

    What was in `self` does not matter to an operator that fills it.
    """
    assert step.first is not None
    fills = _base(step.seen.place) in _FILLS
    inputs, dirty = [], False
    for path in compare.inputs(step, pair.algorithms):
        leaf = compare.leaf(step.first.inputs, path)
        if leaf is not None and leaf.hash in unfilled:
            dirty = True
        elif not (fills and path == "self"):
            inputs.append(path)
    return inputs, dirty and not fills


def _why(
    step: Step, evidence: OperatorDiffers, inputs: Sequence[str], states: Sequence[str]
) -> str:
    """What that means, as a clause."""
    if inputs:
        return (
            f"its {_given(step, inputs[0])}, and no recorded operator has made that: it comes from"
            " something not recorded"
        )
    if evidence.reads_unfilled:
        return "it reads memory that nothing has filled"
    if evidence.given_generator:
        return "it draws from a private generator that it is given"
    if states:
        return f"it draws from {words.generators(states)}, whose state differs"
    if step.seen.after:
        return (
            f"its inputs agree, and so does {words.generators(list(step.seen.after))} that it draws"
            " from: it is noisy itself"
        )
    return (
        "its inputs agree and no process-wide generator moved: it is noisy itself, or draws from a"
        " private generator"
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
