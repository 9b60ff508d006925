"""Read one trace file.

The losses in columns, the iterations, and all other facts of the process.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import isnan
from pathlib import Path
from typing import Any

from msgspec import ValidationError, convert

from reprocheck.child.reprocheck_child.shared.iterations import (
    COUNTED,
    COUNTED_FROM_HERE,
    IGNORED,
    Grouping,
)
from reprocheck.child.reprocheck_child.shared.marks import LOST
from reprocheck.child.reprocheck_child.shared.regular_stretch import stored
from reprocheck.files.limits import MOST_RANKS, VALUE, TooMuchError, content, too_large
from reprocheck.model import Checked, LossSeries
from reprocheck.model.mirrors import FACTS, AnyFact
from reprocheck.model.statement import Statement
from reprocheck.model.statements.trace import (
    Incomplete,
    LinesLeftOut,
    NewerFormat,
    NoSuchRank,
    TraceBreaksOff,
    Unreadable,
)
from reprocheck.trace import events
from reprocheck.trace.events import Loss, Update
from reprocheck.trace.lines import LONGEST_EXACT, code_of, number
from reprocheck.trace.series import Columns

PLAIN = (str, int, float, type(None))
"""Values of facts of the environment: whatever is nested was not written by a recorder."""
NODE = "node"
"""Before the number of a machine, in front of the names of its traces."""
MOST_SAMPLES = 10_000
MOST_FACTS, MOST_FILES, MOST_TOUCHES, MOST_SENTENCES = 5_000, 100_000, 50_000, 1_000
MOST_GIVEN = 20_000
LONGEST_SENTENCE = 5_000
"""Facts of the environment, files opened, what controls did, sentences, and facts for mirrors that
are kept of one process. What comes after is left out, and counted: a recording that somebody else
made must not take more memory than its size explains.
"""


@dataclass(slots=True)
class Recorded:
    """Hold the content of one trace file.

    `values` and `dtype_of` are columns with one entry for each loss that counts: its value, and the
    code of its dtype in `dtypes`.
    """

    process: events.Process
    name: str = ""
    """The name of the file without its suffix."""
    grouping: Grouping = field(default_factory=Grouping)
    values: array[float] = field(default_factory=lambda: array("d"))
    dtype_of: array[int] = field(default_factory=lambda: array("B"))
    dtypes: dict[str, int] = field(default_factory=dict)
    exact: dict[int, str] = field(default_factory=dict)
    """Losses that a double does not hold, by their place."""
    rank: int | None = None
    world: int | None = None
    in_threads: bool = False
    """Whether a loss or an update came from another thread than the main one, or from a task."""
    training: tuple[str, ...] = ()
    """Of one of several trainings in a process: what tells it from the others."""
    identity: tuple[int, ...] = ()
    task: str = ""
    executor: str = ""
    """What the workers of its executor share, in this run."""
    origin: tuple[str, ...] = ()
    """Where it comes from, of a process whose rank was given here."""
    began: float | None = None
    """When it had its first loss, in Unix seconds."""
    left: float | None = None
    """When it stopped itself."""
    over: float | None = None
    """When it stopped itself or reached its interpreter's exit."""
    program: str = ""
    frameworks: dict[str, str] = field(default_factory=dict)
    environment: dict[str, object] = field(default_factory=dict)
    opened: list[events.Open] = field(default_factory=list)
    wrote: dict[str, str] = field(default_factory=dict)
    inputs: list[events.Input] = field(default_factory=list)
    variables: list[events.Variable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    caveats: list[Statement | str] = field(default_factory=list)
    problems: list[Statement | str] = field(default_factory=list)
    controls: list[events.OfControls] = field(default_factory=list)
    given: list[AnyFact] = field(default_factory=list)
    series: Columns = field(default_factory=Columns)
    samples: list[events.Sample] = field(default_factory=list)
    stopped_at: int | None = None
    deep: bool = False
    """Whether its training was recorded at level `module` too, as level `auto` does."""
    left_after: int | None = None
    """The iteration after which that level was left, 0 where it was never entered."""
    left_because: str = ""
    ended: bool = False
    error: str = ""
    failed_at: str = ""
    cut: bool = False
    broken: Statement | str = ""
    """Why lines are missing in it; "" where it is whole."""
    broken_after: int | None = None
    """The last iteration before them."""
    column: array[float] = field(default_factory=lambda: array("d"))
    """The losses of all regular stretches."""
    in_stretches: int = 0
    """How many of them belong to stretches that have ended."""
    stretch: events.Regular | None = None
    """The regular stretch under way."""
    left_out: int = 0
    """Events beyond what is kept of one process."""
    refused: str = ""
    """Why what `log_loss` was given is no loss; "" where it was one."""

    def keep_writer(self, event: events.Wrote) -> None:
        """Keep the line of the script that wrote a path first, and no later one."""
        path = event.p[:LONGEST_SENTENCE]
        if path in self.wrote:
            return
        if len(self.wrote) < MOST_FILES:
            self.wrote[path] = event.l[:LONGEST_SENTENCE]
        else:
            self.left_out += 1

    def keep(self, kept: list[Any], item: object, most: int) -> None:
        """Add `item` to the list `kept`; of a long sentence only the beginning.

        most  the number of entries of `kept` from which on items are only counted, in `left_out`
        """
        if len(kept) >= most:
            self.left_out += 1
        elif isinstance(item, str):
            kept.append(item[:LONGEST_SENTENCE])
        else:
            kept.append(item)

    @property
    def node(self) -> int | None:
        """Return the number N of the machine, from a trace name `nodeN-PID-NANOSECONDS`.

        It is None for a run that was not put together from the runs of several machines.
        """
        first = self.name.partition("-")[0].removeprefix(NODE)
        if not self.name.startswith(NODE) or not first.isdecimal():
            return None
        return int(first)

    def breaks(self, why: Statement | str) -> None:
        """Note that lines of the trace are missing after those that were read so far.

        why  the reason, as a statement or sentence of the report
        """
        if self.broken_after is None:
            _end_stretch(self, events.Irregular(u=False))
            self.broken, self.broken_after = why, self.grouping.closed
            self.problems.append(TraceBreaksOff(why=why))

    @property
    def trained(self) -> bool:
        """Return whether the process recorded a loss or an update."""
        return bool(self.grouping.losses or self.grouping.ends)


def read_process(path: Path) -> Recorded:
    """Read one trace file in whatever state the file is; unreadable parts become problems."""
    recorded = Recorded(process=events.Process(), name=path.stem)
    reading = events.Reading()
    try:
        column = path.with_suffix(".losses")
        if column.exists():
            why = too_large(column)
            if why:
                recorded.problems.append(Unreadable(left_alone=why))
            else:
                recorded.column = stored(content(column))
                reading.budget.add(column)
        for chunk in events.read(path, reading):
            before = len(recorded.values)
            take(recorded, chunk)
            reading.budget.spend(len(recorded.values) - before, VALUE, "losses")
        _end_stretch(recorded, events.Irregular(u=False))
        if reading.cut:
            recorded.breaks(Incomplete(kind="last line"))
        if path.with_suffix(LOST).exists():
            recorded.breaks(Incomplete(kind="not written"))
    except TooMuchError as error:
        recorded.breaks(str(error.strerror))
    except OSError as error:
        recorded.problems.append(Unreadable(error=str(error.strerror or error)))
    recorded.cut = reading.cut
    if reading.garbage:
        recorded.problems.append(LinesLeftOut(kind="no events", number=reading.garbage))
    if recorded.left_out:
        recorded.problems.append(LinesLeftOut(kind="too many", number=recorded.left_out))
    recorded.problems += unknown(recorded.process.v, reading.unknown)
    recorded.grouping.finish()
    return recorded


def unknown(version: int, kinds: Mapping[str, int]) -> list[Statement]:
    """Return statements about what this version cannot read in a trace.

    version  the version of the trace format that wrote the file
    kinds    the number of events of each kind that this version does not know
    """
    statements: list[Statement] = []
    if version > events.FORMAT_VERSION:
        statements.append(NewerFormat(version=version, known=events.FORMAT_VERSION))
    if kinds:
        names, number = tuple(sorted(kinds)), sum(kinds.values())
        statements.append(LinesLeftOut(kind="unknown", number=number, names=names))
    return statements


def loss_series(recorded: Recorded, stopped_at: int | None) -> LossSeries:
    """Return the losses of the recorded iterations, up to the early stop.

    If several threads had losses in one iteration, the losses of that iteration are sorted, because
    their order is a race.

    stopped_at  the last iteration before the early stop; None if the training was not stopped
    """
    grouping = recorded.grouping
    ends = array("q", grouping.ends)
    if stopped_at is not None and stopped_at < len(ends):
        ends = ends[:stopped_at]
    count = ends[-1] if ends else 0
    values, dtype_of = recorded.values[:count], recorded.dtype_of[:count]
    exact = {place: text for place, text in recorded.exact.items() if place < count}
    for iteration in grouping.unordered:
        if iteration <= len(ends):
            start = ends[iteration - 2] if iteration > 1 else 0
            end = ends[iteration - 1]
            # not across its updates that delimit a check
            moved = (grouping.first_end, grouping.moved_at)
            cuts = {cut for cut in moved if cut is not None and start < cut < end}
            for bounds in pairwise([start, *sorted(cuts), end]):
                _sort(values, dtype_of, exact, *bounds)
    return LossSeries(
        values=values, dtype_of=dtype_of, dtypes=tuple(recorded.dtypes), ends=ends, exact=exact
    )


def checked(grouping: Grouping, ends: array[int]) -> tuple[Checked | None, Checked | None]:
    """Return which losses the forward check and the backward check compare.

    None for a check without.

    ends  for each iteration, the number of losses up to the end of the iteration
    """
    forward = backward = None
    if ends:
        end = ends[0]
        if grouping.first_end is not None:
            end = min(grouping.first_end, end)
        if end:
            forward = Checked(kind="forward", iteration=1, start=0, end=end)
    moved_at, moved_in = grouping.moved_at, grouping.moved_in
    if moved_at is None or moved_in is None or moved_in >= len(ends):
        return forward, None
    if moved_at < ends[moved_in]:
        backward = Checked(
            kind="backward", iteration=moved_in + 1, start=moved_at, end=ends[moved_in]
        )
    return forward, backward


def take(recorded: Recorded, chunk: list[events.AnyEvent]) -> None:
    """Add a chunk of events to what was recorded, in the order of the trace.

    Losses and updates are handled in this function, because most events are of these two kinds.
    """
    grouping, values, dtype_of = recorded.grouping, recorded.values, recorded.dtype_of
    count_loss, update = grouping.loss, grouping.update
    usual, code = next(iter(recorded.dtypes.items()), (None, 0))
    for event in chunk:
        if type(event) is Loss:
            losses = event.v
            if event.t:
                recorded.in_threads = True
            answer = count_loss(len(losses), event.k, event.t)
            if answer == COUNTED_FROM_HERE:
                del values[:], dtype_of[:]
                recorded.exact.clear()
            if answer == IGNORED:
                continue
            if event.d == usual and len(losses) == 1 and type(losses[0]) is float and not event.x:
                values.append(losses[0])
                dtype_of.append(code)
            else:
                _append(recorded, event)
        elif type(event) is Update:
            update(event.o, event.c)
            if event.t:
                recorded.in_threads = True
        else:
            _take_other(recorded, event)


def _take_other(recorded: Recorded, event: events.AnyEvent) -> None:
    """Add an event that is neither a loss nor an update."""
    if isinstance(event, events.OF_DEEPER_LEVELS):
        return  # read elsewhere
    match event:
        case events.Series():
            recorded.left_out += not recorded.series.take(event)
        case events.Regular():
            recorded.stretch = event
        case events.Irregular():
            _end_stretch(recorded, event)
        case events.Moved():
            recorded.grouping.moved()
        case events.Still():
            recorded.grouping.still()
        case events.Skip():
            recorded.grouping.skip()
        case events.Optimizer():
            recorded.grouping.optimizer(event.o)
        case events.Open():
            recorded.keep(recorded.opened, event, MOST_FILES)
        case events.Wrote():
            recorded.keep_writer(event)
        case events.Input():
            recorded.keep(recorded.inputs, event, MOST_FILES)
        case events.Variable():
            recorded.keep(recorded.variables, event, MOST_FACTS)
        case events.Control() | events.Override() | events.Conflict():
            recorded.keep(recorded.controls, event, MOST_TOUCHES)
        case events.Unavailable() | events.Patched() | events.Seeding() | events.Drawn():
            recorded.keep(recorded.controls, event, MOST_TOUCHES)
        case events.Sample():
            recorded.keep(recorded.samples, event, MOST_SAMPLES)
        case events.Note():
            recorded.keep(recorded.notes, event.text or event.code, MOST_SENTENCES)
        case events.Caveat():
            recorded.keep(recorded.caveats, event.text or event.code, MOST_SENTENCES)
        case events.Problem():
            take_problem(recorded, event)
        case _:
            _take_state(recorded, event)


def _take_state(recorded: Recorded, event: events.AnyEvent) -> None:
    """Add an event that describes the process itself, such as its rank, framework or end."""
    match event:
        case events.Process():
            recorded.process = event
            _take_world(recorded, event)
        case events.Rank():
            _take_world(recorded, event)
        case events.Origin():
            recorded.identity, recorded.task = tuple(event.identity), event.task
            recorded.executor, recorded.began = event.executor, event.time
        case events.Program():
            recorded.program = event.f
        case events.Framework():
            _take_framework(recorded, event)
        case events.Environment():
            _take_environment(recorded, event)
        case events.Deep():
            recorded.deep = True
        case events.Given():
            _take_given(recorded, event)
        case events.Left():
            recorded.left_after, recorded.left_because = event.i, event.why
        case events.Enough():
            recorded.stopped_at = event.i
        case events.Broken():
            recorded.breaks(event.why)
        case events.Stop():
            recorded.ended, recorded.left, recorded.over = True, event.time, event.time
            if recorded.stopped_at is None and event.i >= 0:
                recorded.stopped_at = event.i
        case events.Exit():
            recorded.ended, recorded.over = True, event.time
            recorded.error, recorded.failed_at = event.error, event.l


def _take_given(recorded: Recorded, event: events.Given) -> None:
    """Keep a fact for mirrors; one of another form is left out, and counted."""
    try:
        recorded.keep(recorded.given, convert(event.v, FACTS[event.k]), MOST_GIVEN)
    except (KeyError, ValidationError):
        recorded.left_out += 1


def _end_stretch(recorded: Recorded, event: events.Irregular) -> None:
    """Add the losses of a regular stretch that ends.

    An update follows each loss of the stretch but the last; these updates are not written in the
    trace.
    """
    stretch, recorded.stretch = recorded.stretch, None
    if stretch is None:
        return
    # each stands for one loss, whatever a trace says
    begin = max(stretch.s, recorded.in_stretches)
    losses = recorded.column[begin : None if event.n is None else begin + max(event.n, 0)]
    recorded.in_stretches = begin + len(losses)
    if event.n is not None and len(losses) < event.n:
        missing = LinesLeftOut(kind="losses", number=event.n - len(losses))
        recorded.keep(recorded.problems, missing, MOST_SENTENCES)
    count_loss, update = recorded.grouping.loss, recorded.grouping.update
    for place, value in enumerate(losses):
        if place:
            update(stretch.o, None)
        if count_loss(1, stretch.k) == COUNTED:
            recorded.values.append(value)
            recorded.dtype_of.append(code_of(recorded.dtypes, stretch.d))
    if losses and event.u:
        update(stretch.o, None)


def _append(recorded: Recorded, event: Loss) -> None:
    losses, dtype = event.v, event.d
    names = [dtype] * len(losses) if isinstance(dtype, str) else dtype
    # as many as there are losses
    names = [*names, *["unknown"] * len(losses)]
    for place, text in enumerate(event.x[: len(losses)], start=len(recorded.values)):
        if 0 < len(text) <= LONGEST_EXACT:
            recorded.exact[place] = text
    for value, name in zip(losses, names, strict=False):
        recorded.values.append(number(value))
        recorded.dtype_of.append(code_of(recorded.dtypes, name))


def _sort(
    values: array[float], dtype_of: array[int], exact: dict[int, str], start: int, end: int
) -> None:
    texts = [exact.pop(place, "") for place in range(start, end)]
    losses = sorted(
        zip(values[start:end], dtype_of[start:end], texts, strict=True),
        key=lambda loss: (isnan(loss[0]), loss),
    )
    values[start:end] = array("d", (value for value, _, _ in losses))
    dtype_of[start:end] = array("B", (code for _, code, _ in losses))
    exact.update({start + place: text for place, (_, _, text) in enumerate(losses) if text})


def _take_framework(recorded: Recorded, event: events.Framework) -> None:
    if len(recorded.frameworks) >= MOST_SENTENCES:
        recorded.left_out += 1
        return
    recorded.frameworks[event.name] = event.version
    for hook, state in event.hooks.items():
        if state != "ok":
            problem = f"{event.name} {event.version}: {hook}: {state}"
            recorded.keep(recorded.problems, problem, MOST_SENTENCES)


def _take_world(recorded: Recorded, event: events.Process | events.Rank) -> None:
    """Keep the rank and the number of ranks, unless they are impossibly large or negative."""
    world = event.world
    if world is None:
        world = recorded.world
    if max(world or 0, event.rank or 0) > MOST_RANKS or min(world or 0, event.rank or 0) < 0:
        recorded.problems.append(NoSuchRank(rank=event.rank, world=event.world))
        return
    recorded.rank, recorded.world = event.rank, world


def _take_environment(recorded: Recorded, event: events.Environment) -> None:
    for key, value in event.facts.items():
        too_many = len(recorded.environment) >= MOST_FACTS and key not in recorded.environment
        if too_many or not isinstance(value, PLAIN):
            recorded.left_out += 1
        else:
            recorded.environment[key] = value


def take_problem(recorded: Recorded, event: events.Problem) -> None:
    """Keep an error of the recorder itself as a problem of the process."""
    problem = event.error
    if event.where == events.LOG_LOSS:
        recorded.refused = recorded.refused or problem[:LONGEST_SENTENCE]
    if event.where:
        problem = f"{event.where}: {problem}"
    recorded.keep(recorded.problems, problem, MOST_SENTENCES)
