"""Level `op` of recording: the operator that makes the difference for which a rung names only a
module.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reprocheck.ladder import compare
from reprocheck.ladder.align import Step
from reprocheck.ladder.facts import fact_of_step
from reprocheck.ladder.finding import Operation
from reprocheck.ladder.pair import Pair
from reprocheck.ladder.seeds import drawn_from, seedings
from reprocheck.model import SourceLine
from reprocheck.model.evidence import Generators, OperatorDiffers
from reprocheck.model.statements.training import FirstOperator, UnequalInput

_ALLOCATES = (
    "empty",
    "new_empty",
    "resize",
    "_resize_output",
    # of FSDP: the other ranks fill their parts of it when they are gathered
    "all_gather_copy_in",
)
"""How operators begin that return memory of which a part is filled later, by others."""
FILLS = {
    *("fill_", "zero_", "copy_", "set_", "uniform_", "normal_", "random_", "bernoulli_"),
    *("exponential_", "log_normal_", "cauchy_", "geometric_"),
}
"""Operators for which it does not matter what was in `self`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Operator:
    """The first operator that differs, in the order of execution, and what that means."""

    statement: FirstOperator
    source: SourceLine | None = None
    generators: Generators = field(default_factory=Generators)
    """Those whose states differ that it draws from."""
    itself: Operation | None = None
    """Its call, where it makes the difference itself."""


def first_operator(pair: Pair, *, backward: bool | None = None) -> Operator | None:
    """Return the first operator whose output differs.

    `backward` limits the search to the backward pass (True) or the forward pass (False).
    """
    unfilled: set[str] = set()
    for step in pair.operators:
        differs = step.both and bool(compare.outputs(step, pair.algorithms))
        name = step.seen.place
        # what an allocation returns is nothing yet, nor what a collective returns under way
        if differs and (name.startswith("c10d.") or _base(name).startswith(_ALLOCATES)):
            unfilled |= compare.returned(step.known)
            differs = False
        if backward not in (None, step.seen.backward):
            continue
        if not step.both:
            seen = step.seen
            statement = FirstOperator(
                evidence=OperatorDiffers(name=seen.place, only_in_one_run=True),
                fact=fact_of_step(step),
                node=seen.node,
                module=seen.module,
                line=seen.line,
            )
            return Operator(statement=statement, source=SourceLine.of(seen.line))
        if differs:
            return _operator(pair, step, unfilled)
    return None


def _operator(pair: Pair, step: Step, unfilled: set[str]) -> Operator:
    seen = step.seen
    paths, dirty = _unequal_inputs(pair, step, unfilled)
    itself = None
    if not paths:
        itself = Operation(seen=seen, unfilled=dirty)
    takes_generator = "generator" in seen.place.split(".")[-1]
    evidence = OperatorDiffers(
        name=seen.place,
        inputs_differ=bool(paths),
        reads_unfilled=bool(dirty) and not paths,
        given_generator=takes_generator and not paths and not dirty,
    )
    explained = paths or evidence.reads_unfilled or evidence.given_generator
    states: tuple[str, ...] = ()
    if not explained:
        states = compare.states(step)
    drawn = drawn_from(seedings(pair, step.number), states)
    unequal = None
    if paths and step.facts is not None:
        values = compare.values(*(compare.leaf(fact.inputs, paths[0]) for fact in step.facts))
        if any(isinstance(value, (list, dict)) for value in values or ()):
            values = None
        unequal = UnequalInput(path=paths[0], values=values)
    statement = FirstOperator(
        evidence=evidence,
        fact=fact_of_step(step),
        node=seen.node,
        module=seen.module,
        line=seen.line,
        drawn=seen.drawn,
        unequal=drawn.names,
        unequal_input=unequal,
    )
    return Operator(
        statement=statement,
        source=SourceLine.of(seen.line),
        generators=drawn,
        itself=itself,
    )


def _unequal_inputs(
    pair: Pair, step: Step, unfilled: set[str]
) -> tuple[list[str], tuple[str, ...]]:
    """Return the paths of differing inputs, and of inputs that are uninitialized memory.

    The old content of `self` is left out for an operator that fills `self`.
    """
    leaves = dict(step.seen.inputs)
    fills = _base(step.seen.place) in FILLS
    unequal = compare.inputs(step, pair.algorithms)
    dirty = tuple(path for path in unequal if path in leaves and leaves[path].hash in unfilled)
    ignored = set(dirty)
    if fills:
        ignored.add("self")
        dirty = ()
    return [path for path in unequal if path not in ignored], dirty


def _base(name: str) -> str:
    """Return the plain name of an operator: `empty_like` of `aten.empty_like.default`."""
    parts = name.replace("::", ".").split(".")
    return parts[:2][-1]
