"""The ladder of a check: where the two runs that were recorded again first diverge, rank by rank,
rung by rung.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reprocheck.ladder import generators, operators, words
from reprocheck.ladder.backward import across_ranks, gradient, reduced, update
from reprocheck.ladder.batches import batch
from reprocheck.ladder.compiled import shown_by
from reprocheck.ladder.draws import drawn_around
from reprocheck.ladder.drift import classes
from reprocheck.ladder.finding import Finding
from reprocheck.ladder.forward import forward, loss
from reprocheck.ladder.given import given_otherwise, made_by_each_run, of_the_user
from reprocheck.ladder.own_words import of_found_state
from reprocheck.ladder.pair import Difference, Pair
from reprocheck.ladder.sources import Sources
from reprocheck.ladder.start import hyper_parameters, initial_weights
from reprocheck.ladder.unseen import unequal_at_the_start, unseen_weights
from reprocheck.model import (
    RUNGS,
    Check,
    DeeperPair,
    Ladder,
    LossSeries,
    Rung,
    RungName,
    SourceDifference,
    Tolerance,
    TracePosition,
)
from reprocheck.model.evidence import (
    CallDiffers,
    Evidence,
    Generators,
    GivenOtherwise,
    LeftBehind,
    StateDiffers,
    generators_of,
    loaded_file,
)
from reprocheck.model.letters import small
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
MOST_SAID = 3
"""Files and arguments that are named with both values."""
_ORIGINS: tuple[RungName, ...] = ("hyper-parameters", "initial weights", "RNG state", "batch")
"""Rungs on which a difference does not follow from rounding in the same iteration."""
_CONSEQUENCES: tuple[RungName, ...] = ("forward", "loss", "gradient", "reduced gradient", "update")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rank:
    """One rank: its pair of traces and what was found in it."""

    pair: Pair
    findings: Mapping[RungName, Finding]

    @property
    def earliest(self) -> Finding | None:
        """The first in the order of execution."""
        return min(self.findings.values(), key=lambda finding: finding.order, default=None)

    @property
    def first(self) -> Finding | None:
        """Where to look first: the earliest, but for a gross difference in the same iteration that
        cannot follow from rounding.
        """
        earliest = self.earliest
        if earliest is None or earliest.size != "rounding":
            return earliest
        gross = [
            finding
            for finding in self.findings.values()
            if finding.size == "gross" and finding.rung in _ORIGINS
        ]
        in_time = [
            finding for finding in gross if (finding.iteration or 0) <= (earliest.iteration or 0)
        ]
        return min(in_time, key=lambda finding: finding.order, default=earliest)

    @property
    def independent(self) -> Finding | None:
        """The earliest, where it is of rounding level and not the one to look at first: neither
        follows from the other.
        """
        return self.earliest if self.earliest is not self.first else None


def ladder_of(check: Check, folder: Path) -> Ladder | None:
    """Compare the runs that were recorded again. None where there are none."""
    if not check.record.deeper:
        return None
    with collector.paused():
        return _ladder(check, folder)


def _ladder(check: Check, folder: Path) -> Ladder:
    main = next(
        (pair for pair in check.record.deeper if pair.level == "module"), check.record.deeper[-1]
    )
    alone: list[int] = []
    ranks = [_rank(pair) for pair in _pairs(folder, main, alone)]
    lead = min((rank for rank in ranks if rank.first), key=_leads, default=None)
    first = lead.first if lead else None
    if first is not None:
        ranks = [
            replace(
                rank, findings={name: _following(one, first) for name, one in rank.findings.items()}
            )
            for rank in ranks
        ]
    found = {name: finding for name in RUNGS if (finding := _earliest(ranks, name))}
    if first is not None and lead is not None:
        first = across_ranks(_refined(check, folder, first, lead), [rank.pair for rank in ranks])
        found[first.rung] = first = replace(
            first,
            iterations=found[first.rung].iterations,
            recorded_at=_recorded_at(first, lead.pair),
        )
    independent = lead.independent if lead is not None else None
    rungs = [_rung(name, found.get(name), ranks) for name in RUNGS]
    files, environment = _files(check, first, lead), _environment(check)
    later = _later(check, main, first)
    rungs = [
        {"environment": environment, "files and arguments": files, "later": later}.get(
            rung.rung, rung
        )
        for rung in rungs
    ]
    came_back = (
        first is not None
        or not ranks
        or _beyond(check, main)
        or check.verdict.bitwise.equal is True
    )
    sized = any(finding.size != "rounding" for finding in found.values())
    explains = sized if check.record.compared else first is not None and not _drawn_unseeded(first)
    name = _first(files, first, later, environment, came_back, explains=explains)
    sources = Sources(check, folder)
    lines = tuple(replace(rung, source=sources.with_text(rung.source)) for rung in rungs)
    sources.keep()
    return Ladder(
        rungs=lines,
        first=name,
        level="op" if any(pair.level == "op" for pair in check.record.deeper) else main.level,
        independent=independent.rung if independent is not None else None,
        came_back=came_back,
        sentence=words.sentence(
            _sentence(
                next((rung for rung in rungs if rung.rung == name), None),
                first,
                main,
                ranks,
                came_back,
            )
        ),
        coverage=tuple(dict.fromkeys(_coverage(ranks, alone))),
    )


def _pairs(folder: Path, deeper: DeeperPair, alone: list[int] | None = None) -> list[Pair]:
    """The ranks that both runs recorded; `alone` takes those of one run only."""
    if len(deeper.runs) < 2:
        return []
    one, other = (read_deep(folder, run) for run in deeper.runs[:2])
    other = _under_the_ranks_of(one, other, folder, deeper)
    both = sorted(one.keys() & other.keys())
    if alone is not None:
        alone += sorted(one.keys() ^ other.keys())
    return [Pair(one[rank], other[rank], ranks=max(len(one), len(other))) for rank in both]


def _under_the_ranks_of(
    one: Mapping[int, DeepTrace], other: Mapping[int, DeepTrace], folder: Path, deeper: DeeperPair
) -> dict[int, DeepTrace]:
    """The traces of the second run, those of processes without ranks under the numbers of their
    partners in the first.
    """
    from reprocheck.trace import read_run
    from reprocheck.verdict import partners

    if all(trace.has_rank for trace in (*one.values(), *other.values())) or len(other) < 2:
        return dict(other)
    reference, run = (read_run(folder, record) for record in deeper.runs[:2])
    numbers, _ = partners(run, reference, Tolerance())
    return {
        number: replace(trace, rank=number)
        for rank, trace in other.items()
        for number in [numbers.get(rank, rank)]
    }


def _rank(pair: Pair) -> _Rank:
    grouped: dict[RungName, list[Difference]] = {}
    for difference in pair.differences:
        grouped.setdefault(difference.rung, []).append(difference)
    found = {name: _DESCRIBE[name](pair, differences) for name, differences in grouped.items()}
    # the generators are asked about what is drawn up to the next rung that differs
    end = min(
        (
            finding.number
            for name, finding in found.items()
            if RUNGS.index(name) > RUNGS.index("RNG state")
        ),
        default=-1,
    )
    drawn = generators.drawn(pair, end) or drawn_around(pair, found, end)
    if drawn is not None:
        found["RNG state"] = drawn
    if (first := min(found.values(), key=lambda finding: finding.order, default=None)) is not None:
        found = {name: _following(finding, first) for name, finding in found.items()}
        used = generators_of(drawn.evidence).names if drawn is not None else ()
        unused = tuple(generators.unused(pair, max(end, 0), used))
        found[first.rung] = replace(first, unused_generators=unused)
    return _Rank(pair=pair, findings=found)


def _following(finding: Finding, first: Finding) -> Finding:
    """What comes behind the first difference and can be its consequence is not explained: that
    would blame a victim.
    """
    if finding.rung not in _CONSEQUENCES or finding is first or finding.culprit is None:
        return finding
    if finding.rank == first.rank and finding.order < first.order:
        return finding
    if finding.rank != first.rank and not _after(finding, first):
        return finding
    before = f"`{first.rung}`" + (f" of rank {first.rank}" if finding.rank != first.rank else "")
    return replace(
        finding,
        culprit=None,
        detail=(
            f"{words.code(finding.place)} is the first here that differs; the difference on the"
            f" rung {before} comes before it."
        ),
    )


def _after(finding: Finding, first: Finding) -> bool:
    """Whether a difference can follow from one on another rank: ranks meet where gradients are
    reduced.
    """
    later = (finding.iteration or 0, RUNGS.index(finding.rung)) > (
        first.iteration or 0,
        RUNGS.index(first.rung),
    )
    return later and (
        finding.rung in ("reduced gradient", "update")
        or (finding.iteration or 0) > (first.iteration or 0)
    )


def _leads(rank: _Rank) -> tuple[int, int, int]:
    """No order of execution across ranks is known: the lowest iteration leads, then the lowest
    rung.
    """
    first = rank.first
    assert first is not None
    return first.iteration or 0, RUNGS.index(first.rung), rank.pair.rank


def _earliest(ranks: Sequence[_Rank], name: RungName) -> Finding | None:
    """The finding on a rung, of the rank where it comes in the lowest iteration, with the
    iterations of the others.
    """
    found = [rank.findings[name] for rank in ranks if name in rank.findings]
    if not found:
        return None
    first = min(found, key=lambda finding: (finding.iteration or 0, finding.rank))
    if len(ranks) > 1:
        return replace(first, iterations={one.rank: one.iteration for one in found})
    return first


def _refined(check: Check, folder: Path, first: Finding, lead: _Rank) -> Finding:
    """What the operators say of the first difference, where they were recorded."""
    deeper = next((pair for pair in check.record.deeper if pair.level == "op"), None)
    if deeper is None or first.rung not in ("RNG state", "forward", "loss", "gradient", "update"):
        return first
    pair = (
        lead.pair
        if lead.pair.operators
        else next((pair for pair in _pairs(folder, deeper) if pair.rank == first.rank), None)
    )
    if pair is None or not pair.operators:
        return first
    operator = operators.first_operator(
        pair, backward=first.rung == "gradient" if first.rung != "update" else None
    )
    if operator is None:
        text = "No operator differed where the operators were recorded."
        return replace(first, detail=f"{first.detail} {text}")
    return replace(
        first,
        culprit=operator.culprit or first.culprit,
        detail=f"{first.detail} {operator.detail}",
        sentence=(
            f"{first.head or first.sentence}. {operator.detail}"
            if operator.tells
            else first.sentence
        ),
        source=operator.source or first.source,
        evidence=_with_draws(first.evidence, operator.generators),
        operator=operator.evidence,
        operations=_with_node(first, operator.node),
    )


def _with_draws(evidence: Evidence, drawn: Generators) -> Evidence:
    """The evidence of a module, with the generators that the operator inside it draws from.

    The seeds stay those of the runs that named the module: arguments are compared with them.
    """
    if not drawn.drawn:
        return evidence
    if isinstance(evidence, StateDiffers):
        return replace(evidence, generators=evidence.generators.of(drawn.names))
    if isinstance(evidence, CallDiffers):
        return replace(evidence, generators=drawn)
    return evidence


def _with_node(first: Finding, node: str) -> tuple[str, ...]:
    """The operations that can have made the difference: the node of the operator before those of
    the modules, and in place of the one that the loss is taken by.
    """
    if not node:
        return first.operations
    return (node,) if first.rung == "loss" else (node, *first.operations)


# -------------------------------------------------------------------------------------------- rungs


def _recorded_at(first: Finding, pair: Pair) -> TracePosition:
    """Where run 1 recorded the first difference."""
    numbers = [
        difference.step.number for difference in pair.differences if difference.rung == first.rung
    ]
    number = numbers[0] if first.number < 0 and numbers else first.number
    steps = [
        step.first
        for step in pair.steps[: pair.position(number) + 1]
        if step.first is not None and step.first.at >= 0
    ]
    return TracePosition(trace=pair.first.path.name, at=steps[-1].at if steps else 0)


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
            evidence=finding.evidence,
            measured=finding.measured,
            operator=finding.operator,
            operations=finding.operations,
            inside=finding.inside,
            unused_generators=finding.unused_generators,
            iterations=finding.iterations,
            recorded_at=finding.recorded_at,
        )
    if name == "RNG state":
        return _generators_agree(ranks)
    if name == "initial weights" and any(unseen_weights(rank.pair) for rank in ranks):
        return Rung(
            rung=name, status="not_recorded", detail=_why_not(name, ranks) or _unseen(ranks)
        )
    if any(name in rank.pair.recorded for rank in ranks):
        return Rung(rung=name, status="equal")
    return Rung(rung=name, status="not_recorded", detail=_why_not(name, ranks))


def _unseen(ranks: Sequence[_Rank]) -> str:
    """The weights that were not seen before their first update."""
    names = list(dict.fromkeys(name for rank in ranks for name in unseen_weights(rank.pair)))
    more = [f"{len(names) - MOST_SAID} more"] if len(names) > MOST_SAID else []
    which = words.listed([*(words.code(name) for name in names[:MOST_SAID]), *more])
    others = (
        " Those of the other weights agree."
        if any("initial weights" in rank.pair.recorded for rank in ranks)
        else ""
    )
    return (
        f"The first values of {which} were not recorded: they could not be read before the first"
        f" update.{others}"
    )


def _generators_agree(ranks: Sequence[_Rank]) -> Rung:
    if not any(generators.recorded(rank.pair) for rank in ranks):
        return Rung(rung="RNG state", status="not_recorded")
    hidden = sorted({name for rank in ranks for name in unequal_at_the_start(rank.pair)})
    if hidden:
        who = f"the states of {words.generators(hidden)} differ"
        detail = words.sentence(
            f"{who}, and whether the first weights were drawn from them was not recorded"
        )
        return Rung(rung="RNG state", status="not_recorded", detail=detail)
    last = max((step.number for rank in ranks for step in rank.pair.steps), default=0)
    ends = [
        rank.first.number if rank.first is not None and rank.first.number >= 0 else last
        for rank in ranks
    ]
    unused = sorted(
        {
            name
            for rank, end in zip(ranks, ends, strict=True)
            for name in generators.unused(rank.pair, end)
        }
    )
    return Rung(
        rung="RNG state",
        status="equal",
        detail=" ".join(filter(None, (_unequal_at_the_weights(ranks), _unequal_unused(unused)))),
        unused_generators=tuple(unused),
    )


def _unequal_at_the_weights(ranks: Sequence[_Rank]) -> str:
    """This rung begins with the first iteration; what stood otherwise before it belongs to the
    initial weights.
    """
    for rank in ranks:
        weights = rank.findings.get("initial weights")
        names = generators_of(weights.evidence).names if weights is not None else ()
        if names:
            who = words.generators(names)
            return words.sentence(
                f"the state of {who} differed when the weights were made; the generators that the"
                " iterations draw from agree"
            )
    return ""


def _unequal_unused(names: Sequence[str]) -> str:
    """Generators that differ and that nobody draws from change nothing."""
    if not names:
        return ""
    who = words.generators(names)
    them = "them" if len(names) > 1 else "it"
    return words.sentence(
        f"the state of {who} differs and nothing recorded draws from {them}: unused"
    )


def _why_not(name: RungName, ranks: Sequence[_Rank]) -> str:
    if name == "reduced gradient" and len(ranks) == 1:
        return "There is only one rank: nothing is reduced."
    one = next((rank.pair for rank in ranks if rank.pair.incomparable), None)
    if one is not None:
        return (
            f"The runs were recorded with different hash algorithms ({one.first.algorithm},"
            f" {one.second.algorithm}): not comparable."
        )
    shown = (
        next(filter(None, (shown_by(rank.pair) for rank in ranks)), "") if name == "forward" else ""
    )
    if shown:
        return (
            f"A compiled function hides the inputs and outputs of layers; {shown} shows them,"
            " possibly with other bits."
        )
    return ""


def _files(check: Check, first: Finding | None, lead: _Rank | None) -> Rung:
    """Files that run 1 left and run 2 read before the first difference."""
    anew = _written_anew(check, first)
    in_time = [path for path in check.state_left if path != anew and _in_time(path, first, lead)]
    alike = [path for path in in_time if path in check.state_alike and _explained_otherwise(first)]
    paths = [path for path in in_time if path not in alike]
    if not paths and (other := _given_otherwise(check, first)) is not None:
        return other
    if not paths and alike:
        named = words.listed([words.code(path) for path in alike])
        detail = f"Run 2 reads {named}, which run 1 wrote; run 1 read the same from there."
        return Rung(rung="files and arguments", status="equal", detail=detail)
    if not paths:
        left = [words.code(path) for path in check.state_left if path != anew]
        detail = (
            f"Run 2 reads {words.listed(left)}, which run 1 wrote, but only after the first"
            " difference."
            if left
            else ""
        )
        return Rung(rung="files and arguments", status="equal", detail=detail)
    read = f"Run 2 reads {words.listed([words.code(path) for path in paths])}, which run 1 wrote."
    return Rung(
        rung="files and arguments",
        status="differs",
        place=paths[0],
        culprit="run 1, which left it behind",
        detail=f"{read} {of_found_state(check)}".rstrip(),
        evidence=LeftBehind(),
    )


def _explained_otherwise(first: Finding | None) -> bool:
    """Whether the generators that the first difference is drawn from say why they stand otherwise.

    One that was seeded equally does not: making a file may have moved it in run 1 alone. Keys do
    not move.
    """
    drawn = generators_of(first.evidence) if first is not None else Generators()
    if not drawn.drawn:
        return False
    return drawn.seeded_unequally or not drawn.seeded_equally or all(one.key for one in drawn.drawn)


def _written_anew(check: Check, first: Finding | None) -> str:
    """A file of weights that each run wrote before it loaded it, which is therefore nothing that
    run 1 left.
    """
    loaded = loaded_file(first.evidence) if first is not None else ""
    return loaded if loaded and made_by_each_run(check, loaded) else ""


def _given_otherwise(check: Check, first: Finding | None) -> Rung | None:
    """That the runs had other arguments, or read files that were not the same; of two recordings,
    that they ran other code.
    """
    code = check.between.other_code if check.between else ()
    others = (
        given_otherwise(check, first.rung, loaded_file(first.evidence))
        if first is not None
        else given_otherwise(check)
    )
    if not code and not others:
        return None
    only_names = not code and all(one.names_the_run for one in others)
    said = [*(_of_code(one) for one in code), *(one.sentence for one in others)]
    more = len(said) - MOST_SAID
    rest = (
        f" {words.plural(more, 'more file or argument', 'more files or arguments')}"
        f" differ{'s' * (more == 1)} too."
        if more > 0
        else ""
    )
    names = [*(one.file for one in code), *(one.name for one in others)]
    return Rung(
        rung="files and arguments",
        status="differs",
        place=names[0],
        detail=f"{' '.join(said[:MOST_SAID])}{rest}",
        source=next(
            (pair.first for one in code for pair in one.changed if pair.first is not None), None
        ),
        evidence=GivenOtherwise(
            kind="source" if code else others[0].kind, names_the_run=only_names
        ),
    )


def _of_code(one: SourceDifference) -> str:
    if one.only_in is not None:
        return f"Run {one.only_in} alone has {words.code(one.file)}."
    pair = next(iter(one.changed), None)
    if pair is None or pair.first is None or pair.second is None:
        return f"{words.code(one.file)} is not the same in both runs."
    return (
        f"Line {pair.first.line} of {words.code(one.file)} is `{pair.first.text}` in run 1 and"
        f" `{pair.second.text}` in run 2."
    )


def _in_time(path: str, first: Finding | None, lead: _Rank | None) -> bool:
    """Whether run 2 opened a file before the first difference.

    Where the deeper runs do not show when, it is taken to have.
    """
    if first is None or lead is None:
        return True
    second = lead.pair.second
    position = next(
        (opened.position for opened in second.opened if opened.path == path and opened.mode == "r"),
        None,
    )
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
    known_keys = [
        one
        for one in check.environment_differences
        if not of_the_user(one.key, one.reference, one.value)
    ]
    different = [difference for difference in known_keys if difference.run == 2] or known_keys
    if check.record.compared:
        different = [
            one
            for group in classes(different)
            if group.expects != "nothing" and group.name != "source"
            for one in group.differences
        ]
    if not different:
        known = any(run.environment for run in check.runs)
        return Rung(rung="environment", status="equal" if known else "not_recorded")
    one = different[0]
    others = (
        f" So {'is' if len(different) == 2 else 'are'}"
        f" {words.listed([words.code(other.key) for other in different[1:]])}."
        * (len(different) > 1)
    )
    return Rung(
        rung="environment",
        status="differs",
        place=one.key,
        detail=(
            f"`{one.key}` is not the same in run {one.run} as in run 1:"
            f" {words.both(one.reference, one.value)}.{others}".replace(
                " in run 2.", f" in run {one.run}."
            )
        ),
    )


def _later(check: Check, deeper: DeeperPair, first: Finding | None) -> Rung:
    """Losses beyond the iterations that were recorded deeply, as the first pair has them."""
    others = {trace.rank: trace.losses for run in check.runs[1:2] for trace in run.traces}
    pairs = [
        (trace.losses, others[trace.rank])
        for run in check.runs[:1]
        for trace in run.traces
        if trace.rank in others
    ]
    if not any(min(len(one), len(other)) > deeper.iterations for one, other in pairs):
        return Rung(rung="later", status="not_recorded")
    unequal = [
        iteration
        for one, other in pairs
        if (iteration := _unequal(one, other, deeper.iterations + 1)) is not None
    ]
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
    )


def _beyond(check: Check, deeper: DeeperPair) -> bool:
    """Whether the losses of the check differ, in any bit, only behind the iterations that were
    recorded deeply.
    """
    unequal = check.verdict.bitwise.first_iteration
    return unequal is not None and unequal > deeper.iterations


def _unequal(one: LossSeries, other: LossSeries, start: int) -> int | None:
    """The first iteration from `start` on whose losses differ in any bit."""
    for iteration in range(start, min(len(one), len(other)) + 1):
        if one.losses(iteration).tobytes() != other.losses(iteration).tobytes():
            return iteration
    return None


# ---------------------------------------------------------------------------------------- the whole


def _drawn_unseeded(first: Finding) -> bool:
    """Whether a generator stood otherwise that was not seeded with another number: no argument
    explains that.
    """
    drawn = generators_of(first.evidence)
    return bool(drawn.drawn) and not drawn.seeded_unequally


def _first(
    files: Rung,
    first: Finding | None,
    later: Rung,
    environment: Rung,
    came_back: bool,
    *,
    explains: bool,
) -> RungName | None:
    """`explains`: whether other source, arguments or files can be what the first difference follows
    from.
    """
    if first is not None:
        leads = isinstance(files.evidence, LeftBehind) or (explains and not _names_runs(files))
        given = files.status == "differs" and leads
        return "files and arguments" if given else first.rung
    if not came_back and files.status == "differs":
        return "files and arguments"
    if not came_back:
        return "environment" if environment.status == "differs" else None
    return "later" if later.status == "differs" else None


def _names_runs(files: Rung) -> bool:
    """Whether the runs were given nothing otherwise but what they are called."""
    return isinstance(files.evidence, GivenOtherwise) and files.evidence.names_the_run


def _sentence(
    rung: Rung | None,
    first: Finding | None,
    deeper: DeeperPair,
    ranks: Sequence[_Rank],
    came_back: bool,
) -> str:
    if not ranks:
        return "the two runs at a deeper level recorded nothing in common"
    follows = (
        f"; the first difference that follows is on the rung {words.code(first.rung)} at"
        f" `{first.place}`"
        if first
        else ""
    )
    if rung is not None and isinstance(rung.evidence, GivenOtherwise):
        return (
            f"the two runs were given different inputs: {small(rung.detail).rstrip('.')}{follows}"
        )
    if rung is not None and isinstance(rung.evidence, LeftBehind):
        return (
            f"run 2 starts from what run 1 left behind: it reads `{rung.place}`, which run 1"
            f" wrote{follows}"
        )
    if not came_back:
        again = (
            "the difference did not come back: two runs recorded again agree in everything that was"
            " recorded"
        )
        also = (
            f", although {small(rung.detail).rstrip('.')}"
            if rung is not None and rung.detail
            else ""
        )
        return (
            f"{again} of their first {deeper.iterations} iterations{also}. It is intermittent;"
            " `--runs N` shows how often it happens"
        )
    if first is not None:
        return first.sentence.rstrip(".") + (
            f" ({_on_ranks(first, ranks)})" if len(ranks) > 1 else ""
        )
    return rung.detail if rung is not None else "both runs agree in everything that was recorded"


def _on_ranks(first: Finding, ranks: Sequence[_Rank]) -> str:
    """The ranks whose first difference stands on that rung, in that iteration."""
    same = [
        one.pair.rank
        for one in ranks
        if one.first is not None
        and _leads(one)[:2] == (first.iteration or 0, RUNGS.index(first.rung))
    ]
    everywhere = "on both ranks" if len(ranks) == 2 else f"on all {len(ranks)} ranks"
    return everywhere if len(same) == len(ranks) else named(same or [first.rank])


def _coverage(ranks: Sequence[_Rank], alone: Sequence[int]) -> list[str]:
    """What could not be recorded, and what was left out of the comparison."""
    lost = (
        [
            f"One of the two runs recorded {named(alone)}, the other did not: nothing is compared"
            " there."
        ]
        if alone
        else []
    )
    said = [
        (rank.pair.rank, line)
        for rank in ranks
        for trace in (rank.pair.first, rank.pair.second)
        for line in _uncovered(trace)
    ]
    lines = [
        f"{which.capitalize()}: {line}" if len(ranks) > 1 else line
        for which, line in together(said)
    ]
    return [
        *lost,
        *lines,
        *(_why_not("forward", [rank]) for rank in ranks if rank.pair.incomparable),
    ]


def _uncovered(trace: DeepTrace) -> list[str]:
    return [
        *(f"{where}: {why}" if where else why for where, why in trace.unrecorded),
        *trace.problems,
    ]
