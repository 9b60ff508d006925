"""What differs on each rung of one rank in the deeper runs, and what follows from what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from reprocheck.ladder import generators
from reprocheck.ladder.backward import gradient, reduced, update
from reprocheck.ladder.batches import batch
from reprocheck.ladder.finding import Finding
from reprocheck.ladder.forward import forward, loss
from reprocheck.ladder.generators import drawn_around
from reprocheck.ladder.pair import Difference, Pair
from reprocheck.ladder.quick_compare import skimmed
from reprocheck.ladder.start import hyper_parameters, initial_weights
from reprocheck.ladder.trace_extract import Kept, kept
from reprocheck.model import RUNGS, DeeperPair, RungName, Tolerance
from reprocheck.model.evidence import generators_of
from reprocheck.model.statements.ladder import Consequence
from reprocheck.trace.deep import DeepTrace
from reprocheck.trace.deep_run import DeepRun, read_deep

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
_BEHIND_STATES = frozenset(RUNGS[RUNGS.index("RNG state") + 1 :])
_CONSEQUENCES = frozenset({"forward", "loss", "gradient", "reduced gradient", "update"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Rank:
    """One rank: the findings in its pair of traces, and what else is said of the rank.

    number    the number of the rank
    findings  rung -> the first difference there
    kept      what was recorded of the rank, and what could not be
    """

    number: int
    findings: Mapping[RungName, Finding]
    kept: Kept

    @property
    def earliest(self) -> Finding | None:
        """The first finding in the order of execution."""
        return _earliest(self.findings)

    @property
    def first(self) -> Finding | None:
        """Return the finding to look at first."""
        return _first(self.findings)

    @property
    def independent(self) -> RungName | None:
        """The rung of the earliest finding, if that is not the one to look at first.

        Such a finding is of rounding level, and neither of the two follows from the other.
        """
        earliest = self.earliest
        if earliest is None or earliest is self.first:
            return None
        return earliest.rung

    def behind(self, first: Finding) -> Rank:
        """Return the rank, given the first difference of all ranks."""
        return replace(self, findings=_behind(self.findings, first))


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairs:
    """The ranks of two runs; the traces of a rank are read only when asked for."""

    first: DeepRun
    second: DeepRun
    last: int | None = None
    """The last iteration that both recorded deeply, where that is said: one run may have left the
    level sooner.
    """

    @property
    def ranks(self) -> list[int]:
        """The ranks that both runs recorded."""
        return sorted({*self.first.ranks} & {*self.second.ranks})

    @property
    def alone(self) -> list[int]:
        """The ranks that only one of the runs recorded."""
        return sorted({*self.first.ranks} ^ {*self.second.ranks})

    @property
    def size(self) -> int:
        """The number of bytes in the traces of these ranks."""
        runs = (self.first, self.second)
        return sum(run.path(rank).stat().st_size for run in runs for rank in self.ranks)

    def read(self, rank: int) -> Pair:
        """Return the traces of a rank."""
        return self._pair(self.first.read(rank), self.second.read(rank))

    def skim(self, rank: int) -> Pair:
        """Return the traces of a rank, reduced to the facts that show first differences."""
        skim = skimmed(self.first.path(rank), self.second.path(rank))
        if skim is None:
            return self.read(rank)
        first = self.first.trace(rank, skim.first)
        return self._pair(first, self.second.trace(rank, skim.second), known_weights=skim.known)

    def of_place(self, place: str, iteration: int) -> Iterator[Pair]:
        """Yield the traces of each rank, reduced to one place and to the iterations up to one."""
        for rank in self.ranks:
            runs = (self.first, self.second)
            first, second = (run.read_place(rank, place, iteration) for run in runs)
            yield self._pair(first, second)

    def _pair(
        self, first: DeepTrace, second: DeepTrace, known_weights: Set[str] = frozenset()
    ) -> Pair:
        last = self.last
        if last is not None:
            first, second = (
                replace(trace, seen=tuple(fact for fact in trace.seen if fact.iteration <= last))
                for trace in (first, second)
            )
        ranks = max(len(self.first.ranks), len(self.second.ranks))
        return Pair(first, second, ranks=ranks, known_weights=known_weights)


def read_pairs(folder: Path, deeper: DeeperPair) -> Pairs:
    """Return the ranks of the first two runs; no ranks if there are fewer than two runs."""
    if len(deeper.runs) < 2:
        return Pairs(first=DeepRun({}), second=DeepRun({}))
    first, second = (read_deep(folder, run) for run in deeper.runs[:2])
    have_ranks = first.have_ranks and second.have_ranks
    if not have_ranks and len(second.ranks) > 1:
        from reprocheck.trace import read_run
        from reprocheck.verdict import partners

        # processes without ranks stand under the numbers of their partners in the first run
        reference, run = (read_run(folder, record) for record in deeper.runs[:2])
        numbers, _ = partners(run, reference, Tolerance())
        second = second.under(numbers)
    last = deeper.iterations if deeper.of_check else None
    return Pairs(first=first, second=second, last=last)


def rank_of(pair: Pair) -> Rank:
    """Return what differs on each rung of a rank."""
    grouped: defaultdict[RungName, list[Difference]] = defaultdict(list)
    for difference in pair.differences:
        grouped[difference.rung].append(difference)
    findings = {rung: _DESCRIBE[rung](pair, differences) for rung, differences in grouped.items()}
    # the generators are asked about what is drawn up to the next rung that differs
    behind = [finding.number for rung, finding in findings.items() if rung in _BEHIND_STATES]
    end = min(behind, default=-1)
    drawn = generators.drawn(pair, end) or drawn_around(pair, findings, end)
    used: tuple[str, ...] = ()
    if drawn is not None:
        findings["RNG state"] = drawn
        used = generators_of(drawn.evidence).names
    earliest = _earliest(findings)
    if earliest is not None:
        findings = _behind(findings, earliest)
        unused = tuple(generators.unused(pair, max(end, 0), used))
        findings[earliest.rung] = replace(earliest, unused_generators=unused)
    return Rank(number=pair.rank, findings=findings, kept=kept(pair, _first(findings)))


def _earliest(findings: Mapping[RungName, Finding]) -> Finding | None:
    return min(findings.values(), key=lambda finding: finding.order, default=None)


def _first(findings: Mapping[RungName, Finding]) -> Finding | None:
    """Return the earliest finding, or a gross one in its iteration that rounding cannot cause."""
    earliest = _earliest(findings)
    if earliest is None or earliest.size != "rounding":
        return earliest
    gross = [one for one in findings.values() if one.size == "gross"]
    # rungs on which a difference does not follow from rounding in the same iteration
    of_origin = {"hyper-parameters", "initial weights", "RNG state", "batch"}
    origins = [one for one in gross if one.rung in of_origin]
    in_time = [one for one in origins if one.when[0] <= earliest.when[0]]
    return min(in_time, key=lambda finding: finding.order, default=earliest)


def _behind(findings: Mapping[RungName, Finding], first: Finding) -> dict[RungName, Finding]:
    """Return the findings, given the first difference.

    A finding that can be a consequence of the first difference is not explained, as that would
    blame a victim.
    """
    explained = dict(findings)
    for rung, finding in findings.items():
        follows = finding.order >= first.order
        if finding.rank != first.rank:
            # ranks meet where gradients are reduced
            meets = rung in {"reduced gradient", "update"} and finding.when > first.when
            follows = meets or finding.when[0] > first.when[0]
        blames = finding is not first and finding.statement.blames
        if follows and blames and rung in _CONSEQUENCES:
            rank = None if finding.rank == first.rank else first.rank
            consequence = Consequence(place=finding.place, first=first.rung, rank=rank)
            explained[rung] = replace(finding, statement=consequence)
    return explained


def leads(rank: Rank) -> tuple[tuple[int, int], int]:
    """Return a sort key for ranks: the lowest iteration first, then the lowest rung.

    The order of execution is not known across ranks.
    """
    first = rank.first
    assert first is not None
    return first.when, rank.number


def earliest(ranks: Sequence[Rank], name: RungName) -> Finding | None:
    """Return the finding on a rung, of the rank on which it occurs in the lowest iteration.

    With several ranks, the finding holds rank -> iteration for all of them.
    """
    findings = [rank.findings[name] for rank in ranks if name in rank.findings]
    first = min(findings, key=lambda finding: (finding.when[0], finding.rank), default=None)
    if first is None or len(ranks) < 2:
        return first
    return replace(first, iterations={finding.rank: finding.iteration for finding in findings})
