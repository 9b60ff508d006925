"""Keeps a training's values at a boundary, and puts them back into a resumed run.

That confirms what the resume has lost.

Only in a check that explains a resume: `keep` and `put_back` of the recorder.
"""

from __future__ import annotations

import json
import os
from collections import deque

from ..deep_levels.tensor_files import Codec, Room
from ..recorder.hooking import guarded
from .state_holders import BATCH, GENERATORS, Slots, of_the_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Mapping

    from .state_holders import Holder, Values

_AHEAD = 16
"""Batches that a loader may have handed out before the first forward pass that uses one of them."""
NOT_KEPT = "the continued run has kept nothing of it that can be put back here"
NO_LOADER = (
    "no loader hands the batches out, and the script makes them before anything can be put back"
)
_NAMED = 20
"""Names of what was put back that are written for each rung."""


def of(recorder: Any) -> Keeping | PuttingBack | None:
    """Return what the settings of a process ask for: a `Keeping`, a `PuttingBack` or None."""
    if recorder.keep:
        return Keeping(recorder, recorder.keep)
    if recorder.put_back:
        return PuttingBack(recorder, recorder.put_back)
    return None


class _Values:
    """The shared part of both sides: the parts of a training, and how values are written."""

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
        """Return the name of this rank's file with the values before an iteration."""
        return "state-%d-%d" % (self._rank(), iteration)

    def index(self) -> str:
        """Return the name of the file that lists the batches of this rank."""
        return "batches-%d.jsonl" % self._rank()

    def _turn(self, name: str) -> int:
        """Return how many steps were given something of this name before."""
        number = self._turns.get(name, 0)
        self._turns[name] = number + 1
        return number

    def _given(self, name: str, number: int) -> str:
        """Return the name of the file of what a step was given."""
        return "given-%d-%s-%d" % (self._rank(), name, number)

    def _look(self) -> None:
        for look in self.on_pass:
            look()

    def _rank(self) -> int:
        return int(self.recorder.world[0] or 0)

    def generators(self) -> list[Holder]:
        """Return those parts that are generators."""
        return [holder for holder in self.holders if holder.rung == GENERATORS]

    def unavailable(self, rung: str, why: str) -> None:
        """Record that something could not be kept or put back."""
        why = self.recorder.redacted(why)[:300]
        self.recorder.emit({"e": "unavailable", "c": rung, "why": why})


class Keeping(_Values):
    """The continued run: writes its values at each boundary, and the batches after it."""

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
        """Note that a loader begins to hand out its data."""
        self._look()
        self.passes[loader] = [holder.take() for holder in self.generators()]

    @guarded("keeping what a training holds")
    def at_boundary(self, iteration: int) -> None:
        """Write the values before a forward pass that follows a checkpoint."""
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
        """Keep what a step of the training is given of these rungs, such as a batch.

        Returns None, as nothing is given in its place.
        """
        number = self._turn(name)
        if self.writing:
            self._put(read(), self._given(name, number))

    def next(self, loader: str, real: Callable[[], Any]) -> Any:
        """Return the next batch of a loader."""
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
        """Keep the states of generators before and after a batch, which may be the first due."""
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
    """A resumed run: puts back the kept values before its first forward pass.

    rungs of the ladder across the gap: what is put back batches where they begin: see
    `docs/reference/trace-format.md` beside names of values that have no `state_dict` and are put
    back
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
        """Set the generators as they were when the continued run began the open pass.

        A loader begins to hand out its data.
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
        """Put the values back before the first forward pass."""
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

        It is None where that was not kept, or none of these rungs is to be put back.
        """
        if self.rungs.isdisjoint(rungs):
            return None
        if self._start is None:
            self._start = self._read()["turns"]
        number = self._start.get(name, 0) + self._turn(name)
        path = os.path.join(self.folder, self._given(name, number))
        return self.codec.read(path) if os.path.exists(path) else None

    def acted(self, rung: str, names: list[str]) -> None:
        """Record that a step was given the continued run's values; `names` had other ones."""
        self._reached.add(rung)
        self._tell(rung, names)

    def _ended(self) -> None:
        """Write at the end which values no step was given."""
        for rung in sorted(self.by_step.keys() & self.rungs - self._reached):
            self.unavailable(rung, self.by_step[rung])

    def next(self, loader: str, real: Callable[[], Any]) -> Any:
        """Return the next batch of a loader.

        It is that of the continued run, from the batch on that the first forward pass is given.
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
        """Return the batch of the continued run that is due; None for those that are skipped."""
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
        """Return the batches of the continued run from the first that is due."""
        with open(os.path.join(self.folder, self.index()), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        wanted = self.batches["of"]
        lines = [line for line in lines if line["loader"] in wanted]
        for place, line in enumerate(lines):
            first = [line["loader"], line["number"]] == self.batches["start"]
            if first and line["kind"] == "batch":
                return lines[place:]
        return []
