"""The ladder of a check: where the two deeper runs first diverge, rank by rank and rung by rung."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from operator import attrgetter
from pathlib import Path

from reprocheck.ladder.agreeing import BY_RECORD, agreeing, classes, of_libraries, other_algorithms
from reprocheck.ladder.align import of_run_1
from reprocheck.ladder.backward import across_ranks
from reprocheck.ladder.external_inputs import rank_by_rank
from reprocheck.ladder.files_and_arguments import files_and_arguments
from reprocheck.ladder.finding import Finding, step_number
from reprocheck.ladder.forks import shared
from reprocheck.ladder.operators import refined
from reprocheck.ladder.pair import Pair
from reprocheck.ladder.rank import Pairs, Rank, earliest, leads, rank_of, read_pairs
from reprocheck.ladder.replays import replay_of
from reprocheck.ladder.sources import Sources
from reprocheck.model import RUNGS, Check, DeeperPair, Ladder, Rung, RungName, TracePosition
from reprocheck.model.evidence import GivenOtherwise, LeftBehind, generators_of
from reprocheck.model.replay import Replay
from reprocheck.model.statement import Statement
from reprocheck.model.statements.inputs import LeftFiles, NotGivenAlike, OtherEnvironment
from reprocheck.model.statements.ladder import (
    Diverged,
    Follows,
    LaterLosses,
    NoReplay,
    NotDiverged,
    NotRecorded,
    OfOneRun,
    StartedUnequally,
)
from reprocheck.trace import lines


def environment(check: Check) -> Rung:
    """Return the rung of the environment: what differs in run 2, else in a later run."""
    differences = of_libraries(check.environment_differences)
    different = [one for one in differences if one.run == 2] or differences
    if check.record.compared:
        # source has a rung of its own
        others = [group for group in classes(different) if group.name != "source"]
        acting = (group.differences for group in others if group.expects != "nothing")
        different = list(chain.from_iterable(acting))
    if not different:
        known = any(map(attrgetter("environment"), check.runs))
        return Rung(rung="environment", status=BY_RECORD[known])
    return Rung(
        rung="environment",
        status="differs",
        place=different[0].key,
        statement=OtherEnvironment(differences=tuple(different)),
    )


def later(check: Check, deeper: DeeperPair, *, only_here: bool) -> Rung:
    """Return the rung of losses after the last deeply recorded iteration, by the first two runs.

    `only_here` says that nothing differs up to that iteration.
    """
    recorded, unequal = False, None
    pairs = rank_by_rank(*check.runs[:2]) if len(check.runs) > 1 else ()
    for one, other in pairs:
        losses, others = one.losses, other.losses
        for iteration in range(deeper.iterations + 1, min(len(losses), len(others)) + 1):
            recorded = True
            if losses.losses(iteration).tobytes() != others.losses(iteration).tobytes():
                unequal = iteration if unequal is None else min(unequal, iteration)
                break
    if unequal is None:
        return Rung(rung="later", status=BY_RECORD[recorded])
    return Rung(
        rung="later",
        status="differs",
        iteration=unequal,
        place="loss",
        statement=LaterLosses(iteration=unequal, agreeing=deeper.iterations if only_here else None),
    )


_MUCH = 1 << 28
"""Bytes of traces that take longer to read than processes take to start."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Shown:
    """What the deeper runs show.

    ranks        all ranks that were compared
    lead         the traces of the rank on which the runs first diverge
    first        the first difference
    found        rung -> the first difference there, of any rank
    independent  the rung of an earlier difference that is unrelated to the first
    """

    ranks: Sequence[Rank]
    lead: Pair | None = None
    first: Finding | None = None
    found: Mapping[RungName, Finding] = field(default_factory=dict)
    independent: RungName | None = None


@lines.paused()
def ladder_of(check: Check, folder: Path) -> Ladder | None:
    """Return the ladder from a comparison of the deeper runs; None if there are none."""
    deeper = check.record.deeper
    if not deeper:
        return None
    main = _main(check)
    pairs = read_pairs(folder, main)
    shown = _shown(check, folder, pairs)
    only_later = shown.first is None and _beyond(check, main)
    others: Mapping[RungName, Rung] = {
        "environment": environment(check),
        "files and arguments": files_and_arguments(check, shown.first, shown.lead),
        "later": later(check, main, only_here=only_later),
    }
    rungs = {name: others.get(name) or _rung(name, shown) for name in RUNGS}
    # whether the runs that were recorded again say something of the difference of the check
    says_it = shown.first is not None or not shown.ranks or _beyond(check, main)
    came_back = says_it or check.verdict.bitwise.equal is True
    first = _first(check, rungs, shown, came_back=came_back)
    unrecorded = _unrecorded(shown.ranks, pairs.alone)
    replay: Replay | NoReplay | None = None
    # the operation that makes the difference, where that is the first of the ladder
    if shown.first is not None and first is not None and first.rung == shown.first.rung:
        assert shown.lead is not None
        replay = replay_of(check, shown.lead, shown.first)
    if isinstance(replay, NoReplay):
        unrecorded.append(replay)
        replay = None
    sources = Sources(check, folder)
    with_texts = [replace(rung, source=sources.with_text(rung.source)) for rung in rungs.values()]
    sources.keep()
    return Ladder(
        rungs=tuple(with_texts),
        first=None if first is None else first.rung,
        level="op" if any(pair.level == "op" for pair in deeper) else main.level,
        independent=shown.independent,
        came_back=came_back,
        statement=_statement(check, shown, first, came_back=came_back),
        unrecorded=tuple(unrecorded),
        replay=replay,
    )


def _main(check: Check) -> DeeperPair:
    """Return the pair of deeper runs at level `module`; the last pair if there is none."""
    deeper = check.record.deeper
    return next((pair for pair in deeper if pair.level == "module"), deeper[-1])


def _shown(check: Check, folder: Path, pairs: Pairs) -> _Shown:
    ranks, leading = _ranks(pairs)
    lead = _lead(ranks)
    if leading is None or lead is None or lead.first is None:
        return _Shown(ranks=ranks)
    findings = _earliest(ranks, lead.first)
    first = refined(check, folder, lead.first, leading)
    if len(ranks) > 1:
        first = across_ranks(first, pairs.of_place)
    end = leading.position(step_number(leading, first))
    places = [fact.at for fact in of_run_1(leading.steps[: end + 1]) if fact.at >= 0]
    first = replace(
        first,
        iterations=findings[first.rung].iterations,
        recorded_at=TracePosition(trace=leading.first.path.name, at=next(reversed(places), 0)),
    )
    return _Shown(
        ranks=ranks,
        lead=leading,
        first=first,
        found={**findings, first.rung: first},
        independent=lead.independent,
    )


def _ranks(pairs: Pairs) -> tuple[list[Rank], Pair | None]:
    """Return each rank, and the traces of the rank on which the runs first diverge.

    The traces of several ranks do not fit into memory together: those of a rank are dropped before
    the next are read. Only ranks with a difference to show are read whole.
    """
    if len(pairs.ranks) == 1:
        pair = pairs.read(pairs.ranks[0])
        return [rank_of(pair)], pair
    skimmed = shared(lambda rank: rank_of(pairs.skim(rank)), pairs.ranks, much=pairs.size >= _MUCH)
    ranks = dict(zip(pairs.ranks, skimmed, strict=True))
    lead = _lead(ranks.values())
    if lead is None or lead.first is None:
        return list(ranks.values()), None
    shown = {one.rank for one in _earliest(ranks.values(), lead.first).values()}
    for rank in shown - {lead.number}:
        ranks[rank] = rank_of(pairs.read(rank))
    leading = pairs.read(lead.number)
    ranks[lead.number] = rank_of(leading)
    return list(ranks.values()), leading


def _lead(ranks: Iterable[Rank]) -> Rank | None:
    """Return the rank on which the runs first diverge; None if no rank differs."""
    return min((rank for rank in ranks if rank.first), key=leads, default=None)


def _earliest(ranks: Iterable[Rank], first: Finding) -> dict[RungName, Finding]:
    """Return rung -> the first difference there, of any rank, given the first difference of all."""
    behind = [rank.behind(first) for rank in ranks]
    findings = {rung: earliest(behind, rung) for rung in RUNGS}
    return {rung: finding for rung, finding in findings.items() if finding is not None}


def _rung(name: RungName, shown: _Shown) -> Rung:
    finding = shown.found.get(name)
    if finding is None:
        return agreeing(name, shown.ranks)
    return Rung(**{of.name: getattr(finding, of.name) for of in fields(Rung)})


def _beyond(check: Check, main: DeeperPair) -> bool:
    """Return whether the losses of the check first differ after the deeply recorded iterations."""
    unequal = check.verdict.bitwise.first_iteration
    return unequal is not None and unequal > main.iterations


def _first(
    check: Check, rungs: Mapping[RungName, Rung], shown: _Shown, *, came_back: bool
) -> Rung | None:
    """Return the rung to look at first; None if no rung differs."""
    files = rungs["files and arguments"]
    if shown.first is not None:
        if _leads_to(check, files, shown.first, shown.found):
            return files
        return rungs[shown.first.rung]
    candidates = [files, rungs["environment"]]
    if came_back:
        candidates = [rungs["later"]]
    return next((rung for rung in candidates if rung.status == "differs"), None)


def _leads_to(check: Check, files: Rung, first: Finding, found: Mapping[RungName, Finding]) -> bool:
    """Return whether differing input or left files can explain the first difference."""
    if isinstance(files.evidence, LeftBehind):
        return True
    if not isinstance(files.evidence, GivenOtherwise) or files.evidence.names_the_run:
        return False
    if check.record.compared:
        # other source or arguments are no rounding
        return any(finding.size != "rounding" for finding in found.values())
    # no argument explains generators that stood otherwise without another seed
    drawn = generators_of(first.evidence)
    return drawn.seeded_unequally or not drawn.drawn


def _statement(check: Check, shown: _Shown, rung: Rung | None, *, came_back: bool) -> Statement:
    """Return the statement on where the runs diverge; `rung` is the one to look at first."""
    if not shown.ranks:
        return NotDiverged(why="nothing recorded")
    failing = check.verdict.failing_series(check.record.fail_on)
    series = next(filter(None, (failing, *check.verdict.unequal_series)), None)
    if series is not None and rung is None:
        return NotDiverged(why="hidden", series=series.name)
    first = shown.first if came_back else None
    statement = None if rung is None else rung.statement
    if isinstance(statement, NotGivenAlike | LeftFiles):
        follows = None if first is None else Follows(rung=first.rung, place=first.place)
        return StartedUnequally(given=statement, follows=follows)
    if not came_back:
        iterations = _main(check).iterations
        return NotDiverged(why="intermittent", iterations=iterations, although=statement)
    if first is not None:
        firsts = [rank.first for rank in shown.ranks if rank.first is not None]
        same = [finding.rank for finding in firsts if finding.when == first.when]
        ranks = tuple(same or [first.rank])
        return Diverged(difference=first.statement, ranks=ranks, of=len(shown.ranks))
    if statement is None:
        return NotDiverged(why="equal")
    return Diverged(difference=statement)


def _unrecorded(ranks: Sequence[Rank], alone: Sequence[int]) -> list[Statement]:
    """Return what could not be recorded, and what was left out of the comparison."""
    statements: list[Statement] = []
    if alone:
        statements.append(OfOneRun(ranks=tuple(alone)))
    ranks_of: dict[Statement | str, set[int]] = {}
    for rank in ranks:
        for line in rank.kept.unrecorded:
            ranks_of.setdefault(line, set()).add(rank.number)
    for line, numbers in ranks_of.items():
        shown = tuple(sorted(numbers)) if len(ranks) > 1 else ()
        statements.append(NotRecorded(line=line, ranks=shown))
    algorithms = filter(None, (rank.kept.algorithms for rank in ranks))
    statements += map(other_algorithms, algorithms)
    return list(dict.fromkeys(statements))
