"""Describe findings from the losses and from how runs ended.

Why the verdict is what it is, and what must be known beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.statement import Statement
from reprocheck.model.trace import CheckKind
from reprocheck.model.verdict import Bitwise, Comparison, Divergence, SeriesComparison


@dataclass(frozen=True, kw_only=True, slots=True)
class OfRanks(Statement):
    """Base class of statements about some of the ranks.

    `ranks` is empty if all runs have one rank only.
    """

    ranks: tuple[int, ...] = ()


# ---- a row, or the first divergence


@dataclass(frozen=True, kw_only=True, slots=True)
class RankOfOneRun(Statement):
    """A rank that run `recorded` has and run `lacking` has not."""

    rank: int
    recorded: int
    lacking: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RankInOneRunOnly(Statement):
    """The runs diverge because only one of them has a rank."""

    rank: int
    run: int


@dataclass(frozen=True, kw_only=True, slots=True)
class WithoutPartner(Statement):
    """Only one of two runs has a loss.

    `own` and `reference`: the number of iterations, or of losses in the iteration, in the run and
    in run 1.
    """

    of: Literal["iterations", "losses"]
    iteration: int
    run: int
    own: int
    reference: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherNumber(OfRanks):
    """An iteration holds `number` losses in a run and `reference` in run 1.

    `before_update`: only the losses before the first update count, which is so in the first
    iteration.
    """

    iteration: int
    run: int
    number: int
    reference: int
    before_update: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class TooFew(OfRanks):
    """A run does not have the iteration that a check needs; `stopped`: reprocheck ended the run."""

    run: int
    recorded: int
    iteration: int
    stopped: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class NothingToCheck(OfRanks):
    """A run without a loss that a check can take.

    lacks      any loss; one before the first update; one behind an update: as no update changed the
               weights, as they stayed the same from loss to loss, as none was seen behind the one
               that changed them, or behind the first
    recorded   iterations
    unchanged  updates that did not change the weights
    stopped    we ended it
    """

    lacks: Literal[
        "any", "before update", "change", "other weights", "behind a change", "behind first change"
    ]
    run: int
    recorded: int
    unchanged: int = 0
    stopped: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherDtype(Statement):
    """A loss that has another dtype than in run 1."""

    run: int
    dtype: str
    reference_dtype: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BeyondDoubles(Statement):
    """Two losses that differ, but are equal as doubles.

    Each in full: `shown`, and `other` of run 1.
    """

    run: int
    shown: str
    other: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NeitherFinite(Statement):
    """A loss that is NaN or infinite in a run and in run 1."""

    iteration: int
    run: int
    value: float
    reference: float


# ---- the reason


@dataclass(frozen=True, kw_only=True, slots=True)
class LossesDiffer(Statement):
    """The forward or the backward check fails, with its worst row.

    `ranks`: how many ranks the runs have.
    """

    row: Comparison
    ranks: int
    forward_agrees: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement(Statement):
    """The forward and the backward check agree.

    runs, iterations, ranks  how many runs, iterations and ranks were compared
    backward                 the iteration of the backward check
    largest                  the row with the largest difference relative to what is allowed
    """

    runs: int
    iterations: int
    ranks: int
    backward: int
    largest: Comparison
    bitwise: Bitwise
    divergence: Divergence | None
    series: tuple[SeriesComparison, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class NotCompared(Statement):
    """Nothing can be compared.

    why         run `run` was interrupted, or its recording breaks off, before both checks; no
                process of it reported; it gave `log_loss` what is no number; it imported no
                framework, or some and no loss was seen; there is no second run
    says        of a recording that breaks off, or of what is no number: why
    frameworks  that the run imported
    """

    why: Literal[
        "interrupted", "broken", "no process", "no number", "no framework", "no loss", "one run"
    ]
    run: int = 0
    says: Statement | str = ""
    frameworks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class NotMade(Statement):
    """A check that could not be made."""

    kind: CheckKind
    why: Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class SilentRanks(OfRanks):
    """Ranks of the `world` of a run that reported nothing."""

    run: int
    world: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NeverTogether(Statement):
    """Rank `late` of a run began to train only after rank `stopped` had been ended at its stop."""

    run: int
    late: int | None
    stopped: int | None


# ---- how runs ended


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEnding(Statement):
    """How a run ended; two endings are equal if the runs ended in the same way at the same place.

    seconds                whole seconds until the run was stopped
    status                 the exit status, or the number of the signal
    says                   the error, or what the script said of its command line
    iteration, unfinished  the last iteration, and whether it was under way; 0 if not stated
    """

    how: Literal["timed out", "interrupted", "unknown", "signal", "error", "status"]
    seconds: float = 0.0
    status: int = 0
    says: str = ""
    iteration: int = 0
    unfinished: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class RunsFailed(Statement):
    """Runs failed or took too long.

    runs, endings  the runs that failed, and how each ended
    of             how many runs there are
    lost           the ranks that ended first, or are behind
    checks_made    whether the forward and the backward check could be made; then `equal` says
                   whether the losses are equal in every bit, and `leaves_in` in which iteration
                   they leave the tolerance
    """

    runs: tuple[int, ...]
    endings: tuple[RunEnding, ...]
    of: int
    lost: Statement | None
    checks_made: bool
    equal: bool | None
    leaves_in: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LostRank:
    """A rank that ended too early.

    iteration, unfinished  the last iteration of the rank, and whether it was under way; 0 before
                           the first loss
    error                  the error that ended the rank; "" if the rank was only asked to end
    exited                 whether the Python interpreter of the rank came to its exit
    """

    rank: int
    iteration: int
    unfinished: bool
    error: str
    exited: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class LostOnNode:
    """The ranks of one machine (node) that ended too early.

    node     the number of the machine, if it has one
    ended    the ranks that ended; only the one that ended first if that was `seen`
    first    whether no other rank ended before
    after    ranks that were seen to end afterwards
    waiting  ranks that had not ended when reprocheck ended the run; `last`: the iteration they
             reached
    """

    node: int | None
    ended: tuple[LostRank, ...]
    seen: bool = False
    first: bool = False
    after: tuple[int, ...] = ()
    waiting: tuple[int, ...] = ()
    last: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class RanksLost(Statement):
    """Ranks that ended too early, machine by machine."""

    nodes: tuple[LostOnNode, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class RanksBehind(OfRanks):
    """Ranks that recorded least, up to iteration `last`, while no rank ended.

    The other ranks of `world` came to iteration `furthest`.
    """

    world: int
    last: int
    furthest: int


@dataclass(frozen=True, kw_only=True, slots=True)
class UnevenRanks(Statement):
    """Numbers of recorded iterations, the largest first, with the ranks that have so many."""

    lengths: tuple[tuple[int, tuple[int, ...]], ...]


# ---- the caveats


@dataclass(frozen=True, kw_only=True, slots=True)
class LoosePass(Statement):
    """A pass within the tolerance that is not equal in every bit, from `iteration` on."""

    iteration: int | None
    ulp: int | None
    dtype: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class WideTolerance(Statement):
    """The allowed difference is large relative to the loss."""

    kind: CheckKind
    run: int
    reference: float
    allowed: float


@dataclass(frozen=True, kw_only=True, slots=True)
class NotFiniteFrom(Statement):
    """The first loss of run 1 that is NaN or infinite."""

    iteration: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EndedOtherwise(Statement):
    """A run did not come to its planned end."""

    run: int
    ending: RunEnding
    recorded: int
    lost: Statement | None


@dataclass(frozen=True, kw_only=True, slots=True)
class RanksOfRun(Statement):
    """Remarks about the ranks of a run that went well otherwise."""

    run: int
    ranks: Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class BreaksOff(OfRanks):
    """A recording that breaks off while the training went on."""

    run: int
    closed: int
    why: Statement | str


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightsNotSeen(OfRanks):
    """Whether updates change the weights is not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepSkipped(OfRanks):
    """A gradient scaler skipped a step."""

    run: int
    iteration: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherFirstChange(OfRanks):
    """The weights first change in another iteration (`own`; None: in none) than in run 1."""

    run: int
    own: int | None
    reference: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LateCheck(OfRanks):
    """The backward check of run 1 is made later than on iteration 2.

    unchanged  how many earlier updates did not change the weights
    passes     how many losses come from the same weights, if no update was seen
    """

    iteration: int
    unchanged: int
    passes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherLength(OfRanks):
    """A run has another number of iterations than run 1."""

    run: int
    own: int
    reference: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedAsSet(OfRanks):
    """Trainings of which none knows which is which of another run."""
