"""Find the operator that makes a difference of which a rung names only the module.

Level `op` of recording shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from reprocheck.ladder import compare
from reprocheck.ladder.align import Step
from reprocheck.ladder.compare import fact_of_step
from reprocheck.ladder.finding import Finding, Operation
from reprocheck.ladder.pair import Pair
from reprocheck.ladder.rank import read_pairs
from reprocheck.ladder.seeds import drawn_from, seedings
from reprocheck.model import Check, SourceLine
from reprocheck.model.evidence import CallDiffers, Generators, OperatorDiffers, StateDiffers
from reprocheck.model.statements.training import FirstOperator, Refined, UnequalInput

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
    takes_generator = "generator" in seen.place.split(".")[-1]
    evidence = OperatorDiffers(
        name=seen.place,
        inputs_differ=bool(paths),
        reads_unfilled=bool(dirty) and not paths,
        given_generator=takes_generator and not paths and not dirty,
    )
    is_explained = paths or evidence.reads_unfilled or evidence.given_generator
    states = () if is_explained else compare.states(step)
    drawn = drawn_from(seedings(pair, step.number), states)
    statement = FirstOperator(
        evidence=evidence,
        fact=fact_of_step(step),
        node=seen.node,
        module=seen.module,
        line=seen.line,
        drawn=seen.drawn,
        unequal=drawn.names,
        unequal_input=_unequal_input(step, paths[0]) if paths else None,
    )
    return Operator(
        statement=statement,
        source=SourceLine.of(seen.line),
        generators=drawn,
        itself=None if paths else Operation(seen=seen, unfilled=dirty),
    )


def _unequal_input(step: Step, path: str) -> UnequalInput:
    """Return an input that differs, with its values if they are single numbers or words."""
    leaves = (compare.leaf(fact.inputs, path) for fact in step.known)
    values = compare.values(*leaves)
    if any(isinstance(value, (list, dict)) for value in values or ()):
        values = None
    return UnequalInput(path=path, values=values)


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


_BACKWARD = {"RNG state": False, "forward": False, "loss": False, "gradient": True, "update": None}
"""Rungs that operators refine -> whether by those of the backward pass; None: by any."""


def refined(check: Check, folder: Path, first: Finding, pair: Pair) -> Finding:
    """Return the first difference with the first operator that differs.

    `pair` holds the traces of the rank of the first difference.
    """
    if first.rung not in _BACKWARD:
        return first
    deeper = next((one for one in check.record.deeper if one.level == "op"), None)
    if deeper is None:
        return first
    if not pair.operators:
        pairs = read_pairs(folder, deeper)
        if pair.rank not in pairs.ranks:
            return first
        pair = pairs.read(pair.rank)
    if not pair.operators:
        return first
    # what made the weights differ that these runs began with came before
    differ_before = any(one.rung == "initial weights" for one in pair.differences)
    if deeper.begin > 1 and differ_before:
        refined = Refined(difference=first.statement, operator="differ before")
        return replace(first, statement=refined)
    operator = first_operator(pair, backward=_BACKWARD[first.rung])
    if operator is None:
        refined = Refined(difference=first.statement, operator="none differs")
        return replace(first, statement=refined)
    return _with_operator(first, operator)


def _with_operator(first: Finding, operator: Operator) -> Finding:
    statement, drawn = operator.statement, operator.generators
    iteration = statement.fact.iteration
    elsewhere = None if iteration == first.iteration else iteration
    evidence = first.evidence
    if drawn.drawn and isinstance(evidence, StateDiffers):
        # the seeds stay those of the runs that named the module: arguments are compared with them
        evidence = replace(evidence, generators=evidence.generators.of(drawn.names))
    elif drawn.drawn and isinstance(evidence, CallDiffers):
        evidence = replace(evidence, generators=drawn)
    operations = first.operations
    if statement.node and first.rung == "loss":
        # it stands for the one that the loss is taken by
        operations = ()
    if statement.node:
        operations = (statement.node, *operations)
    return replace(
        first,
        statement=Refined(difference=first.statement, operator=statement, elsewhere=elsewhere),
        source=operator.source or first.source,
        evidence=evidence,
        operator=statement.evidence,
        operation=operator.itself,
        operations=operations,
    )


CPU = "cpu"
_FACTS = {"torch.cuda.devices": "cuda", "torch.npu.devices": "npu"}
"""Facts of the environment that are recorded once the script has used such a device."""
_TARGET = "mindspore.device_target"


def kind(name: object) -> str:
    """Return the kind of a device: `cuda` for `cuda:0` or `GPU`, `npu` for `Ascend`.

    `name` is what a framework calls the device.
    """
    plain = str(name or CPU).lower().partition(":")[0]
    return plain.replace("ascend", "npu").replace("gpu", "cuda")


def device_of(check: Check) -> str:
    """Return the kind of accelerator that a run used; `cpu` if none was used."""
    return next((name for name in _used(check) if name != CPU), CPU)


def _used(check: Check) -> Iterator[str]:
    rung = check.first_rung
    if rung is not None:
        yield kind(rung.measured.device)
    for run in check.runs:
        for trace in run.traces:
            yield from _of_facts(trace.environment)
        yield from _of_facts(run.environment)


def _of_facts(facts: Mapping[str, object]) -> Iterator[str]:
    yield from (device for fact, device in _FACTS.items() if facts.get(fact))
    if _TARGET in facts:
        yield kind(facts[_TARGET])
