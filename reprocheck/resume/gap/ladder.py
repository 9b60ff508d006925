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
from reprocheck.resume.gap import (
    attributes,
    batches,
    counters,
    generators,
    mechanisms,
    optimizers,
    sentences,
    state,
    weight_copies,
)
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
from reprocheck.resume.gap.generators import NO_RANKS, States
from reprocheck.resume.gap.lines import lines_of
from reprocheck.resume.gap.mersenne_twister import class_of
from reprocheck.resume.gap.sides import Side, cut, last_step, shifted
from reprocheck.resume.gap.source import Trees
from reprocheck.resume.gap.training_state import compared_rungs, held, named_alike
from reprocheck.rules.catalogue import entry
from reprocheck.trace.deep import DeepTrace
from reprocheck.trace.deep_run import read_deep
from reprocheck.wording import say
from reprocheck.wording.catalogue import translated
from reprocheck.wording.ladder.words import place

RUNGS: tuple[model.StateRungName, ...] = get_args(model.StateRungName)
NO_TREES: Trees = {}
NO_ARCHIVE, NO_CHECKPOINT = model.Archive(), model.Checkpoint(iteration=0)
At = tuple[model.StateRungName, Gap | None, int]
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
class Found:
    """What one rank shows: the gap on each rung that differs, and the rungs that were compared.

    steps  how many steps were compared; None: all
    beside  names of what is put back although no `state_dict` has it
    open   gaps that may follow from one further down: their rung says neither equal nor different
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
    apart: tuple[GeneratorGap, ...] = ()
    archive: model.Archive = NO_ARCHIVE
    saved_at: str = ""
    trees: Trees = field(default_factory=dict)

    @property
    def first(self) -> model.StateRungName | None:
        """The first rung that differs."""
        return next((name for name in RUNGS if name in self.gaps), None)

    def undecided(self, name: model.StateRungName) -> Sequence[Gap]:
        """Return what differs on a rung, and may follow from a later one, or was not drawn from."""
        if name in self.open:
            return [self.open[name]]
        return self.apart if name == "RNG state" else ()

    def origin(self, name: model.StateRungName) -> model.StateRungName | None:
        """Return the first rung, where what differs on this one follows from it."""
        first = self.first
        if first is None or first not in ORIGINS or name in ORIGINS:
            return None
        return first

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
    one, other = (read_deep(folder, run) for run in runs)
    ranks = sorted({*one.ranks} & {*other.ranks})
    states = {rank: Side(one.read(rank), k).states for rank in ranks if len(ranks) > 1}
    library = LIBRARIES.get(checkpoint.by, "")
    files, line = checkpoint.files, checkpoint.line
    found = []
    for rank in ranks:
        both = (one.read(rank), own_end(other.read(rank), runs[1]))
        of_rank = found_of(*both, k, equal=equal, states=states, files=files)
        frameworks = (library, *of_rank.frameworks)
        found.append(replace(of_rank, frameworks=frameworks, saved_at=line, trees=trees))
    return explained(found)


def own_end(trace: DeepTrace, run: RunRecord) -> DeepTrace:
    """Return a trace that came to its own end in no run that failed: what such a run did not reach
    says nothing of the resume.
    """
    return replace(trace, ended=trace.ended and not run.ended_badly)


def explained(ranks: Sequence[Found]) -> model.Explained:
    """Return what is said of all ranks: of each rung the first rank that differs on it, and the
    mechanism of the first rung.
    """
    if not ranks:
        return model.Explained()
    leading = min(ranks, key=_order)
    rungs = tuple(_rung(name, ranks) for name in RUNGS)
    coverage = () if all(rank.marked for rank in ranks) else (UNMARKED,)
    return model.Explained(
        rungs=rungs,
        mechanism=_mechanism(leading, leading.first),
        mechanisms=_mechanisms(ranks),
        coverage=coverage,
        starts_over=leading.starts_over,
        steps=min((rank.steps for rank in ranks if rank.steps is not None), default=None),
        ranks=tuple(rank.rank for rank in ranks),
        beside=tuple(dict.fromkeys(name for rank in ranks for name in rank.beside)),
        archive=leading.archive,
        lost=tuple(_lost(leading)),
    )


def _lost(found: Found) -> Iterator[model.LostPart]:
    """Yield what a rank has lost, rung by rung."""
    gaps = {**found.open, **found.gaps}
    for rung in (name for name in RUNGS[: RUNGS.index("RNG state")] if name in gaps):
        for gap in _each(gaps[rung]):
            for part, key, is_loaded in parts_of(gap, found.archive):
                yield model.LostPart(rung=rung, kind="part", part=part, key=key, loaded=is_loaded)
    named = [gap for gap in gaps.values() if isinstance(gap, GeneratorGap)]
    for generator in {one.name: one for one in (*named, *found.apart)}.values():
        origin = provenance(generator, found.archive)
        key = next(iter(origin.keys), "")
        yield model.LostPart(rung="RNG state", kind="generator", part=origin.part, key=key)


def _each(gap: Gap) -> Sequence[Gap]:
    """Return a gap of each scheduler and scaler, where it is of several."""
    return gap.each if isinstance(gap, ScheduleGap) else [gap]


def with_text(explained: model.Explained, code: UserCode) -> model.Explained:
    """Return the same with the texts of the lines of its mechanisms."""

    def told(mechanism: model.Mechanism) -> model.Mechanism:
        marks = tuple(
            replace(mark, source=code.with_text(mark.source) or mark.source)
            for mark in mechanism.marks
        )
        return replace(mechanism, marks=marks)

    mechanisms = {rung: told(one) for rung, one in explained.mechanisms.items()}
    first = explained.mechanism
    return replace(explained, mechanism=first and told(first), mechanisms=mechanisms)


def _order(found: Found) -> tuple[int, bool, int]:
    if found.first is None:
        return len(RUNGS), True, found.rank
    return RUNGS.index(found.first), *_among_ranks(found, found.first)


def _among_ranks(found: Found, rung: model.StateRungName) -> tuple[bool, int]:
    """Return what ranks that differ on one rung are sorted by. One that was given another rank's
    state stands first: what else was done to a generator may have been done to those of all
    ranks.
    """
    gap = found.gaps[rung]
    of_a_rank = isinstance(gap, GeneratorGap) and gap.of_rank is not None
    return not of_a_rank, found.rank


def _rung(name: model.StateRungName, ranks: Sequence[Found]) -> model.StateRung:
    all_differing = [rank for rank in ranks if name in rank.gaps]
    if all_differing:
        differing = min(all_differing, key=lambda rank: _among_ranks(rank, name))
        gap = differing.gaps[name]
        return model.StateRung(
            name=name,
            status="differs",
            iteration=differing.iterations.get(name),
            rank=differing.rank,
            ranks=tuple(rank.rank for rank in all_differing),
            place=sentences.place(gap),
            detail=_detail(gap, differing, name),
        )
    undecided = next((rank for rank in ranks if rank.undecided(name)), None)
    if undecided is not None:
        first = undecided.undecided(name)[0]
        why = MAY_FOLLOW if "batch" in undecided.gaps else NOT_DRAWN
        if isinstance(first, CounterGap):
            why = "the batch is another one, and the script may count what it takes of the data"
        return model.StateRung(
            name=name,
            status="not_compared",
            rank=undecided.rank,
            place=sentences.place(first),
            detail=f"{_detail(first, undecided, name)}; {why}",
        )
    if all(name in rank.compared for rank in ranks):
        return model.StateRung(name=name, status="equal")
    return model.StateRung(name=name, status="not_recorded")


def _detail(gap: Gap, found: Found, name: model.StateRungName) -> str:
    """Return what a rung shows; of the generators all that stand elsewhere."""
    if not isinstance(gap, GeneratorGap):
        return sentences.detail(gap, behind=found.origin(name))
    others = [one for one in found.apart if one.name != gap.name]
    return "; ".join(map(sentences.detail, (gap, *others)))


def _mechanisms(ranks: Sequence[Found]) -> Mapping[model.StateRungName, model.Mechanism]:
    """Return the mechanism of each rung, of the first rank that has one there."""
    found: dict[model.StateRungName, model.Mechanism] = {}
    for rank in ranks:
        for name in (*rank.gaps, *rank.open):
            mechanism = _mechanism(rank, name)
            if mechanism is not None:
                found.setdefault(name, mechanism)
    return found


def _mechanism(found: Found, rung: model.StateRungName | None) -> model.Mechanism | None:
    """Return the mechanism of a rung, where it has one, with what the other rungs of the state
    show.
    """
    if rung is None or found.starts_over:
        return None
    gaps = {**found.open, **found.gaps}
    gap = gaps[rung]
    counter = gaps.get("step counter")
    if isinstance(gap, ScheduleGap) and gap.optimizer is not None and counter is not None:
        gap = counter  # the rate is computed from it
    name = mechanisms.name_of(gap)
    if name is None:
        return None
    known = translated(entry(name))
    kind = _kind_of(gap)
    by = (one.seed.by for one in found.apart if one.seed is not None)
    kinds = (*(f"{kind} ({one})" for one in found.frameworks), kind, *by, *found.frameworks)
    all_gaps = [gaps[name] for name in RUNGS if name in gaps and name in ORIGINS]
    others = [one for one in all_gaps if one is not gap]
    if known.name in GENERATOR_NAMES:
        of_gap = gap.generator if isinstance(gap, BatchGap) and gap.made_from else gap
        told = {one.name for one in (of_gap, *others) if isinstance(one, GeneratorGap)}
        others += [one for one in found.apart if one.name not in told]
    alike = [one for one in (gap, *others) if mechanisms.name_of(one) == name]
    return model.Mechanism(
        code=known.code,
        title=known.title_for(found.frameworks),
        evidence=(*map(sentences.detail, (gap, *others)), *_custody(alike, found)),
        marks=_marks(alike, found),
        fix=known.fix_for(kinds),
    )


def _custody(gaps: Sequence[Gap], found: Found) -> Iterator[str]:
    """Yield what became of what was lost, between the file and the training."""
    each = (one for gap in gaps for one in _each(gap))
    told = (sentences.custody(gap, provenance(gap, found.archive)) for gap in each)
    yield from filter(None, dict.fromkeys(told))


def _marks(gaps: Sequence[Gap], found: Found) -> tuple[model.Mark, ...]:
    """Return the lines of gaps of one mechanism, each once."""
    roles: dict[str, model.Role] = {}
    for gap in gaps:
        origin = provenance(gap, found.archive)
        for role, line in lines_of(gap, origin, found.archive, found.saved_at, found.trees):
            roles.setdefault(line, role)
    sources = ((role, SourceLine.of(line)) for line, role in roles.items())
    return tuple(model.Mark(role=role, source=source) for role, source in sources if source)


def _kind_of(gap: Gap) -> str:
    """Return what a fix is chosen by before the framework: the class of a generator of the script's
    own, or that no `state_dict` has what is lost; "" of others.
    """
    if getattr(gap, "own", False):
        return "an object of the script"
    if isinstance(gap, BatchGap) and gap.without_loader and gap.made_from is None:
        return "no loader"
    generator = gap.made_from if isinstance(gap, BatchGap) else gap
    if isinstance(generator, GeneratorGap):
        return class_of(generator.name)
    return _KINDS.get(type(gap), "")


def found_of(
    first: DeepTrace,
    second: DeepTrace,
    k: int,
    *,
    equal: bool = False,
    states: Mapping[int, States] = NO_RANKS,
    files: Sequence[str] = (),
) -> Found:
    """Return what one rank shows: its trace of the continued run, and that of the resumed one;
    `equal` as for `explain`. `states`: those of the generators of each rank of the continued run.
    """
    others = {rank: held for rank, held in states.items() if rank != first.rank}
    continued, resumed = Side(first, k), Side(second)
    data = batches.data_of(continued, resumed)
    gaps: dict[model.StateRungName, Gap] = {}
    iterations: dict[model.StateRungName, int] = {}
    pair = _pair(continued, resumed, data)
    for name, gap, iteration in _gaps(continued, resumed, data, pair, others):
        if gap is not None and name not in gaps:
            gaps[name], iterations[name] = gap, iteration
    gaps.update(attributes.behind(continued, resumed, gaps))
    if not (any(name != "update" and iterations.get(name, 1) == 1 for name in gaps)):
        gaps.update(weight_copies.lost(continued, resumed))
    undecided = dict(_open(continued, resumed, gaps, others))
    if "batch" in gaps and "step counter" in gaps:  # it may count what was taken of the data
        undecided["step counter"] = gaps.pop("step counter")
    if equal:
        gaps, undecided = {name: gap for name, gap in gaps.items() if name in HELD}, {}
    return Found(
        rank=first.rank,
        frameworks=continued.frameworks,
        gaps=gaps,
        open=undecided,
        compared=frozenset(_compared(continued, resumed, data, pair)),
        iterations=iterations,
        marked=continued.marked and (resumed.marked or not resumed.iterations),
        steps=last_step(pair.first.seen) if continued.rested or resumed.rested else None,
        beside=weight_copies.beside(continued, resumed, gaps),
        apart=generators.apart(continued, resumed, others),
        archive=archive_of(continued, resumed, files),
    )


def _gaps(
    continued: Side, resumed: Side, data: Data, pair: Pair, others: Mapping[int, States]
) -> Iterator[At]:
    if continued.marked and resumed.marked:
        was = held(continued)
        now = named_alike(was, held(resumed))
        yield "weights", state.weights(was, now, continued, resumed), 1
        yield "optimizer state", optimizers.optimizer(was, now), 1
        schedule = state.schedule(was, now)
        yield "hyper-parameters", schedule, 1
        counter = counters.counter(continued, resumed)
        if counter is None and isinstance(schedule, ScheduleGap) and schedule.optimizer is not None:
            counter = counters.behind_a_rate(continued, resumed)
        yield "step counter", counter, getattr(counter, "iteration", 0) + 1
    batch = _batch(continued, resumed, data)
    # a batch that is another one comes before what draws there; of the right samples with other
    # values, the generator is what made them
    until = inf if batch is None or batch.content else batch.iteration
    for generator in generators.gaps(continued, resumed, until, others):
        yield "RNG state", generator, 1
    if batch is not None:
        yield "batch", batch, batch.iteration
    if resumed.iterations:
        yield from _steps(pair)


def _open(
    continued: Side,
    resumed: Side,
    gaps: Mapping[model.StateRungName, Gap],
    others: Mapping[int, States],
) -> Mapping[model.StateRungName, Gap]:
    """Return a generator beside a batch that is another one: what made that batch may have moved
    it.
    """
    batch = gaps.get("batch")
    if not isinstance(batch, BatchGap) or batch.ended or "RNG state" in gaps:
        return {}
    gap = batch.made_from
    if gap is None:
        gap = generators.beside_a_batch(continued, resumed, batch.iteration, others)
    return {} if gap is None else {"RNG state": gap}


def _batch(continued: Side, resumed: Side, data: Data) -> BatchGap | None:
    gap = batches.first_gap(data, generators.unrestored(continued, resumed))
    if gap is None and resumed.trace.ended:
        return batches.ended_early(data, resumed.trace.seen)
    if gap is None or gap.later_pass:
        return gap
    if gap.without_loader:
        gap = replace(gap, may_be_drawn=bool(generators.elsewhere(continued, resumed)))
        return batches.drawn(gap, generators.of_steps(continued, resumed))
    if gap.expected.position != 0:
        return gap
    return replace(gap, order_from=generators.of_order(continued, resumed, gap.drawn_from))


def _steps(pair: Pair) -> Iterator[At]:
    """Yield what differs from the forward pass on, as on the ladder of a check."""
    findings = rank_of(pair).findings
    for name in _STEPS:
        finding = findings.get(name)
        if finding is not None:
            gap = StepGap(place=place(finding.place), detail=say(finding.statement))
            yield name, gap, finding.iteration or 1


def _pair(continued: Side, resumed: Side, data: Data) -> Pair:
    place = next((batch.fact.place for batch in data.continued), "")
    due = [batch.fact for batch in data.due]
    came = [batch.fact for batch in data.resumed]
    one, other = shifted(continued, due, place), shifted(resumed, came, place)
    if continued.rested or resumed.rested:
        whole = min(last_step(one.seen), last_step(other.seen))
        one, other = cut(one, whole), cut(other, whole)
    return Pair(one, other)


def _compared(
    continued: Side, resumed: Side, data: Data, pair: Pair
) -> Iterator[model.StateRungName]:
    """Yield the rungs of which both runs say something."""
    if continued.held and resumed.held:
        yield from compared_rungs(held(continued), held(resumed))
    if counters.are_known(continued, resumed):
        yield "step counter"
    if continued.states and resumed.states:
        yield "RNG state"
    if data.due and data.resumed:
        yield "batch"
    yield from (name for name in _STEPS if name in pair.recorded)
