"""What the processes of a run recorded, grouped into iterations."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan
from posixpath import normpath
from typing import Literal

from reprocheck.model.controls import ControlTrace
from reprocheck.model.mirrors import Given
from reprocheck.model.record import RunRecord
from reprocheck.model.statement import Statement

CheckKind = Literal["forward", "backward"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LossSeries:
    """The losses of one rank in columns, so that a million iterations cost about 25 MB.

    values   array('d'), every loss in order, exact but for those in `exact`
    dtype_of array('B'), index into `dtypes`, one a loss
    ends     array('q'), ends[i] = number of losses in iterations 1 … i+1
    exact    loss index -> value, of those that a double does not hold: two hexadecimal integers,
             numerator/denominator
    """

    values: array[float] = field(default_factory=lambda: array("d"))
    dtype_of: array[int] = field(default_factory=lambda: array("B"))
    dtypes: tuple[str, ...] = ()
    ends: array[int] = field(default_factory=lambda: array("q"))
    exact: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of iterations."""
        return len(self.ends)

    def until(self, iteration: int) -> int:
        """Return the number of losses up to the end of an iteration (from 1); 0 of iteration 0."""
        if iteration < 1:
            return 0
        return self.ends[iteration - 1]

    def span(self, iteration: int) -> tuple[int, int]:
        """Return the half-open range of loss indexes of an iteration (from 1)."""
        return self.until(iteration - 1), self.until(iteration)

    def losses(self, iteration: int) -> array[float]:
        """Return the losses of an iteration (from 1), in order."""
        start, end = self.span(iteration)
        return self.values[start:end]

    def dtype(self, index: int) -> str:
        """Return the dtype name of the loss at `index` (from 0), such as `float32`."""
        return self.dtypes[self.dtype_of[index]]


LOSS_SERIES = "loss"
"""The series that the verdict is about: one of this name that a tracker is given is another one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """Numbers that the training of one rank reported itself, in the order of reporting.

    name        the name given to the tracker or the framework, such as `val_loss`
    by          the tracker or framework: `tensorboard`, `keras`, `torch`…; "" for `reprocheck.log`
    numbers     the values, each stored as an iteration with one loss
    iterations  array('q'), the iteration of the training that was under way, one per value
    steps       array('d'), the position on the tracker's own axis, one per value; NaN if not given
    """

    name: str
    by: str = ""
    numbers: LossSeries = field(default_factory=LossSeries)
    iterations: array[int] = field(default_factory=lambda: array("q"))
    steps: array[float] = field(default_factory=lambda: array("d"))

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self.iterations)

    def value(self, number: int) -> float | None:
        """Return value `number` (from 1); None behind the last."""
        if number > len(self):
            return None
        return self.numbers.values[number - 1]

    def step(self, number: int) -> float | None:
        """Return the position of value `number` (from 1) on the tracker's axis.

        None if none was given.
        """
        step = self.steps[number - 1]
        if isnan(step):
            return None
        return step


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """The losses that the forward or the backward check uses.

    The half-open range [start, end) of loss indexes, all within `iteration` and before it.
    """

    kind: CheckKind
    iteration: int
    start: int
    end: int

    @property
    def count(self) -> int:
        """Return how many losses they are."""
        return max(0, self.end - self.start)


NOT_RECORDED: Mapping[CheckKind, Checked] = {
    "forward": Checked(kind="forward", iteration=1, start=0, end=0),
    "backward": Checked(kind="backward", iteration=2, start=0, end=0),
}
"""What stands for the losses of a check that were not recorded: the iteration that it takes as a
rule, and none of its losses.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Process:
    """One process of a run that said hello, training or not."""

    pid: int
    ppid: int
    argv: tuple[str, ...]
    python: str
    name: str
    program: str = ""
    """The script of the user's that it executes, however it was started; of a process that trains,
    "" where it is not known.
    """
    rank: int | None = None
    world: int | None = None
    """The number of ranks, as it said."""
    ended: bool = False
    """True if it reached its interpreter's exit or stopped itself; False if it was killed or left
    by `os._exit`.
    """
    error: str = ""
    """The exception that ended it and that nobody caught, in one line."""
    failed_at: str = ""
    """`file:line` of the innermost line of the user's that this exception came from."""
    gone: float | None = None
    """Seconds after the start of the run at which it was seen to end; None where it was not, or
    where reprocheck ended it.
    """
    node: int | None = None
    """Of a run on several machines: the one it ran on, from 0.

    Times of two machines are never compared.
    """
    origin: tuple[str, ...] = ()
    """Of one that trained without a rank of its own: how it and its ancestors were started.

    It is known by it in every run.
    """
    in_thread: bool = False
    """Of a trace: whether it is one of several trainings in threads or tasks of the process."""
    started: float = 0.0
    began: float | None = None
    left: float | None = None
    """These three: its start, its first loss and its early stop, in Unix seconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """What clock and memory of a process were after an iteration; None where it is not known.

    iteration  0 at the end of the process
    clock   in seconds, from an unknown start; None at the end of the process
    memory  bytes that the process holds, `peak` the most that it ever held
    device  the most bytes that it ever had of its device
    """

    iteration: int
    clock: float | None = None
    memory: int | None = None
    peak: int | None = None
    device: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """What one rank recorded, grouped into iterations.

    `forward`/`backward` are None where the losses for that check were not recorded.
    `weights_seen` is False where no weight could be fingerprinted: then an update is taken to be a
    real one, with a caveat. `unchanged_updates` counts the updates before the backward check that
    changed no weight. `unchanged_passes` counts, in a training without optimizer, the backward
    passes before it that found the weights of the pass before.
    """

    rank: int
    process: Process
    losses: LossSeries
    forward: Checked | None
    backward: Checked | None
    series: tuple[Series, ...] = ()
    """What the training reported beside its losses, in the order of their first values."""
    samples: tuple[Sample, ...] = ()
    """Clock and memory after some of the iterations, in their order."""
    unchanged_updates: int = 0
    unchanged_passes: int = 0
    weights_seen: bool = True
    skipped: tuple[int, ...] = ()
    unordered: tuple[int, ...] = ()
    stopped_at: int | None = None
    deep: int = 0
    """How many iterations, from the first, hold the facts of level `module`, too."""
    left_because: str = ""
    """Why level `auto` recorded fewer of them than the checks take; empty where it did not."""
    frameworks: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, object] = field(default_factory=dict)
    changed_to_observe: tuple[str, ...] = ()
    caveats: tuple[Statement | str, ...] = ()
    problems: tuple[Statement | str, ...] = ()
    cut: bool = False
    """True if the trace ends in mid-line: the process was killed while it wrote."""
    broken: Statement | str = ""
    """Why the recording breaks off while the training went on (a full disk); "" where it does not.
    """
    unfinished: bool = False
    """True if the last iteration had not closed when the trace ended: losses or updates of it may
    be missing.
    """

    def reported(self, name: str, by: str) -> Series:
        """Return the series of this name reported to `by`; an empty series if there is none."""
        found = (one for one in self.series if (one.name, one.by) == (name, by))
        return next(found, Series(name=name, by=by))

    @property
    def closed(self) -> int:
        """The number of iterations that came to their end."""
        return len(self.losses) - self.unfinished

    def checked(self, kind: CheckKind) -> Checked:
        """Return the losses that a check uses; no losses if they were not recorded."""
        recorded = {"forward": self.forward, "backward": self.backward}
        return recorded[kind] or NOT_RECORDED[kind]


@dataclass(frozen=True, kw_only=True, slots=True)
class InputFile:
    """A file as a run found it when the run first read it.

    `time`: the last change, in Unix seconds.

    hash     the hash of the content, of some blocks if the file is large; "" if it was not read
    made     whether the run made the file itself, before the program that reads it began
    line     the user's `file:line` that first opened the file, "" if unknown
    written  the user's `file:line` that wrote the file, "" if unknown
    """

    size: int
    time: float
    hash: str = ""
    made: bool = False
    line: str = ""
    written: str = ""

    def same(self, other: InputFile) -> bool:
        """Return whether two runs read the same, as far as that was recorded."""
        return (
            (self.size, self.hash) == (other.size, other.hash)
            if self.hash and other.hash
            else self.size == other.size
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnVariable:
    """An environment variable that the program set itself.

    `line`: the user's `file:line` that set it, "" if unknown.
    """

    value: str
    line: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class FirstRead:
    """The content of a file when a run first read it.

    early: the run read the file before its first loss. line: the user's line, `file:line`, that
    opened the file; "" if unknown. at_import: a library read the file while it was imported.
    """

    size: int
    hash: str
    early: bool
    line: str = ""
    at_import: bool = False

    def alike(self, later: FirstRead) -> bool:
        """Return whether a later run read the same content, and no sooner.

        Both runs then started from the same file.
        """
        same = bool(self.hash) and (self.size, self.hash) == (later.size, later.hash)
        return same and (self.early or not later.early)


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One run as recorded: the record of the parent process, and the traces in rank order."""

    record: RunRecord
    traces: tuple[Trace, ...]
    processes: tuple[Process, ...]
    world: int = 0
    """The number of ranks, as they said; 0 where none did."""
    absent: tuple[int, ...] = ()
    """Ranks of the world that recorded neither a loss nor an update."""
    opened: tuple[str, ...] = ()
    """Files in the working directory that the run opened for reading before it wrote them itself,
    sorted.
    """
    inputs: Mapping[str, InputFile] = field(default_factory=dict)
    """Files that the run read and none of its processes wrote, as they were at the first opening,
    by name.
    """
    first_reads: Mapping[str, FirstRead] = field(default_factory=dict)
    """All files that the run read, its own among them, by name."""
    workdir: str = ""
    """The working directory, home and user masked; empty where the run does not say it.

    Names of files in it are relative to it.
    """
    level: str = ""
    """The level that the recorder was told, `auto` for instance; empty where it is not known."""
    environment: Mapping[str, object] = field(default_factory=dict)
    own_variables: Mapping[str, OwnVariable] = field(default_factory=dict)
    """Environment variables that its processes set themselves, by name."""
    controls: ControlTrace = field(default_factory=ControlTrace)
    """Of all its processes, counts added up."""
    stdout_tail: str = ""
    stderr_tail: str = ""
    frameworks: Mapping[str, str] = field(default_factory=dict)
    changed_to_observe: tuple[str, ...] = ()
    caveats: tuple[Statement | str, ...] = ()
    problems: tuple[Statement | str, ...] = ()
    """These four: of all processes of the run, training or not, without repetition."""
    given: tuple[Given, ...] = ()
    """What its processes recorded for the sake of mirrors."""
    broken: Statement | str = ""
    """Why the recording of a process of it breaks off; "" where none does."""
    refused_loss: str = ""
    """Why what the script gave `log_loss` is no loss; "" where each was one."""

    @property
    def number(self) -> int:
        """Number of the run, from 1; run 1 is the reference."""
        return self.record.number

    @property
    def last_words(self) -> str:
        """The last line that the run wrote to standard error; "" if there is none."""
        return self.stderr_tail.strip().rpartition("\n")[2].strip()

    @property
    def recorded_losses(self) -> int:
        """Return how many losses all ranks of the run recorded."""
        return sum(len(trace.losses.values) for trace in self.traces)

    @property
    def by_rank(self) -> dict[int, Trace]:
        """Its traces by rank."""
        return {trace.rank: trace for trace in self.traces}

    @property
    def longest(self) -> int:
        """The number of iterations of the rank that recorded most iterations; 0 without any."""
        return max((len(trace.losses) for trace in self.traces), default=0)

    @property
    def failed_at(self) -> str:
        """The user's `file:line` at which an exception ended the first failed process.

        "" if unknown.
        """
        return next((one.failed_at for one in self.processes if one.failed_at), "")

    def shown(self, path: str) -> str:
        """Return a path as a report shows it: relative, if it is in the working directory."""
        path = normpath(path)
        inside = f"{self.workdir.rstrip('/')}/"
        return path.removeprefix(inside) if self.workdir else path
