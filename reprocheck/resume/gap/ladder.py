"""The ladder across the gap: the state after update k of the continued run against what the resumed
run goes on with, then both of them step by step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Literal, get_args

from reprocheck.causes.usercode import UserCode
from reprocheck.ladder.pair import Pair
from reprocheck.ladder.rank import rank_of
from reprocheck.model import RunRecord, SourceLine
from reprocheck.resume import model
from reprocheck.resume.gap import batches, counters, mechanisms, sentences, state
from reprocheck.resume.gap.archive import archive_of, parts_of, provenance
from reprocheck.resume.gap.batches import Data
from reprocheck.resume.gap.evidence import (
    AttributeGap,
    AverageGap,
    BatchGap,
    CounterGap,
    Gap,
    GeneratorGap,
    ScheduleGap,
    StepGap,
    WeightsGap,
)
from reprocheck.resume.gap.generators import GeneratorPair, States
from reprocheck.resume.gap.lines import lines_of
from reprocheck.resume.gap.mersenne_twister import class_of
from reprocheck.resume.gap.sides import Side, cut, last_step, shifted
from reprocheck.resume.gap.source import Trees
from reprocheck.resume.gap.training_state import StatePair, states_of
from reprocheck.rules.catalogue import entry
from reprocheck.trace.deep import DeepTrace
from reprocheck.trace.deep_run import read_deep
from reprocheck.wording import say
from reprocheck.wording.catalogue import translated
from reprocheck.wording.ladder.words import place

RUNGS: tuple[model.StateRungName, ...] = get_args(model.StateRungName)
NO_TREES: Trees = {}
NO_ARCHIVE, NO_CHECKPOINT = model.Archive(), model.Checkpoint(iteration=0)
RungGap = tuple[model.StateRungName, Gap | None, int]
"""A rung, what differs on it, and the iteration of the resumed run."""
_Step = Literal["forward", "loss", "gradient", "reduced gradient", "update"]
_STEPS: tuple[_Step, ...] = get_args(_Step)
"""Rungs of the ladder of a check that stand on this one, too."""
ORIGINS: frozenset[model.StateRungName] = frozenset(RUNGS[: RUNGS.index("forward")])
"""Rungs that can be compared exactly, however noisy the training is."""
HELD: frozenset[model.StateRungName] = frozenset(RUNGS[: RUNGS.index("RNG state")])
"""Rungs on which a difference may show only later: statistics of a normalisation, a schedule."""
LIBRARIES = {
    "Accelerator.save_state": "accelerate",
    "Trainer.save_checkpoint": "lightning",
    "transformers.Trainer": "transformers",
    "torch.distributed.checkpoint.save": "torch.distributed.checkpoint",
    "torch.distributed.checkpoint.async_save": "torch.distributed.checkpoint",
}
"""Libraries around a framework, by what their savers are called."""
MAY_FOLLOW = "the batch is another one, and what made it may have moved the generator"
MAY_COUNT = "the batch is another one, and the script may count what it takes of the data"
NOT_DRAWN = "nothing drew from it in the iterations that were compared"
GENERATOR_NAMES = {name for name, _ in mechanisms.OF_GENERATOR}
"""Mechanisms of generators, whatever rung shows them."""
_KINDS: Mapping[type, str] = {
    AttributeGap: "an attribute of a module",
    AverageGap: "an average of weights",
    CounterGap: "an object of the script",
    ScheduleGap: "a hyper-parameter",
}
"""What a fix is chosen by, where no object of the script holds what is lost."""
UNMARKED = (
    "what the training holds where it goes on was not recorded: neither the states of the optimizer"
    " and of the generators nor the buffers could be compared"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RankGaps:
    """What one rank shows: the gap on each rung that differs, and the rungs that were compared.

    steps   how many steps were compared; None: all
    beside  names of what is put back although no `state_dict` has it
    open    gaps that may follow from one further down: their rung says neither equal nor different
    moving  generators that stand elsewhere and are drawn from at any time
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
    archive: model.Archive = NO_ARCHIVE
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
        """What ranks are sorted by: the first rung that differs, then as in `order_on`."""
        if self.first is None:
            return len(RUNGS), True, self.rank
        return RUNGS.index(self.first), *self.order_on(self.first)

    def order_on(self, rung: model.StateRungName) -> tuple[bool, int]:
        """Return what ranks that differ on one rung are sorted by. One that was given another
        rank's state stands first: what else was done to a generator may have been done to those of
        all ranks.
        """
        gap = self.gaps[rung]
        of_a_rank = isinstance(gap, GeneratorGap) and gap.of_rank is not None
        return not of_a_rank, self.rank

    def undecided(self, name: model.StateRungName) -> Sequence[Gap]:
        """Return what differs on a rung, and may follow from a later one, or was not drawn from."""
        if name in self.open:
            return [self.open[name]]
        return self.moving if name == "RNG state" else ()

    def detail(self, name: model.StateRungName, gap: Gap) -> str:
        """Return what a gap on a rung shows; of the generators all that stand elsewhere."""
        if isinstance(gap, GeneratorGap):
            others = [other for other in self.moving if other.name != gap.name]
            return "; ".join(map(sentences.detail, (gap, *others)))
        origin = None
        if self.first in ORIGINS and name not in ORIGINS:
            origin = self.first  # what differs on this rung follows from it
        return sentences.detail(gap, behind=origin)

    @property
    def starts_over(self) -> bool:
        """Return whether nothing of the model is what it was at the checkpoint."""
        gap = self.gaps.get("weights")
        return isinstance(gap, WeightsGap) and gap.all_initial


def explain(
    folder: Path,
    runs: tuple[RunRecord, RunRecord],
    k: int,
    *,
    equal: bool = False,
    checkpoint: model.Checkpoint = NO_CHECKPOINT,
    trees: Trees = NO_TREES,
) -> model.Explained:
    """Return what the continued and the resumed run of a report folder show of a resume after
    update k.

    checkpoint  what it resumes from: a library's own way to save asks for a fix of its own
    trees       the files of the script
    equal  all their losses agree in every bit: what leads to them had no part in them, and only
           what the training holds for later is looked at
    """
    continued, resumed = (read_deep(folder, run) for run in runs)
    numbers = sorted({*continued.ranks} & {*resumed.ranks})
    states: dict[int, States] = {}
    if len(numbers) > 1:
        states = {rank: Side(continued.read(rank), k).states for rank in numbers}
    ranks = []
    for rank in numbers:
        traces = continued.read(rank), own_end(resumed.read(rank), runs[1])
        gaps = gaps_of(*traces, k, equal=equal, states=states, files=checkpoint.files)
        frameworks = (LIBRARIES.get(checkpoint.by, ""), *gaps.frameworks)
        ranks.append(replace(gaps, frameworks=frameworks, saved_at=checkpoint.line, trees=trees))
    return explained(ranks)


def own_end(trace: DeepTrace, run: RunRecord) -> DeepTrace:
    """Return a trace that came to its own end in no run that failed: what such a run did not reach
    says nothing of the resume.
    """
    return replace(trace, ended=trace.ended and not run.ended_badly)


def explained(ranks: Sequence[RankGaps]) -> model.Explained:
    """Return what is said of all ranks: of each rung the first rank that differs on it, and the
    mechanism of the first rung.
    """
    if not ranks:
        return model.Explained()
    leading = min(ranks, key=lambda rank: rank.order)
    by_rung: dict[model.StateRungName, model.Mechanism] = {}
    for rank in ranks:
        for name in (*rank.gaps, *rank.open):
            mechanism = _mechanism(rank, name)
            if mechanism is not None:
                by_rung.setdefault(name, mechanism)
    return model.Explained(
        rungs=tuple(_rung(name, ranks) for name in RUNGS),
        mechanism=leading.first and _mechanism(leading, leading.first),
        mechanisms=by_rung,
        coverage=() if all(rank.marked for rank in ranks) else (UNMARKED,),
        starts_over=leading.starts_over,
        steps=min((rank.steps for rank in ranks if rank.steps is not None), default=None),
        ranks=tuple(rank.rank for rank in ranks),
        beside=tuple(dict.fromkeys(name for rank in ranks for name in rank.beside)),
        archive=leading.archive,
        lost=tuple(_lost(leading)),
    )


def _lost(rank: RankGaps) -> Iterator[model.LostPart]:
    """Yield what a rank has lost, rung by rung."""
    gaps = rank.all
    for rung in RUNGS[: RUNGS.index("RNG state")]:
        for gap in _each(gaps[rung]) if rung in gaps else ():
            for part, key, is_loaded in parts_of(gap, rank.archive):
                yield model.LostPart(rung=rung, kind="part", part=part, key=key, loaded=is_loaded)
    named = [gap for gap in gaps.values() if isinstance(gap, GeneratorGap)]
    for generator in {gap.name: gap for gap in (*named, *rank.moving)}.values():
        origin = provenance(generator, rank.archive)
        key = next(iter(origin.keys), "")
        yield model.LostPart(rung="RNG state", kind="generator", part=origin.part, key=key)


def _each(gap: Gap) -> Sequence[Gap]:
    """Return a gap of each scheduler and scaler, where it is of several."""
    return gap.each if isinstance(gap, ScheduleGap) else [gap]


def with_text(explained: model.Explained, code: UserCode) -> model.Explained:
    """Return the same with the texts of the lines of its mechanisms."""

    def with_lines(mechanism: model.Mechanism) -> model.Mechanism:
        sources = [code.with_text(mark.source) or mark.source for mark in mechanism.marks]
        marks = zip(mechanism.marks, sources, strict=True)
        return replace(mechanism, marks=tuple(replace(mark, source=line) for mark, line in marks))

    mechanisms = {rung: with_lines(one) for rung, one in explained.mechanisms.items()}
    first = explained.mechanism
    return replace(explained, mechanism=first and with_lines(first), mechanisms=mechanisms)


def _rung(name: model.StateRungName, ranks: Sequence[RankGaps]) -> model.StateRung:
    differing = [rank for rank in ranks if name in rank.gaps]
    if differing:
        first = min(differing, key=lambda rank: rank.order_on(name))
        gap = first.gaps[name]
        return model.StateRung(
            name=name,
            status="differs",
            iteration=first.iterations.get(name),
            rank=first.rank,
            ranks=tuple(rank.rank for rank in differing),
            place=sentences.place(gap),
            detail=first.detail(name, gap),
        )
    undecided = next((rank for rank in ranks if rank.undecided(name)), None)
    if undecided is not None:
        gap = undecided.undecided(name)[0]
        why = MAY_FOLLOW if "batch" in undecided.gaps else NOT_DRAWN
        if isinstance(gap, CounterGap):
            why = MAY_COUNT
        return model.StateRung(
            name=name,
            status="not_compared",
            rank=undecided.rank,
            place=sentences.place(gap),
            detail=f"{undecided.detail(name, gap)}; {why}",
        )
    if all(name in rank.compared for rank in ranks):
        return model.StateRung(name=name, status="equal")
    return model.StateRung(name=name, status="not_recorded")


def _mechanism(rank: RankGaps, rung: model.StateRungName) -> model.Mechanism | None:
    """Return the mechanism of a rung, where it has one, with what the other rungs of the state
    show.
    """
    if rank.starts_over:
        return None
    gaps = rank.all
    gap = gaps[rung]
    counter = gaps.get("step counter")
    if isinstance(gap, ScheduleGap) and gap.optimizer is not None and counter is not None:
        gap = counter  # the rate is computed from it
    name = mechanisms.name_of(gap)
    if name is None:
        return None
    known = translated(entry(name))
    others = [gaps[one] for one in RUNGS if one in gaps and one in ORIGINS and gaps[one] is not gap]
    if known.name in GENERATOR_NAMES:
        drawn_from = gap.generator if isinstance(gap, BatchGap) and gap.made_from else gap
        named = {one.name for one in (drawn_from, *others) if isinstance(one, GeneratorGap)}
        others += [one for one in rank.moving if one.name not in named]
    alike = [one for one in (gap, *others) if mechanisms.name_of(one) == name]
    return model.Mechanism(
        code=known.code,
        title=known.title_for(rank.frameworks),
        evidence=(*map(sentences.detail, (gap, *others)), *_custody(alike, rank)),
        marks=_marks(alike, rank),
        fix=known.fix_for(_fixed_by(gap, rank)),
    )


def _custody(gaps: Sequence[Gap], rank: RankGaps) -> Iterator[str]:
    """Yield what became of what was lost, between the file and the training."""
    each = (part for gap in gaps for part in _each(gap))
    lines = (sentences.custody(gap, provenance(gap, rank.archive)) for gap in each)
    yield from filter(None, dict.fromkeys(lines))


def _marks(gaps: Sequence[Gap], rank: RankGaps) -> tuple[model.Mark, ...]:
    """Return the lines of gaps of one mechanism, each once."""
    roles: dict[str, model.Role] = {}
    for gap in gaps:
        origin = provenance(gap, rank.archive)
        for role, line in lines_of(gap, origin, rank.archive, rank.saved_at, rank.trees):
            roles.setdefault(line, role)
    sources = ((role, SourceLine.of(line)) for line, role in roles.items())
    return tuple(model.Mark(role=role, source=source) for role, source in sources if source)


def _fixed_by(gap: Gap, rank: RankGaps) -> tuple[str, ...]:
    """Return what a fix is chosen by: the class of a generator of the script's own, or that no
    `state_dict` has what is lost, together with the framework and alone; then who seeded, and the
    frameworks.
    """
    kind = _KINDS.get(type(gap), "")
    generator = gap.made_from if isinstance(gap, BatchGap) else gap
    if getattr(gap, "own", False):
        kind = "an object of the script"
    elif isinstance(gap, BatchGap) and gap.without_loader and gap.made_from is None:
        kind = "no loader"
    elif isinstance(generator, GeneratorGap):
        kind = class_of(generator.name)
    with_framework = [f"{kind} ({framework})" for framework in rank.frameworks]
    seeded_by = [one.seed.by for one in rank.moving if one.seed is not None]
    return (*with_framework, kind, *seeded_by, *rank.frameworks)


def gaps_of(
    first: DeepTrace,
    second: DeepTrace,
    k: int,
    *,
    equal: bool = False,
    states: Mapping[int, States] | None = None,
    files: Sequence[str] = (),
) -> RankGaps:
    """Return what one rank shows: its trace of the continued run, and that of the resumed one;
    `equal` as for `explain`. `states`: those of the generators of each rank of the continued run.
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
    gaps.update(state.attributes(held, gaps))
    if not any(name != "update" and iterations.get(name, 1) == 1 for name in gaps):
        gaps.update(state.lost_copies(held))
    undecided: dict[model.StateRungName, Gap] = {}
    batch = gaps.get("batch")
    if isinstance(batch, BatchGap) and not batch.ended and "RNG state" not in gaps:
        # what made a batch that is another one may have moved the generator beside it
        beside = batch.made_from or generators.beside_a_batch(batch.iteration)
        if beside is not None:
            undecided["RNG state"] = beside
    if batch is not None and "step counter" in gaps:  # it may count what was taken of the data
        undecided["step counter"] = gaps.pop("step counter")
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
        beside=state.put_back_beside(held, gaps),
        moving=generators.moving(),
        archive=archive_of(continued, resumed, files),
    )


def _gaps(held: StatePair, generators: GeneratorPair, data: Data, pair: Pair) -> Iterator[RungGap]:
    """Yield what differs on each rung, as on the ladder of a check from the forward pass on."""
    continued, resumed = generators.continued, generators.resumed
    if continued.marked and resumed.marked:
        yield "weights", state.weights(held, continued, resumed), 1
        yield "optimizer state", state.optimizer(held), 1
        schedule = state.schedule(held)
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
            gap = StepGap(place=place(finding.place), detail=say(finding.statement))
            yield name, gap, finding.iteration or 1


def _batch(data: Data, generators: GeneratorPair) -> BatchGap | None:
    """Return the first batch that is another one, with the generator that it or its order was drawn
    from.
    """
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
    """Yield the rungs of which both runs say something."""
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
