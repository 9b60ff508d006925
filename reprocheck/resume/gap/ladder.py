"""Build the ladder across the gap.

The state after update k of the continued run against what the resumed run goes on with, then both
of them step by step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal, get_args

from reprocheck.ladder.pair import Pair
from reprocheck.ladder.rank import rank_of
from reprocheck.resume import model
from reprocheck.resume.checkpoint_contents import Archive
from reprocheck.resume.gap import batches, counters, training_state
from reprocheck.resume.gap.archive import archive_of
from reprocheck.resume.gap.batches import Data
from reprocheck.resume.gap.evidence import (
    BatchGap,
    Gap,
    GeneratorGap,
    ScheduleGap,
    StepGap,
    WeightsGap,
)
from reprocheck.resume.gap.generators import GeneratorPair, States
from reprocheck.resume.gap.sides import Side, cut, last_step, shifted
from reprocheck.resume.gap.source import Trees
from reprocheck.resume.gap.training_state import StatePair, states_of
from reprocheck.trace.deep import DeepTrace

RUNGS: tuple[model.StateRungName, ...] = get_args(model.StateRungName)
NO_ARCHIVE = Archive()
RungGap = tuple[model.StateRungName, Gap | None, int]
"""A rung, what differs on it, and the iteration of the resumed run."""
_Step = Literal["forward", "loss", "gradient", "reduced gradient", "update"]
_STEPS: tuple[_Step, ...] = get_args(_Step)
"""Rungs of the ladder of a check that stand on this one, too."""
ORIGINS: frozenset[model.StateRungName] = frozenset(RUNGS[: RUNGS.index("forward")])
"""Rungs that can be compared exactly, however noisy the training is."""
HELD: frozenset[model.StateRungName] = frozenset(RUNGS[: RUNGS.index("RNG state")])
"""Rungs on which a difference may show only later: statistics of a normalisation, a schedule."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RankGaps:
    """The gaps of one rank: one on each rung that differs, and the rungs that were compared.

    steps   how many steps were compared; None: all
    beside  names of state that is put back although no `state_dict` has it
    open    gaps that may follow from a later one: their rung says neither equal nor different
    moving  generators whose states differ and that are drawn from at any time
    """

    rank: int
    gaps: Mapping[model.StateRungName, Gap] = field(default_factory=dict)
    open: Mapping[model.StateRungName, Gap] = field(default_factory=dict)
    compared: frozenset[model.StateRungName] = frozenset()
    iterations: Mapping[model.StateRungName, int] = field(default_factory=dict)
    marked: bool = True
    steps: int | None = None
    frameworks: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    moving: tuple[GeneratorGap, ...] = ()
    archive: Archive = NO_ARCHIVE
    saved_at: str = ""
    trees: Trees = field(default_factory=dict)

    @property
    def all(self) -> dict[model.StateRungName, Gap]:
        """The gaps on all rungs, whether or not they may follow from another one."""
        return {**self.open, **self.gaps}

    @property
    def first(self) -> model.StateRungName | None:
        """The first rung that differs."""
        return next((name for name in RUNGS if name in self.gaps), None)

    @property
    def order(self) -> tuple[int, bool, int]:
        """Key that sorts ranks: the first rung that differs, then as in `order_on`."""
        if self.first is None:
            return len(RUNGS), True, self.rank
        return RUNGS.index(self.first), *self.order_on(self.first)

    def order_on(self, rung: model.StateRungName) -> tuple[bool, int]:
        """Return the key by which ranks that differ on one rung are sorted.

        A rank that was given another rank's state comes first: anything else that was done to a
        generator may have been done to those of all ranks.
        """
        gap = self.gaps[rung]
        of_a_rank = isinstance(gap, GeneratorGap) and gap.of_rank is not None
        return not of_a_rank, self.rank

    def undecided(self, name: model.StateRungName) -> Sequence[Gap]:
        """Return the gaps on a rung that may follow from a later one.

        Those of generators that are not drawn from, too.
        """
        if name in self.open:
            return [self.open[name]]
        return self.moving if name == "RNG state" else ()

    @property
    def starts_over(self) -> bool:
        """Return whether the whole model is as it was before the first update."""
        gap = self.gaps.get("weights")
        return isinstance(gap, WeightsGap) and gap.all_initial


def gaps_of(
    first: DeepTrace,
    second: DeepTrace,
    k: int,
    *,
    equal: bool = False,
    states: Mapping[int, States] | None = None,
    files: Sequence[str] = (),
) -> RankGaps:
    """Return the gaps that the traces of one rank show, of the continued and of the resumed run.

    equal   whether all losses of the runs agree in every bit
    states  the generator states of each rank of the continued run
    files   the files of the checkpoint
    """
    continued, resumed = Side(first, k), Side(second)
    others = {rank: held for rank, held in (states or {}).items() if rank != first.rank}
    generators = GeneratorPair(continued, resumed, others)
    held = states_of(continued, resumed)
    data = batches.data_of(continued, resumed)
    pair = _pair(continued, resumed, data)
    gaps: dict[model.StateRungName, Gap] = {}
    iterations: dict[model.StateRungName, int] = {}
    for name, gap, iteration in _gaps(held, generators, data, pair):
        if gap is not None and name not in gaps:
            gaps[name], iterations[name] = gap, iteration
    gaps.update(training_state.attributes(held, gaps))
    if not any(name != "update" and iterations.get(name, 1) == 1 for name in gaps):
        gaps.update(training_state.lost_copies(held))
    undecided = _following_a_batch(gaps, generators)
    gaps = {name: gap for name, gap in gaps.items() if name not in undecided}
    if equal:
        gaps, undecided = {name: gap for name, gap in gaps.items() if name in HELD}, {}
    return RankGaps(
        rank=first.rank,
        frameworks=continued.frameworks,
        gaps=gaps,
        open=undecided,
        compared=frozenset(_compared(held, generators, data, pair)),
        iterations=iterations,
        marked=continued.marked and (resumed.marked or not resumed.iterations),
        steps=last_step(pair.first.seen) if continued.rested or resumed.rested else None,
        beside=training_state.put_back_beside(held, gaps),
        moving=generators.moving(),
        archive=archive_of(continued, resumed, files),
    )


def _following_a_batch(
    gaps: Mapping[model.StateRungName, Gap], generators: GeneratorPair
) -> dict[model.StateRungName, Gap]:
    """Return the gaps that may follow from a batch that is another one."""
    batch = gaps.get("batch")
    following: dict[model.StateRungName, Gap] = {}
    if isinstance(batch, BatchGap) and not batch.ended and "RNG state" not in gaps:
        # what made a batch that is another one may have moved the generator beside it
        beside = batch.made_from or generators.beside_a_batch(batch.iteration)
        if beside is not None:
            following["RNG state"] = beside
    if batch is not None and "step counter" in gaps:  # it may count what was taken of the data
        following["step counter"] = gaps["step counter"]
    return following


def _gaps(held: StatePair, generators: GeneratorPair, data: Data, pair: Pair) -> Iterator[RungGap]:
    """Yield the gap on each rung; from the forward pass on, as the ladder of a check finds it."""
    continued, resumed = generators.continued, generators.resumed
    if continued.marked and resumed.marked:
        yield "weights", training_state.weights(held, continued, resumed), 1
        yield "optimizer state", training_state.optimizer(held), 1
        schedule = training_state.schedule(held)
        yield "hyper-parameters", schedule, 1
        counter = counters.counter(continued, resumed)
        if counter is None and isinstance(schedule, ScheduleGap) and schedule.optimizer is not None:
            counter = counters.behind_a_rate(continued, resumed)
        yield "step counter", counter, counter.iteration + 1 if counter is not None else 1
    batch = _batch(data, generators)
    # a batch that is another one comes before what draws there; of the right samples with other
    # values, the generator is what made them
    until = inf if batch is None or batch.content else batch.iteration
    for generator in generators.gaps(until):
        yield "RNG state", generator, 1
    if batch is not None:
        yield "batch", batch, batch.iteration
    if not resumed.iterations:
        return
    findings = rank_of(pair).findings
    for name in _STEPS:
        finding = findings.get(name)
        if finding is not None:
            gap = StepGap(place=finding.place, statement=finding.statement)
            yield name, gap, finding.iteration or 1


def _batch(data: Data, generators: GeneratorPair) -> BatchGap | None:
    """Return the first batch that differs, with the generator that caused it."""
    resumed = generators.resumed.trace
    gap = batches.first_gap(data, generators.unrestored())
    if gap is None and resumed.ended:
        return batches.ended_early(data, resumed.seen)
    if gap is None or gap.later_pass:
        return gap
    if gap.without_loader:
        gap = replace(gap, may_be_drawn=bool(generators.unequal))
        return batches.drawn(gap, generators.of_steps())
    if gap.expected.position != 0:
        return gap
    return replace(gap, order_from=generators.of_order(gap.drawn_from))


def _pair(continued: Side, resumed: Side, data: Data) -> Pair:
    """Return the steps of both runs side by side, with the numbers of the resumed run."""
    place = next((batch.fact.place for batch in data.continued), "")
    first = shifted(continued, [batch.fact for batch in data.due], place)
    second = shifted(resumed, [batch.fact for batch in data.resumed], place)
    if continued.rested or resumed.rested:
        last = min(last_step(first.seen), last_step(second.seen))
        first, second = cut(first, last), cut(second, last)
    return Pair(first, second)


def _compared(
    held: StatePair, generators: GeneratorPair, data: Data, pair: Pair
) -> Iterator[model.StateRungName]:
    """Yield the rungs for which both runs recorded something."""
    continued, resumed = generators.continued, generators.resumed
    if continued.held and resumed.held:
        yield from held.rungs
    if counters.are_known(continued, resumed):
        yield "step counter"
    if continued.states and resumed.states:
        yield "RNG state"
    if data.due and data.resumed:
        yield "batch"
    yield from (name for name in _STEPS if name in pair.recorded)
