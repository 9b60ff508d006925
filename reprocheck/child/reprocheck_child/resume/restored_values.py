"""Keeps a training's values at a boundary, and puts the values back into a resumed run.

If a resumed run then agrees with the continued run, the resume is confirmed to have lost those
values.

Loaded only in a check that explains a resume: `keep` and `put_back` of the recorder.
"""

from __future__ import annotations

import json
import os
from collections import deque

from ..deep_levels import generator_states
from ..deep_levels.tensor_files import Codec, Room
from ..recorder.hooking import guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Collection, Iterable, Iterator, Mapping, Protocol

    Values = dict[str, Any]
    Slot = tuple[str, Callable[[], Any], Callable[[Any], object]]

    class Holder(Protocol):
        """Read and write one part of a training, such as the weights.

        rung  kind of the values; the rungs of the ladder stand in the order in which a run needs
              them
        """

        rung: str

        def take(self) -> Values:
            """Return all values of the part by name.

            They must be written at once, because the training changes them.
            """

        def put(self, values: Values) -> list[str]:
            """Put the values back; return the names of the values that differed before."""


WEIGHTS, OPTIMIZER = "weights", "optimizer state"
SCHEDULES, GENERATORS, BATCH = "hyper-parameters", "RNG state", "batch"


def same_states(first: Any, second: Any) -> bool:
    """Return whether two states of random generators, or two numbers, are the same."""
    return _text(first) == _text(second)


class Slots:
    """Read and write the values of one kind one by one.

    rung  kind of the values, such as `RNG state`
    each  returns (name, reader, writer) of each value
    same  returns whether two values are the same in every bit
    only  names of the values that are put back; None: all
    """

    def __init__(
        self,
        rung: str,
        each: Callable[[], Iterable[Slot]],
        same: Callable[[Any, Any], bool] = same_states,
        only: Collection[str] | None = None,
    ) -> None:
        self.rung = rung
        self.each = each
        self.same = same
        self.only = only

    def take(self) -> Values:
        """Return all of the values."""
        return {name: read() for name, read, _ in self.each()}

    def put(self, values: Values) -> list[str]:
        """Write the kept values that differ from the present ones; return their names."""
        changed = []
        wanted = values.keys() if self.only is None else values.keys() & self.only
        for name, read, write in list(self.each()):
            if name in wanted and not self.same(read(), values[name]):
                write(values[name])
                changed.append(name)
        return changed


def of_the_host() -> Iterator[Slot]:
    """Yield the states of the generators of Python and NumPy that all code shares.

    The methods of the generators are used, because the functions of the modules, such as
    `random.setstate`, are watched as calls of the script.
    """
    python, numpy = generator_states.python(), generator_states.numpy()
    if python is not None:
        yield "python", python.getstate, python.setstate
    if numpy is not None:
        yield "numpy", numpy.get_state, numpy.set_state


def _text(state: Any) -> str:
    """Return a generator's state as text without omissions; `repr` would shorten an array."""
    if isinstance(state, tuple):
        return repr([_text(part) for part in state])
    if hasattr(state, "numpy"):
        state = state.numpy()
    return repr(state.tobytes() if hasattr(state, "tobytes") else state)


_AHEAD = 16
"""Batches that a loader may have handed out before the first forward pass that uses one of them."""
NOT_KEPT = "the continued run has kept nothing of it that can be put back here"
NO_LOADER = (
    "no loader hands the batches out, and the script makes them before anything can be put back"
)
_NAMED = 20
"""Names of what was put back that are written for each rung."""


def of(recorder: Any) -> Keeping | PuttingBack | None:
    """Return a `Keeping` or a `PuttingBack`, as the settings ask for; None for neither."""
    if recorder.keep:
        return Keeping(recorder, recorder.keep)
    if recorder.put_back:
        return PuttingBack(recorder, recorder.put_back)
    return None


class _Values:
    """Share the parts of a training, and the names of files, for `Keeping` and `PuttingBack`."""

    puts = False
    """Whether this is the side that puts something back."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.codec = Codec()
        self.holders: list[Holder] = [Slots(GENERATORS, of_the_host)]
        """Adapters add theirs."""
        self.on_pass: list[Callable[[], None]] = []
        """Called where a loader begins to hand out its data."""
        self.by_step: dict[str, str] = {}
        """Rungs of what each step of the training is given anew, with what is said where none was;
        adapters add theirs.
        """
        self._turns: dict[str, int] = {}  # name -> how many steps were given something of it

    def file(self, iteration: int) -> str:
        """Return the name of the file that holds this rank's values before an iteration."""
        return "state-%d-%d" % (self._rank(), iteration)

    def index(self) -> str:
        """Return the name of the file that lists the batches of this rank."""
        return "batches-%d.jsonl" % self._rank()

    def _turn(self, name: str) -> int:
        """Return how many earlier steps were given something of this name, and count this step.

        name  what the step is given, such as the name of a loader
        """
        number = self._turns.get(name, 0)
        self._turns[name] = number + 1
        return number

    def _given(self, name: str, number: int) -> str:
        """Return the name of the file that holds what a step of the training was given.

        name    what the step was given, such as the name of a loader
        number  number of the step, from 0
        """
        return "given-%d-%s-%d" % (self._rank(), name, number)

    def _look(self) -> None:
        for look in self.on_pass:
            look()

    def _rank(self) -> int:
        return int(self.recorder.world[0] or 0)

    def generators(self) -> list[Holder]:
        """Return those parts of the training that are states of random generators."""
        return [holder for holder in self.holders if holder.rung == GENERATORS]

    def unavailable(self, rung: str, why: str) -> None:
        """Record that values could not be kept or put back.

        rung  kind of the values, such as `weights`
        why   the reason
        """
        why = self.recorder.redacted(why)[:300]
        self.recorder.emit({"e": "unavailable", "c": rung, "why": why})


class Keeping(_Values):
    """Write the values of the continued run at each boundary, and the batches after it."""

    def __init__(self, recorder: Any, request: Mapping[str, Any]) -> None:
        super().__init__(recorder)
        self.room = Room(str(request["folder"]), int(request["most"]))
        self.passes: dict[str, list[Values]] = {}
        self.recent: deque[dict[str, Any]] = deque(maxlen=_AHEAD)
        self.counts: dict[str, int] = {}
        self.writing = False
        self.full = False

    @guarded("keeping the states of generators")
    def pass_begins(self, loader: str) -> None:
        """Keep the states of the random generators when a loader begins to hand out its data."""
        self._look()
        self.passes[loader] = [holder.take() for holder in self.generators()]

    @guarded("keeping what a training holds")
    def at_boundary(self, iteration: int) -> None:
        """Write the values of the training before the first forward pass after a checkpoint."""
        turns = dict(self._turns)
        state: dict[str, Any] = {"passes": self.passes, "turns": turns, "held": []}
        for holder in self.holders:
            state["held"].append((holder.rung, holder.take()))
        self._put(state, self.file(iteration))
        self.writing = True
        while self.recent:
            self._write(self.recent.popleft())

    @guarded("keeping what a step is given")
    def step(self, name: str, rungs: Iterable[str], read: Callable[[], Any]) -> None:
        """Write what a step of the training is given, such as a batch.

        Return None, because the step gets its own values.

        name   what the step is given
        rungs  kinds of these values, such as `batch`
        read   returns the values
        """
        number = self._turn(name)
        if self.writing:
            self._put(read(), self._given(name, number))

    def next(self, loader: str, real: Callable[[], Any]) -> Any:
        """Return the next batch of a loader, and keep a copy of the batch.

        real  the loader's own function that makes the next batch
        """
        states = self._states()
        try:
            batch = real()
        except StopIteration:
            self._hand(loader, "end", None, [states, None])
            raise
        self._hand(loader, "batch", batch, [states, self._states()])
        return batch

    @guarded("keeping the states of generators")
    def _states(self) -> list[Values]:
        """Return the states of all random generators, to be kept with a batch."""
        return [holder.take() for holder in self.generators()]

    @guarded("keeping a batch")
    def _hand(self, loader: str, kind: str, batch: Any, states: Any) -> None:
        number = self.counts.get(loader, 0)
        self.counts[loader] = number + (kind == "batch")
        line = {"loader": loader, "number": number, "kind": kind, "batch": (states, batch)}
        if self.writing:
            self._write(line)
            return
        from copy import deepcopy

        # what it holds may be changed in place before it is written
        self.recent.append({**line, "batch": (states, deepcopy(batch))})

    def _write(self, line: dict[str, Any]) -> None:
        name = "batch-%d-%d-%d" % (
            self._rank(),
            sorted(self.counts).index(line["loader"]),
            line["number"],
        )
        batch = line.pop("batch")
        if line["kind"] == "batch" and not self._put(batch, name):
            return
        with open(self.room.path(self.index()), "a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "file": name}) + "\n")

    def _put(self, value: Any, name: str) -> bool:
        if self.full:
            return False
        try:
            fits = self.room.put(self.codec, value, name)
        except OSError as error:
            self.full = True
            self.unavailable("values", "it cannot be kept: %s" % error)
            return False
        if not fits:
            self.full = True
            self.unavailable("values", "it takes more room than is allowed")
        return fits


class PuttingBack(_Values):
    """Put the kept values back into a resumed run before its first forward pass.

    rungs    kinds of values that are put back, such as `weights` or `RNG state`
    batches  at which batches of the two runs the continued run's batches begin: see
             `docs/reference/trace-format.md`
    beside   names of values that have no `state_dict` and are put back
    """

    puts = True

    def __init__(self, recorder: Any, request: Mapping[str, Any]) -> None:
        super().__init__(recorder)
        self.folder = str(request["folder"])
        self.iteration = int(request["iteration"])
        self.rungs = frozenset(request["rungs"])
        self.batches: Mapping[str, Any] = request.get("batches") or {}
        self.beside = frozenset(request.get("beside", ()))
        self.counts: dict[str, int] = {}
        self.queue: deque[dict[str, Any]] | None = None
        self.began = False
        self._state: Any = None
        self._start: Mapping[str, int] | None = None
        """Name -> how many steps of the continued run had been given something at the boundary."""
        self._told: set[tuple[str, str]] = set()
        self._reached: set[str] = set()  # rungs of which a step was given something
        recorder.on_end.append(self._ended)

    @guarded("putting back the states of generators")
    def pass_begins(self, loader: str) -> None:
        """Set the random generators when a loader begins to hand out its data.

        They get the states that they had when the continued run began its pass over the data.
        """
        if self.began or GENERATORS not in self.rungs:
            return
        passes = self._read()["passes"]
        only = next(iter(passes.values())) if len(passes) == 1 else None
        state = passes.get(loader, only)
        if state is None:
            return
        self._look()
        self._put_generators(state)

    @guarded("putting back what a training holds")
    def at_boundary(self, iteration: int) -> None:
        """Put the kept values back before the first forward pass of the resumed run."""
        self.began = True
        missing = {*self.rungs} - self.by_step.keys()
        if self.queue is not None:
            missing.discard(BATCH)
        with guarded("reading what was kept", tell=self._unread):
            for holder, (rung, values) in zip(self.holders, self._read()["held"]):
                if rung == holder.rung and rung in self.rungs:
                    missing.discard(rung)
                    self.acted(rung, holder.put(values))
        self._state = None
        for rung in sorted(missing):
            untold = rung == BATCH and not self.batches
            self.unavailable(rung, NO_LOADER if untold else NOT_KEPT)

    def _unread(self, _: str, error: Exception) -> None:
        for rung in sorted(self.rungs - {BATCH}):
            self.unavailable(rung, "%s: %r" % (NOT_KEPT, error))

    def _read(self) -> Any:
        if self._state is None:
            self._state = self.codec.read(os.path.join(self.folder, self.file(self.iteration)))
        return self._state

    def _tell(self, rung: str, names: list[str]) -> None:
        for name in names[:_NAMED]:
            if (rung, name) not in self._told:
                self._told.add((rung, name))
                self.recorder.emit({"e": "control", "c": rung, "w": name, "n": 1})

    @guarded("what a step of the continued run was given")
    def step(self, name: str, rungs: Iterable[str], read: Callable[[], Any]) -> Any:
        """Return what the same step of the continued run was given.

        The result is None if nothing was kept, or if none of `rungs` is to be put back.

        name   what the step is given
        rungs  kinds of these values, such as `batch`
        """
        if self.rungs.isdisjoint(rungs):
            return None
        if self._start is None:
            self._start = self._read()["turns"]
        number = self._start.get(name, 0) + self._turn(name)
        path = os.path.join(self.folder, self._given(name, number))
        return self.codec.read(path) if os.path.exists(path) else None

    def acted(self, rung: str, names: list[str]) -> None:
        """Write into the trace that values of the continued run were put back.

        rung   the kind of state they belong to, such as the generators or the order of samples
        names  the values that the resumed run would have computed otherwise
        """
        self._reached.add(rung)
        self._tell(rung, names)

    def _ended(self) -> None:
        """Record at the end of the run which kinds of values no step was given."""
        for rung in sorted(self.by_step.keys() & self.rungs - self._reached):
            self.unavailable(rung, self.by_step[rung])

    def next(self, loader: str, real: Callable[[], Any]) -> Any:
        """Return the next batch of a loader.

        From the batch of the first forward pass on, it is the batch of the continued run.

        real  the loader's own function that makes the next batch
        """
        item = self._due(loader)
        if item is None or BATCH not in self.rungs:
            return real()
        if item["kind"] == "end":
            raise StopIteration
        try:
            came = real()  # what it draws is drawn
        except StopIteration:
            came = None
        try:
            (_, after), batch = self.codec.read(os.path.join(self.folder, item["file"]))
        except Exception as error:
            self.unavailable(BATCH, repr(error))
            return came
        if after is not None and not self.began and GENERATORS in self.rungs:
            # the batch that was made here may be another one, and draw other numbers
            self._put_generators(after)
        self.acted(BATCH, ["batch %d of %s" % (item["number"], item["loader"])])
        return batch

    @guarded("handing out a batch of the continued run")
    def _due(self, loader: str) -> dict[str, Any] | None:
        """Return the entry of the continued run's batch that is due; None for the loader's own."""
        if loader not in self.batches.get("to", {}):
            return None
        number = self.counts.get(loader, 0)
        self.counts[loader] = number + 1
        if self.queue is None and number >= self.batches["to"][loader]:
            self.queue = deque(self._listed()) or None
            if self.queue and not self.began and GENERATORS in self.rungs:
                # the first batch that is due is drawn from these generators
                (before, _), _ = self.codec.read(os.path.join(self.folder, self.queue[0]["file"]))
                self._put_generators(before)
        if not self.queue:
            return None
        return self.queue.popleft()

    def _put_generators(self, states: list[Values]) -> None:
        for holder, state in zip(self.generators(), states):
            self._tell(GENERATORS, holder.put(state))

    def _listed(self) -> list[dict[str, Any]]:
        """Return the entries of the continued run's batches from the first that is due."""
        with open(os.path.join(self.folder, self.index()), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        wanted = self.batches["of"]
        lines = [line for line in lines if line["loader"] in wanted]
        for place, line in enumerate(lines):
            first = [line["loader"], line["number"]] == self.batches["start"]
            if first and line["kind"] == "batch":
                return lines[place:]
        return []
