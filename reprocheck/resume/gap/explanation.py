"""Explain what the ladder across the gap shows.

Its rungs in sentences, made last, and the mechanism behind each rung that differs, with its lines
and a fix.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from reprocheck.causes.usercode import UserCode
from reprocheck.model import RunRecord, SourceLine
from reprocheck.resume import model
from reprocheck.resume.gap import mechanisms, sentences
from reprocheck.resume.gap.archive import parts_of, provenance
from reprocheck.resume.gap.evidence import (
    AttributeGap,
    AverageGap,
    BatchGap,
    CounterGap,
    Gap,
    GeneratorGap,
    ScheduleGap,
)
from reprocheck.resume.gap.generators import States
from reprocheck.resume.gap.ladder import ORIGINS, RUNGS, RankGaps, gaps_of
from reprocheck.resume.gap.mersenne_twister import class_of
from reprocheck.resume.gap.sides import Side
from reprocheck.resume.gap.source import Trees, lines_of
from reprocheck.rules.catalogue import entry
from reprocheck.trace.deep import DeepTrace
from reprocheck.trace.deep_run import read_deep
from reprocheck.wording.fixes import translated

NO_TREES: Trees = {}
NO_CHECKPOINT = model.Checkpoint(iteration=0)
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


def explain(
    folder: Path,
    runs: tuple[RunRecord, RunRecord],
    k: int,
    *,
    equal: bool = False,
    checkpoint: model.Checkpoint = NO_CHECKPOINT,
    trees: Trees = NO_TREES,
) -> model.Explained:
    """Return what two runs of a report folder show of a resume after update k.

    checkpoint  the checkpoint resumed from: a library's own way to save needs a fix of its own
    trees       the syntax trees of the files of the script
    equal       whether all losses of the runs agree in every bit, so that only state which matters
                later is compared
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
    """Return a trace whose end counts as its own only if the run did not fail.

    Iterations that a failed run did not reach say nothing of the resume.
    """
    return replace(trace, ended=trace.ended and not run.ended_badly)


def explained(ranks: Sequence[RankGaps]) -> model.Explained:
    """Combine the gaps of all ranks.

    Each rung shows the first rank that differs on it, and the mechanism is that of the first rung.
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
    """Yield the parts and generators that a rank has lost, rung by rung."""
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
    """Return a gap of each scheduler and scaler, if a gap is about several."""
    return gap.each if isinstance(gap, ScheduleGap) else [gap]


def with_text(explained: model.Explained, code: UserCode) -> model.Explained:
    """Return the explanation with the source texts of the lines of its mechanisms."""

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
            detail=_detail(first, name, gap),
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
            detail=f"{_detail(undecided, name, gap)}; {why}",
        )
    if all(name in rank.compared for rank in ranks):
        return model.StateRung(name=name, status="equal")
    return model.StateRung(name=name, status="not_recorded")


def _detail(rank: RankGaps, name: model.StateRungName, gap: Gap) -> str:
    """Return the sentence on what a gap shows; for generators, on all whose states differ."""
    if isinstance(gap, GeneratorGap):
        others = [other for other in rank.moving if other.name != gap.name]
        return "; ".join(map(sentences.detail, (gap, *others)))
    origin = None
    if rank.first in ORIGINS and name not in ORIGINS:
        origin = rank.first  # what differs on this rung follows from it
    return sentences.detail(gap, behind=origin)


def _mechanism(rank: RankGaps, rung: model.StateRungName) -> model.Mechanism | None:
    """Return the mechanism of a rung, if any, with what other rungs of the state show."""
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
    """Yield what became of each lost part between the checkpoint and the training."""
    each = (part for gap in gaps for part in _each(gap))
    lines = (sentences.custody(gap, provenance(gap, rank.archive)) for gap in each)
    yield from filter(None, dict.fromkeys(lines))


def _marks(gaps: Sequence[Gap], rank: RankGaps) -> tuple[model.Mark, ...]:
    """Return the lines of the gaps of one mechanism, each once."""
    roles: dict[str, model.Role] = {}
    for gap in gaps:
        origin = provenance(gap, rank.archive)
        for role, line in lines_of(gap, origin, rank.archive, rank.saved_at, rank.trees):
            roles.setdefault(line, role)
    sources = ((role, SourceLine.of(line)) for line, role in roles.items())
    return tuple(model.Mark(role=role, source=source) for role, source in sources if source)


def _fixed_by(gap: Gap, rank: RankGaps) -> tuple[str, ...]:
    """Return the words by which a fix is chosen, the narrowest first.

    These are the class of the script's own generator, or that no `state_dict` has the lost state,
    both together with the framework and alone; then who seeded, and the frameworks.
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
