"""The result model: what was started, what was recorded, what was decided. Frozen dataclasses without behaviour.

Imports the standard library only. `docs/reference/report-json.md` documents the JSON that is made of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

SCHEMA_VERSION = 1

VerdictName = Literal["reproducible", "not_reproducible", "inconclusive", "script_failed", "timed_out"]
CheckKind = Literal["forward", "backward"]
Ended = Literal["completed", "stopped", "failed", "timed_out", "interrupted"]

EXIT_CODE: Mapping[VerdictName, int] = {
    "reproducible": 0,
    "not_reproducible": 1,
    "inconclusive": 3,
    "script_failed": 4,
    "timed_out": 5,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryPoint:
    """What the user asked to run. `command` is started as it stands, `name` names the report folder."""

    command: tuple[str, ...]
    kind: Literal["script", "module", "command"]
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Tolerance:
    """`numpy.allclose` bounds: |a - b| <= atol + rtol * |b|, b of run 1."""

    rtol: float = 1e-3
    atol: float = 1e-3


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """A setting, its value and where the value came from (`default`, `reprocheck.toml`, `REPROCHECK_STEPS`, `--steps`…)."""

    name: str
    value: object
    origin: str


# ---------------------------------------------------------------------------------------------------------------- record


@dataclass(frozen=True, kw_only=True, slots=True)
class FileChanges:
    """Paths relative to the working directory, sorted: what a run did to the tree. `folders` are those that it made."""

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """What the launcher knows of one run. Paths are relative to the report folder.

    `exit_status` is the return code, negative for a signal, None where the process could not be waited for.
    """

    number: int
    ended: Ended
    exit_status: int | None
    started: str
    seconds: float
    trace: str
    stdout: str
    stderr: str
    files: FileChanges = field(default_factory=FileChanges)
    killed: int = 0
    """Processes that were still alive when the entry point had ended and were killed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeeperPair:
    """Two runs recorded again at a deeper level. Their folders are `LEVEL/run-1` and `LEVEL/run-2` in the report folder.

    `iterations`: how many were recorded; `inside`: the module whose operators were recorded at level `op` (empty: all of them).
    """

    level: Literal["module", "op"]
    iterations: int
    runs: tuple[RunRecord, ...]
    inside: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckRecord:
    """`record.json`: what the parent process knows of a check. With the traces beside it, every report can be drawn again."""

    reprocheck_version: str
    entry_point: EntryPoint
    started: str
    tolerance: Tolerance
    settings: tuple[Setting, ...]
    runs: tuple[RunRecord, ...]
    environment: Mapping[str, object] = field(default_factory=dict)
    changed_to_observe: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    deeper: tuple[DeeperPair, ...] = ()
    schema_version: int = SCHEMA_VERSION


# ---------------------------------------------------------------------------------------------------------------- trace


@dataclass(frozen=True, kw_only=True, slots=True)
class LossSeries:
    """The losses of one rank in columns, so that a million iterations cost about 25 MB.

    values   array('d'), every loss in order, exact (every loss dtype in use fits a double)
    dtype_of array('B'), index into `dtypes`, one a loss
    ends     array('q'), ends[i] = number of losses in iterations 1 … i+1
    """

    values: array[float] = field(default_factory=lambda: array("d"))
    dtype_of: array[int] = field(default_factory=lambda: array("B"))
    dtypes: tuple[str, ...] = ()
    ends: array[int] = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        """Number of iterations."""
        return len(self.ends)

    def span(self, iteration: int) -> tuple[int, int]:
        """Half-open range of loss indexes of an iteration (from 1)."""
        return (self.ends[iteration - 2] if iteration > 1 else 0, self.ends[iteration - 1])

    def losses(self, iteration: int) -> array[float]:
        """The losses of an iteration (from 1), in order."""
        start, end = self.span(iteration)
        return self.values[start:end]

    def dtype(self, index: int) -> str:
        """The dtype name of the loss at `index` (from 0), such as `float32`."""
        return self.dtypes[self.dtype_of[index]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """The losses that a check takes: half-open range [start, end) of loss indexes, all within `iteration` and before it."""

    kind: CheckKind
    iteration: int
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Process:
    """One process of a run that said hello, training or not."""

    pid: int
    ppid: int
    argv: tuple[str, ...]
    python: str
    name: str
    rank: int | None = None
    ended: bool = False
    """True if it reached its interpreter's exit or stopped itself; False if it was killed or left by `os._exit`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """What one rank recorded, grouped into iterations.

    `forward`/`backward` are None where the losses for that check were not recorded.
    `weights_seen` is False where no weight could be fingerprinted: then an update is taken to be a real one, with a caveat.
    `unchanged_updates` counts the updates before the backward check that changed no weight.
    """

    rank: int
    process: Process
    losses: LossSeries
    forward: Checked | None
    backward: Checked | None
    unchanged_updates: int = 0
    weights_seen: bool = True
    skipped: tuple[int, ...] = ()
    unordered: tuple[int, ...] = ()
    stopped_at: int | None = None
    frameworks: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, object] = field(default_factory=dict)
    changed_to_observe: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    cut: bool = False
    """True if the trace ends in mid-line: the process was killed while it wrote."""
    unfinished: bool = False
    """True if the last iteration had not closed when the trace ended: losses or updates of it may be missing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One run as recorded: the launcher's record, and the traces of its ranks in rank order."""

    record: RunRecord
    traces: tuple[Trace, ...]
    processes: tuple[Process, ...]
    opened: tuple[str, ...] = ()
    """Files in the working directory that the run opened for reading before it wrote them itself, sorted."""
    environment: Mapping[str, object] = field(default_factory=dict)
    stdout_tail: str = ""
    stderr_tail: str = ""
    frameworks: Mapping[str, str] = field(default_factory=dict)
    changed_to_observe: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """These four: of all processes of the run, training or not, without repetition."""

    @property
    def number(self) -> int:
        """Number of the run, from 1; run 1 is the reference."""
        return self.record.number


# ---------------------------------------------------------------------------------------------------------------- verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """One loss list of one rank of one run against run 1 in one of the two checks: a row of `checks` in report.json.

    Numbers are those of the element with the largest difference against what is allowed. `passed` is None where it could not be made.
    """

    iteration: int
    kind: CheckKind
    run: int
    rank: int
    loss_index: int | None
    passed: bool | None
    max_difference: float | None
    allowed: float | None
    ulp: int | None
    reference: float | None = None
    value: float | None = None
    detail: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bitwise:
    """Whether all recorded losses of all runs are equal in every bit; else the first iteration that is not, and by how many ULP."""

    equal: bool | None
    first_iteration: int | None = None
    ulp: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Divergence:
    """The first loss outside the tolerance over all recorded iterations."""

    iteration: int
    run: int
    rank: int
    reference: float | None
    value: float | None
    detail: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeGroup:
    """Runs whose losses are equal in every bit."""

    runs: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LossStatistics:
    """Mean and sample standard deviation over the runs of one iteration's loss (sum of its list) of rank `rank`."""

    iteration: int
    rank: int
    mean: float
    standard_deviation: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcomes:
    """N runs grouped by bitwise outcome, and what the sample can exclude.

    `bound`: exact one-sided 95 % bound on the share of runs that differ from run 1, 1 - 0.05^(1/(N-1)) when none differed.
    `statistics` holds the first 1,000 iterations.
    """

    groups: tuple[OutcomeGroup, ...]
    bound: float | None
    statement: str
    statistics: tuple[LossStatistics, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What the criterion says of the runs. `reason` is one sentence; `title` is in the words of the documentation."""

    verdict: VerdictName
    failed_check: CheckKind | None
    reason: str
    exit_code: int
    comparisons: tuple[Comparison, ...]
    bitwise: Bitwise
    first_divergence: Divergence | None
    outcomes: Outcomes
    caveats: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """`REPRODUCIBLE`, `NOT REPRODUCIBLE (forward)`, `INCONCLUSIVE`…"""
        words = self.verdict.replace("_", " ").upper()
        return f"{words} ({self.failed_check})" if self.verdict == "not_reproducible" else words

    @property
    def largest(self) -> Comparison | None:
        """The comparison with the largest difference against what is allowed."""
        made = [row for row in self.comparisons if row.max_difference is not None and row.allowed is not None]
        return max(made, key=lambda row: (row.max_difference or 0.0) - (row.allowed or 0.0), default=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentDifference:
    """One fact of the environment that is not the same in a run as in run 1."""

    key: str
    run: int
    reference: object
    value: object


# ---------------------------------------------------------------------------------------------------------------- why

RungName = Literal[
    "environment",
    "files and arguments",
    "hyper-parameters",
    "initial weights",
    "RNG state",
    "batch",
    "forward",
    "loss",
    "gradient",
    "reduced gradient",
    "update",
    "later",
]
RUNGS: tuple[RungName, ...] = get_args(RungName)
"""The ladder, in the order in which things happen."""

RungStatus = Literal["equal", "differs", "not_recorded"]
Size = Literal["rounding", "gross"]
Confidence = Literal["observed", "confirmed", "suspected"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceLine:
    """A line of the user's code. `file` is relative to the working directory where it lies in it; `text` is the line as it was."""

    file: str
    line: int
    text: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rung:
    """One rung of the ladder. The fields below `status` describe the first difference on this rung, in execution order.

    iteration  from 1; None for what is not of an iteration
    place      module, parameter, file, hyper-parameter or loader
    culprit    what made the difference: the operation between the last place that agrees and `place`; None where that is not known
    size       rounding-level (about 1e-6 relative) or gross; None where values are not numbers
    relative_difference  ||a - b|| / ||b||, estimated; None where it cannot be
    detail     one sentence
    facts      what rules and causes ask of it, by name (see docs/reference/ladder.md)
    """

    rung: RungName
    status: RungStatus
    iteration: int | None = None
    rank: int | None = None
    place: str | None = None
    culprit: str | None = None
    size: Size | None = None
    relative_difference: float | None = None
    detail: str = ""
    source: SourceLine | None = None
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ladder:
    """Where the runs first part. `rungs` holds all of RUNGS in their order; `first` is the one that differs first, None if none does.

    level   the deepest level recorded: `module` or `op`
    runs    the two runs compared (numbers within the deeper pair)
    came_back   False where the deeper pair agreed although the first had not: an intermittent difference
    sentence  one sentence a person understands: where, when, and what that means
    coverage  what could not be recorded, and what graph or compiled code hides
    """

    rungs: tuple[Rung, ...]
    first: RungName | None
    level: str = "module"
    came_back: bool = True
    sentence: str = ""
    coverage: tuple[str, ...] = ()

    def rung(self, name: RungName) -> Rung:
        """The rung of that name."""
        return next(rung for rung in self.rungs if rung.rung == name)

    @property
    def first_rung(self) -> Rung | None:
        """The rung that differs first."""
        return self.rung(self.first) if self.first else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """An entry of the catalogue (`reprocheck.rules`), with what speaks for it. `fix` is code or a command to paste, or one sentence."""

    code: str
    title: str
    confidence: Confidence
    evidence: tuple[str, ...] = ()
    source: SourceLine | None = None
    fix: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """N runs and their comparison: everything a report shows."""

    record: CheckRecord
    runs: tuple[Run, ...]
    verdict: Verdict
    environment_differences: tuple[EnvironmentDifference, ...] = ()
    state_left: tuple[str, ...] = ()
    """Files that run 1 created or changed and a later run opened."""
    changed_to_observe: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    coverage: tuple[str, ...] = ()
    ladder: Ladder | None = None
    causes: tuple[Cause, ...] = ()
    """Best first."""

    @property
    def stopped_early(self) -> int | None:
        """Iteration at which run 1 was stopped, None where it ran to its end."""
        stops = [trace.stopped_at for run in self.runs for trace in run.traces if trace.stopped_at is not None]
        return min(stops, default=None)
