"""The ladder of a check: where the two runs that were recorded again first part, rank by rank, rung by rung."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reprocheck.explain import generators, operators, words
from reprocheck.explain.backward import across_ranks, gradient, reduced, update
from reprocheck.explain.batches import batch
from reprocheck.explain.draws import drawn_around
from reprocheck.explain.drift import classes
from reprocheck.explain.finding import Finding
from reprocheck.explain.forward import forward, loss
from reprocheck.explain.pair import Difference, Pair
from reprocheck.explain.sources import Sources
from reprocheck.explain.start import hyper_parameters, initial_weights
from reprocheck.model import RUNGS, Check, DeeperPair, Ladder, LossSeries, Rung, RungName
from reprocheck.model.ranks import named, together
from reprocheck.trace import collector
from reprocheck.trace.deep import DeepTrace, read_deep

_DESCRIBE: Mapping[RungName, Callable[[Pair, Sequence[Difference]], Finding]] = {
    "hyper-parameters": hyper_parameters,
    "initial weights": initial_weights,
    "batch": batch,
    "forward": forward,
    "loss": loss,
    "gradient": gradient,
    "reduced gradient": reduced,
    "update": update,
}
_CONSEQUENCES: tuple[RungName, ...] = ("forward", "loss", "gradient", "reduced gradient", "update")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rank:
    """One rank: its pair of traces and what was found in it."""

    pair: Pair
    findings: Mapping[RungName, Finding]

    @property
    def first(self) -> Finding | None:
        return min(self.findings.values(), key=lambda finding: finding.order, default=None)


def ladder(check: Check, folder: Path) -> Ladder | None:
    """Compare the runs that were recorded again. None where there are none."""
    if not check.record.deeper:
        return None
    with collector.paused():
        return _ladder(check, folder)


def _ladder(check: Check, folder: Path) -> Ladder:
    main = next((pair for pair in check.record.deeper if pair.level == "module"), check.record.deeper[-1])
    alone: list[int] = []
    ranks = [_rank(pair) for pair in _pairs(folder, main, alone)]
    lead = min((rank for rank in ranks if rank.first), key=_leads, default=None)
    first = lead.first if lead else None
    if first is not None:
        ranks = [replace(rank, findings={name: _following(one, first) for name, one in rank.findings.items()}) for rank in ranks]
    found = {name: finding for name in RUNGS if (finding := _earliest(ranks, name))}
    if first is not None and lead is not None:
        first = across_ranks(_refined(check, folder, first, lead), [rank.pair for rank in ranks])
        several = {key: value for key, value in found[first.rung].facts.items() if key == "ranks"}
        found[first.rung] = first = replace(first, facts={**first.facts, **several, **_recorded_at(first, lead.pair)})
    rungs = [_rung(name, found.get(name), ranks) for name in RUNGS]
    files, environment = _files(check, first, lead), _environment(check)
    later = _later(check, main, first)
    rungs = [{"environment": environment, "files and arguments": files, "later": later}.get(rung.rung, rung) for rung in rungs]
    came_back = first is not None or not ranks or _beyond(check, main) or check.verdict.bitwise.equal is True
    name = _first(files, first, later, environment, came_back)
    sources = Sources(check, folder)
    lines = tuple(replace(rung, source=sources.with_text(rung.source)) for rung in rungs)
    sources.keep()
    return Ladder(
        rungs=lines,
        first=name,
        level="op" if any(pair.level == "op" for pair in check.record.deeper) else main.level,
        came_back=came_back,
        sentence=words.sentence(_sentence(next((rung for rung in rungs if rung.rung == name), None), first, main, ranks, came_back)),
        coverage=tuple(dict.fromkeys(_coverage(ranks, alone))),
    )


def _pairs(folder: Path, deeper: DeeperPair, alone: list[int] | None = None) -> list[Pair]:
    """The ranks that both runs recorded; `alone` takes those of one run only."""
    if len(deeper.runs) < 2:
        return []
    one, other = (read_deep(folder, run) for run in deeper.runs[:2])
    both = sorted(one.keys() & other.keys())
    if alone is not None:
        alone += sorted(one.keys() ^ other.keys())
    return [Pair(one[rank], other[rank], ranks=max(len(one), len(other))) for rank in both]


def _rank(pair: Pair) -> _Rank:
    grouped: dict[RungName, list[Difference]] = {}
    for difference in pair.differences:
        grouped.setdefault(difference.rung, []).append(difference)
    found = {name: _DESCRIBE[name](pair, differences) for name, differences in grouped.items()}
    # the generators are asked about what is drawn up to the next rung that differs
    end = min((finding.number for name, finding in found.items() if RUNGS.index(name) > RUNGS.index("RNG state")), default=-1)
    drawn = generators.drawn(pair, end) or drawn_around(pair, found, end)
    if drawn is not None:
        found["RNG state"] = drawn
    if (first := min(found.values(), key=lambda finding: finding.order, default=None)) is not None:
        found = {name: _following(finding, first) for name, finding in found.items()}
        used = list(drawn.facts["generators"]) if drawn is not None and isinstance(drawn.facts["generators"], list) else []
        found[first.rung] = replace(first, facts={**first.facts, "unused_generators": generators.unused(pair, max(end, 0), used)})
    return _Rank(pair=pair, findings=found)


def _following(finding: Finding, first: Finding) -> Finding:
    """What comes behind the first difference and can be its consequence is not explained: that would blame a victim."""
    if finding.rung not in _CONSEQUENCES or finding is first or finding.culprit is None:
        return finding
    if finding.rank != first.rank and not _after(finding, first):
        return finding
    before = f"`{first.rung}`" + (f" of rank {first.rank}" if finding.rank != first.rank else "")
    return replace(
        finding,
        culprit=None,
        detail=f"{words.code(finding.place)} is the first here that differs; the difference on the rung {before} comes before it.",
        facts={**finding.facts, "follows": first.rung},
    )


def _after(finding: Finding, first: Finding) -> bool:
    """Whether a difference can follow from one on another rank: ranks meet where gradients are reduced."""
    later = (finding.iteration or 0, RUNGS.index(finding.rung)) > (first.iteration or 0, RUNGS.index(first.rung))
    return later and (finding.rung in ("reduced gradient", "update") or (finding.iteration or 0) > (first.iteration or 0))


def _leads(rank: _Rank) -> tuple[int, int, int]:
    """No order of execution across ranks is known: the lowest iteration leads, then the lowest rung."""
    first = rank.first
    assert first is not None
    return first.iteration or 0, RUNGS.index(first.rung), rank.pair.rank


def _earliest(ranks: Sequence[_Rank], name: RungName) -> Finding | None:
    """The finding on a rung, of the rank where it comes in the lowest iteration; the others stand in its facts."""
    found = [rank.findings[name] for rank in ranks if name in rank.findings]
    if not found:
        return None
    first = min(found, key=lambda finding: (finding.iteration or 0, finding.rank))
    if len(ranks) > 1:
        places = {str(finding.rank): {"place": finding.place, "iteration": finding.iteration} for finding in found}
        return replace(first, facts={**first.facts, "ranks": places})
    return first


def _refined(check: Check, folder: Path, first: Finding, lead: _Rank) -> Finding:
    """What the operators say of the first difference, where they were recorded."""
    deeper = next((pair for pair in check.record.deeper if pair.level == "op"), None)
    if deeper is None or first.rung not in ("RNG state", "forward", "loss", "gradient", "update"):
        return first
    pair = lead.pair if lead.pair.operators else next((pair for pair in _pairs(folder, deeper) if pair.rank == first.rank), None)
    if pair is None or not pair.operators:
        return first
    operator = operators.first_operator(pair, backward=first.rung == "gradient" if first.rung != "update" else None)
    if operator is None:
        text = "No operator differed where the operators were recorded."
        return replace(first, detail=f"{first.detail} {text}", facts={**first.facts, "operators_agree": True})
    return replace(
        first,
        culprit=operator.culprit or first.culprit,
        detail=f"{first.detail} {operator.detail}",
        sentence=f"{first.head or first.sentence}. {operator.detail}" if operator.tells else first.sentence,
        source=operator.source or first.source,
        facts={**first.facts, **operator.facts},
    )


# ---------------------------------------------------------------------------------------------------------------- rungs


def _recorded_at(first: Finding, pair: Pair) -> dict[str, object]:
    """The trace of run 1 and the offset in it by which the first difference was recorded."""
    numbers = [difference.step.number for difference in pair.differences if difference.rung == first.rung]
    number = numbers[0] if first.number < 0 and numbers else first.number
    steps = [step.first for step in pair.steps[: pair.position(number) + 1] if step.first is not None and step.first.at >= 0]
    return {"trace": pair.first.path.name, "at": steps[-1].at if steps else 0}


def _rung(name: RungName, finding: Finding | None, ranks: Sequence[_Rank]) -> Rung:
    if finding is not None:
        return Rung(
            rung=name,
            status="differs",
            iteration=finding.iteration,
            rank=finding.rank,
            place=finding.place,
            culprit=finding.culprit,
            size=finding.size,
            relative_difference=finding.relative_difference,
            detail=finding.detail,
            source=finding.source,
            facts=dict(finding.facts),
        )
    if name == "RNG state":
        return _generators_agree(ranks)
    if any(name in rank.pair.recorded for rank in ranks):
        return Rung(rung=name, status="equal")
    return Rung(rung=name, status="not_recorded", detail=_why_not(name, ranks))


def _generators_agree(ranks: Sequence[_Rank]) -> Rung:
    if not any(generators.recorded(rank.pair) for rank in ranks):
        return Rung(rung="RNG state", status="not_recorded")
    last = max((step.number for rank in ranks for step in rank.pair.steps), default=0)
    ends = [rank.first.number if rank.first is not None and rank.first.number >= 0 else last for rank in ranks]
    unused = sorted({name for rank, end in zip(ranks, ends, strict=True) for name in generators.unused(rank.pair, end)})
    detail = f"The state of {words.generators(unused)} is not the same in both runs, and nothing recorded draws from it." if unused else ""
    return Rung(rung="RNG state", status="equal", detail=detail, facts={"unused_generators": unused} if unused else {})


def _why_not(name: RungName, ranks: Sequence[_Rank]) -> str:
    if name == "reduced gradient" and len(ranks) == 1:
        return "One rank reduces nothing."
    one = next((rank.pair for rank in ranks if rank.pair.incomparable), None)
    if one is not None:
        return f"The runs were recorded with different hash algorithms ({one.first.algorithm}, {one.second.algorithm}): not comparable."
    return ""


def _files(check: Check, first: Finding | None, lead: _Rank | None) -> Rung:
    """Files that run 1 left and run 2 read before the first difference."""
    paths = [path for path in check.state_left if _in_time(path, first, lead)]
    if check.record.compared and (other := _other_source(check)) is not None:
        return other
    if not paths:
        left = [words.code(path) for path in check.state_left]
        detail = f"Run 2 reads {words.listed(left)}, which run 1 wrote, but only after the first difference." if left else ""
        return Rung(rung="files and arguments", status="equal", detail=detail)
    return Rung(
        rung="files and arguments",
        status="differs",
        place=paths[0],
        culprit="run 1, which left it behind",
        detail=f"Run 2 reads {words.listed([words.code(path) for path in paths])}, which run 1 wrote.",
        facts={"kind": "file", "files": paths},
    )


def _other_source(check: Check) -> Rung | None:
    """Of two recordings: that they ran other files of the user's, or had other arguments."""
    keys = [one.key for one in check.environment_differences if one.key == "arguments" or one.key.startswith("source.")]
    if not keys:
        return None
    names = [key.removeprefix("source.") for key in sorted(keys, key=lambda key: key == "arguments")]
    listed = words.listed([words.code(name) if name != "arguments" else "the arguments" for name in names])
    detail = f"Not the same on both sides: {listed}."
    return Rung(rung="files and arguments", status="differs", place=names[0], detail=detail, facts={"kind": "source", "files": names})


def _in_time(path: str, first: Finding | None, lead: _Rank | None) -> bool:
    """Whether run 2 opened a file before the first difference. Where the deeper runs do not show when, it is taken to have."""
    if first is None or lead is None:
        return True
    second = lead.pair.second
    position = next((opened.position for opened in second.opened if opened.path == path and opened.mode == "r"), None)
    if position is None:
        return True
    return position <= _reached(lead.pair, first)


def _reached(pair: Pair, first: Finding) -> int:
    """How many facts run 2 had recorded when the first difference came."""
    numbers = [difference.step for difference in pair.differences if difference.rung == first.rung]
    number = numbers[0].number if first.number < 0 and numbers else first.number
    return sum(1 for step in pair.steps[: pair.position(number)] if step.second is not None) + sum(
        1 for step in pair.operators if step.number < number and step.second is not None
    )


def _environment(check: Check) -> Rung:
    different = [difference for difference in check.environment_differences if difference.run == 2] or list(check.environment_differences)
    if check.record.compared:
        different = [
            one for group in classes(different) if group.expects != "nothing" and group.name != "source" for one in group.differences
        ]
    if not different:
        known = any(run.environment for run in check.runs)
        return Rung(rung="environment", status="equal" if known else "not_recorded")
    one = different[0]
    others = f" So {'is' if len(different) == 2 else 'are'} {words.listed([words.code(other.key) for other in different[1:]])}." * (
        len(different) > 1
    )
    return Rung(
        rung="environment",
        status="differs",
        place=one.key,
        detail=f"`{one.key}` is not the same in run {one.run} as in run 1: {words.both(one.reference, one.value)}.{others}".replace(
            " in run 2.", f" in run {one.run}."
        ),
        facts={"kind": "environment", "keys": [other.key for other in different], "values": [one.reference, one.value]},
    )


def _later(check: Check, deeper: DeeperPair, first: Finding | None) -> Rung:
    """Losses beyond the iterations that were recorded deeply, as the first pair has them."""
    others = {trace.rank: trace.losses for run in check.runs[1:2] for trace in run.traces}
    pairs = [(trace.losses, others[trace.rank]) for run in check.runs[:1] for trace in run.traces if trace.rank in others]
    if not any(min(len(one), len(other)) > deeper.iterations for one, other in pairs):
        return Rung(rung="later", status="not_recorded")
    unequal = [iteration for one, other in pairs if (iteration := _unequal(one, other, deeper.iterations + 1)) is not None]
    if not unequal:
        return Rung(rung="later", status="equal")
    detail = f"The losses of iteration {min(unequal)} differ."
    if first is None and _beyond(check, deeper):
        agree = f"The first {deeper.iterations} iterations agree in everything that was recorded"
        detail = f"{agree}; the losses differ from iteration {min(unequal)} on."
    return Rung(
        rung="later",
        status="differs",
        iteration=min(unequal),
        place="loss",
        detail=detail,
        facts={"kind": "loss", "iterations": deeper.iterations},
    )


def _beyond(check: Check, deeper: DeeperPair) -> bool:
    """Whether the losses of the check differ, in any bit, only behind the iterations that were recorded deeply."""
    unequal = check.verdict.bitwise.first_iteration
    return unequal is not None and unequal > deeper.iterations


def _unequal(one: LossSeries, other: LossSeries, start: int) -> int | None:
    """The first iteration from `start` on whose losses differ in any bit."""
    for iteration in range(start, min(len(one), len(other)) + 1):
        if one.losses(iteration).tobytes() != other.losses(iteration).tobytes():
            return iteration
    return None


# ---------------------------------------------------------------------------------------------------------------- the whole


def _first(files: Rung, first: Finding | None, later: Rung, environment: Rung, came_back: bool) -> RungName | None:
    if first is not None:
        return "files and arguments" if files.status == "differs" and files.facts.get("kind") == "file" else first.rung
    if not came_back:
        return "environment" if environment.status == "differs" else None
    return "later" if later.status == "differs" else None


def _sentence(rung: Rung | None, first: Finding | None, deeper: DeeperPair, ranks: Sequence[_Rank], came_back: bool) -> str:
    if not ranks:
        return "nothing was recorded by both of the runs that were made to look deeper"
    if rung is not None and rung.rung == "files and arguments":
        return f"run 2 starts from what run 1 left behind: it reads `{rung.place}`, which run 1 wrote" + (
            f"; the first difference that follows is on the rung {first.rung} at `{first.place}`" if first else ""
        )
    if not came_back:
        again = "the difference did not come back: two runs recorded again agree in everything that was recorded"
        also = f", although {rung.detail[0].lower()}{rung.detail[1:].rstrip('.')}" if rung is not None and rung.detail else ""
        return f"{again} of their first {deeper.iterations} iterations{also}. It is intermittent; `--runs N` shows how often it happens"
    if first is not None:
        return first.sentence.rstrip(".") + (f" ({_on_ranks(first, ranks)})" if len(ranks) > 1 else "")
    return rung.detail if rung is not None else "both runs agree in everything that was recorded"


def _on_ranks(first: Finding, ranks: Sequence[_Rank]) -> str:
    """The ranks whose first difference stands on that rung, in that iteration."""
    same = [one.pair.rank for one in ranks if one.first is not None and _leads(one)[:2] == (first.iteration or 0, RUNGS.index(first.rung))]
    everywhere = "on both ranks" if len(ranks) == 2 else f"on all {len(ranks)} ranks"
    return everywhere if len(same) == len(ranks) else named(same or [first.rank])


def _coverage(ranks: Sequence[_Rank], alone: Sequence[int]) -> list[str]:
    """What could not be recorded, and what was left out of the comparison."""
    lost = [f"One of the two runs recorded {named(alone)}, the other did not: nothing is compared there."] if alone else []
    said = [(rank.pair.rank, line) for rank in ranks for trace in (rank.pair.first, rank.pair.second) for line in _uncovered(trace)]
    lines = [f"{which.capitalize()}: {line}" if len(ranks) > 1 else line for which, line in together(said)]
    return [*lost, *lines, *(_why_not("forward", [rank]) for rank in ranks if rank.pair.incomparable)]


def _uncovered(trace: DeepTrace) -> list[str]:
    return [*(f"{where}: {why}" if where else why for where, why in trace.unrecorded), *trace.problems]
