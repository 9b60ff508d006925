"""The recorder of one process: it takes facts and writes JSON lines.

A value that still lies on a device is queued and read one iteration later; events behind it wait.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from time import time_ns

from ..process import peer_processes
from ..shared.iterations import BACKWARD, LOG
from ..shared.regular_stretch import Regular
from . import current_recorder, early_stop, samples
from .lines import exact_text, loss_line, update_line
from .process_trace import ProcessTrace
from .series import Series
from .writer import nothing_gathered

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping

    from ..process.threads import Threads

    Reading = tuple[list[float], str | list[str]]
    Deferred = Callable[[bool], str | None]
    # called with `wait`; returns the line of an event, or None while its value is not there and
    # `wait` is False


REGULAR_AFTER = 3
"""Iterations alike after which a regular stretch begins."""

_modules = sys.modules


def nothing_awaited() -> None:
    """Do nothing: this run does not wait for a snapshot."""


def nothing_to_do(place: str) -> None:
    """Do nothing when a loader begins an epoch: this run does not count epochs."""


class Recorder(ProcessTrace):
    """Write the events of this process, and group them into iterations.

    All methods are safe in threads and never raise.
    """

    thread = staticmethod(get_ident)

    def __init__(self, folder: str, settings: Mapping[str, Any]) -> None:
        super().__init__(folder, settings)
        self.stop_wait = float(settings.get("stop_wait", 60))
        self.begin = int(settings.get("begin") or 1)
        """The first iteration that is recorded deeply, where a framework can be left alone until
        then.
        """
        self.before_iteration: Callable[[], None] | None = None
        """Called before the first loss of an iteration is recorded, without a lock: it may wait."""
        self.before_going_on: Callable[[], None] = nothing_awaited
        """Called once the recorder is ready, before the script goes on: waits for what
        `before_iteration` has asked for.
        """
        self.epoch_began: Callable[[str], None] = nothing_to_do
        """Told by adapters whenever a loader begins to hand out its data, with its place."""
        self.keep: Mapping[str, Any] = settings.get("keep") or {}
        self.put_back: Mapping[str, Any] = settings.get("put_back") or {}
        """Where the values are kept that a training holds at a boundary, and which of them are put
        back: see `restored_values`.
        """
        self.on_event: list[Callable[[], None]] = []
        """Called after each loss and each update that was written."""
        self.inside = str(settings.get("inside") or "")
        """Path of the module that level `op` records, empty for everything."""
        self.sought: Mapping[str, Any] = settings.get("values") or {}
        """The operator whose inputs are to be kept, value by value; empty for none."""
        self.workdir = str(settings.get("workdir") or "")
        self.savers: Any = None
        """Watches what saves checkpoints, in a check of a resume: see `archives`."""
        self.deep: Any = None
        """What writes the facts of the deeper levels, once an adapter needs it: see `facts.of`."""
        self.readers: dict[str, Callable[[Any], bool]] = {}
        self.series = Series(self)
        self._last_pattern: tuple[str, ...] | None = None
        self._token: Any = None
        # nothing else is in the session that this process is in
        self._in_session = bool(settings.get("session"))

    def stop_after(self, iteration: int) -> None:
        """Set the last iteration that is recorded."""
        self._last_step = float(iteration)

    def goes_deeper(self) -> bool:
        """Return whether a framework that was just imported is recorded at a deeper level.

        The deeper level holds for the whole run (`module`, `op`) or its first iterations (`auto`).
        At level `auto` the first call enters the deeper level.
        """
        if self.level != "auto":
            return self.deeper
        if self.first is None:
            from .first_iterations import FirstIterations

            self.first = FirstIterations(self)
        return not self.first.left

    def stay_shallow(self, why: str) -> None:
        """Leave the deeper level at level `auto`.

        why  why the training cannot be recorded at level `module` first and left alone later
        """
        if self.goes_deeper() and self.first is not None:
            self.first.leave(why)

    def leave_level(self, why: str) -> None:
        """Record only losses from here on, because level `auto` has left level `module`.

        why  the reason, "" if the checks have all iterations that they need
        """
        with self._lock:
            self.before_line("")
            self.before_line = nothing_gathered
            # a loss that closed its iteration by itself stands before the gradients of that
            closed = max(0, self.grouping.closed - self.grouping.closed_by_loss)
            self.emit({"e": "left", "i": closed, "why": why})
            if self._training:
                self._file.map()

    def optimizer(self, name: str) -> int:
        """Record a new optimizer of class `name`, and return its index in this process."""
        with self._lock:
            self._leave_regular()
            self._look_at_task()
            index = len(self._names)
            self._names.append(name)
            self.grouping.optimizer(index)
            self.emit({"e": "optimizer", "o": index, "class": name})
            return index

    def loss(
        self,
        values: list[float],
        dtype: str | list[str],
        kind: str = BACKWARD,
        numel: int = 1,
        thread: str | None = None,
    ) -> None:
        """Record the losses of one backward pass: the tensors from which it starts.

        May stop the process.

        values  the losses
        dtype   dtype of all losses, or a list with the dtype of each
        kind    where the losses were seen, such as a backward pass or `log_loss`
        numel   number of elements of the tensor
        thread  name of the thread that ran the pass, "" for the main thread; None: the calling
                thread
        """
        if thread is None:
            thread = self._thread_name()
        self._loss(len(values), kind, thread, loss_line(values, dtype, kind, numel, thread))

    def scalar(self, value: float, dtype: str, kind: str, token: Any = None) -> None:
        """Record one scalar loss, as most losses are, in the fastest way.

        token  stands for the dtype if an adapter asks `regular` itself
        """
        regular = self.regular
        if (
            regular is not None
            and kind == regular.kind
            and dtype == regular.dtype
            and regular.loss(value)
        ):
            return
        first = self._pattern is None and get_ident() == self._main
        self.loss([value], dtype, kind)
        self._pattern = (kind, dtype) if first else ()
        self._token = token

    def later(
        self,
        count: int,
        read: Callable[[bool], Reading | None],
        kind: str = BACKWARD,
        numel: int = 1,
    ) -> None:
        """Record losses that still lie on a device.

        May stop the process.

        `read(wait)` returns `count` values and their dtype once they have arrived.
        """
        thread = self._thread_name()

        def line(wait: bool) -> str | None:
            reading = read(wait)
            if reading is None:
                return None
            values, dtypes = reading
            return loss_line(values, dtypes, kind, numel, thread)

        self._loss(count, kind, thread, line)

    def update(self, index: int, changed: bool | Callable[[bool], bool | None] | None) -> None:
        """Record that optimizer `index` has stepped.

        May stop the process.

        changed  whether the weights changed; None if they were not compared, or a function that
                 tells once
                 the answer has arrived from a device
        """
        regular = self.regular
        if (
            regular is not None
            and changed is None
            and (regular.update(index) or self._sampled(regular, index))
        ):
            return
        if self._enough:
            self._go_on()
            return
        thread = self._thread_name()
        if self._threads is not None and self._are_over(thread, index):
            self._stop()
            return
        with self._lock:
            self._leave_regular()
            self.grouping.update(index, changed if isinstance(changed, bool) else None)
            closed = len(self.grouping.ends)
            number = closed
            if self._threads is not None:
                number = self._count_in_thread(self._threads, thread, index) or closed
            self._slow_update(changed, (index, number, thread))
            self._drain(closed)
            self._tell()
            self._sample(closed)
            self._enter_regular(index, closed)
        if closed >= self._last_step:
            self._stop()

    def _sample(self, closed: int) -> None:
        """Write the clock and the memory after an iteration, at ever rarer ones."""
        if closed >= self._next_sample:
            self._next_sample = samples.after(closed)
            self.emit(samples.sample(closed))

    def _sampled(self, regular: Regular, index: int) -> bool:
        """Take a sample in a regular stretch that stops at this update for it.

        Return False if the stretch stops for something else.
        """
        before = self.grouping.closed
        if before + regular.losses < self._next_sample or get_ident() != self._main:
            return False
        regular.limit = min(self._last_step, samples.after(before + regular.losses)) - before
        if not regular.update(index):
            return False
        self._sample(before + regular.losses)
        return True

    def _tell(self) -> None:
        for look in self.on_event:
            look()

    def _enter_regular(self, index: int, closed: int) -> None:
        """Begin a regular stretch after an update, if the last iterations were alike.

        In a stretch, each iteration is one loss and one update of optimizer `index`, and each
        further update must close an iteration.
        """
        pattern, self._pattern = self._pattern or (), None
        again, self._last_pattern = pattern == self._last_pattern, pattern
        self._alike = self._alike + 1 if pattern and again else 0
        if self._alike < REGULAR_AFTER or self._queue or self._watching:
            return
        alone = self._worker is None and get_ident() == self._main and not self._in_threads
        if not (alone and self.shallow and self.grouping.regular(index)):
            return
        kind, dtype = pattern
        first = self._in_column
        try:
            self.regular = Regular(
                self._column,
                first,
                index,
                kind,
                dtype,
                self._token,
                min(self._last_step, self._next_sample) - closed,
            )
        except OSError:  # no room, or no shared mappings here: each loss stays a line
            self._alike = 0
        else:
            self.emit({"e": "regular", "o": index, "k": kind, "d": dtype, "i": closed, "s": first})

    def _leave_regular(self) -> None:
        """End a regular stretch, and count its losses and updates in the grouping."""
        regular = self.regular
        if regular is None:
            return
        self._close_regular()
        for number in range(regular.losses):
            self.grouping.loss(1, regular.kind)
            if number < regular.updates:
                self.grouping.update(regular.index, None)

    def _slow_update(
        self, changed: bool | Callable[[bool], bool | None] | None, which: tuple[int, int, str]
    ) -> None:
        if callable(changed):
            self._put(self._change_line(changed, which))
            return
        if changed:
            self._watching = False
        self._line(update_line(changed, *which))

    def _change_line(
        self, read: Callable[[bool], bool | None], which: tuple[int, int, str]
    ) -> Deferred:
        def line(wait: bool) -> str | None:
            changed = read(wait)
            if changed is None and not wait:
                return None
            self._watching = self._watching and not changed
            return update_line(changed, *which)

        return line

    def moved(self) -> None:
        """Record that weights changed without an update having been reported."""
        with self._lock:
            self._leave_regular()
            self._watching = False
            self.grouping.moved()
            self.emit({"e": "moved"})

    def still(self) -> None:
        """Record that weights have not changed since the last backward pass."""
        with self._lock:
            self._leave_regular()
            self.grouping.still()
            self.emit({"e": "still"})

    def looked(self, changed: bool) -> None:
        """Record whether the weights have changed since the last backward pass."""
        if changed:
            self.moved()
        else:
            self.still()

    def skip(self) -> None:
        """Record that a gradient scaler skipped a step."""
        with self._lock:
            self._leave_regular()
            self.grouping.skip()
            self.emit({"e": "skip"})

    @property
    def optimizers(self) -> int:
        """Return how many optimizers were built."""
        return len(self._names)

    def watching(self) -> bool:
        """Return whether weights still have to be compared by their fingerprints.

        They have to until an update was seen that really changed weights.
        """
        return self._watching

    @property
    def iteration(self) -> int:
        """Return the number of the open iteration, else of the last closed one.

        The result is 0 before the first loss.
        """
        if self.regular is not None:
            return self.grouping.closed + self.regular.losses
        return self.grouping.begun

    def later_line(self, read: Deferred) -> None:
        """Write a line once its value has arrived from a device, and end a regular stretch.

        A regular stretch ends because nothing in it asks whether a value has arrived.
        """
        with self._lock:
            self._leave_regular()
            self._put(read)

    def log(self, value: Any) -> None:
        """Record one loss that the script passes to `reprocheck.log_loss`."""
        reader = self.readers.get(type(value).__module__.split(".")[0])
        if reader is None or not reader(value):
            item = getattr(value, "item", lambda: value)()
            dtype = str(getattr(value, "dtype", "float64")).rsplit(".", 1)[-1].lower()
            float(item)  # what is no number is not recorded
            if type(item) is int and exact_text(item):
                dtype = "int"
            self.loss([item], dtype, LOG)

    def _loss(self, count: int, kind: str, thread: str, line: str | Deferred) -> None:
        if self._enough and self._worker is None:
            self._go_on()
            return
        if self._threads is not None and self._are_over(thread):
            self._stop()
            return
        had_begun, self.waiting = bool(self.waiting), 0
        if self.before_iteration is not None and not (had_begun or self.grouping.under_way):
            self.before_iteration()
            self.before_going_on()
        with self._lock:
            self._leave_regular()
            self._look_at_task()
            if self._enough:
                return
            self._pattern = ()
            if not self._training:
                try:
                    self.training()
                except Exception as error:
                    self.problem("describing the environment", error)
            self.grouping.loss(count, kind, thread)
            if self._threads is not None:
                self._threads.loss(thread, is_update=self.grouping.closed_by_loss)
            if isinstance(line, str):
                self._line(line)
            else:
                self._put(line)
            self._tell()
            if self.grouping.closed_by_loss:
                self._sample(len(self.grouping.ends))
        if len(self.grouping.ends) >= self._last_step:
            self._stop()

    def _stop(self) -> None:
        """Stop after the last iteration that is recorded, or record nothing further."""
        if self._finished or self._enough or self._others_train():
            return
        if (self.world[0] is not None or not self._in_session) and self._worker is None:
            self._leave()
            return
        peer_processes.reached(self.folder)
        peers = peer_processes.Peers(self.folder, self.stop_wait)
        if self._worker is None and peers.left_behind(at_once=True):
            self._leave()
            return
        with self._lock:
            self._close_regular()
            self._drain(None)
            self._account()
            self.emit({"e": "enough", "i": self._last_iteration})
            self._enough = self._muted = True
            self._peers = peers

    def _count_in_thread(self, threads: Threads, thread: str, index: int) -> int:
        """Count an update; return how many updates this optimizer has made.

        The result is 0 as long as only the main thread trains.
        """
        number = threads.update(thread, index)
        if number and threads.trainings.several():
            from ..shared.trainings import SEVERAL

            self.stay_shallow(SEVERAL)
        return number

    def _are_over(self, *members: str | int) -> bool:
        """Return whether the training of a thread or optimizer has reached the early stop.

        members  names of threads and indices of optimizers
        """
        threads = self._threads
        return threads is not None and not threads.over(self._last_step).isdisjoint(members)

    def _others_train(self) -> bool:
        """Return whether another thread or task may still train before the early stop.

        Such a training has not reached the stop, or may yet begin. If each rank has only one
        training, nothing is waited for, because all ranks stop at the same iteration.
        """
        threads = self._threads
        if threads is None:
            return False
        if self.world[0] is not None and not threads.trainings.several():
            return False
        return not threads.all_over(self._last_step)

    def _go_on(self) -> None:
        """End this process once the other processes have reached their early stop, too.

        Until then the script goes on unrecorded. A worker of a pool never ends here, because the
        pool would wait for its task for ever.
        """
        if self._worker is None and self._peers is not None and self._peers.left_behind():
            self._unmute()
            self._leave()

    def _leave(self) -> None:
        if self._finished:
            return
        self._finished = True
        with self._lock:
            if not self._enough:
                self._drain(None)
                self._account()
            self.emit({"e": "stop", "i": self._last_iteration, "time": time_ns() / 1e9})
            self._file.close()
        early_stop.leave(self.folder, self.world, self.stop_wait)

    def _thread_name(self) -> str:
        """Return the name of the calling thread or asynchronous task; "" for the main thread."""
        loops = _modules.get("_asyncio")
        in_loop = loops is not None and loops._get_running_loop() is not None
        if not in_loop and get_ident() == self._main:
            return ""
        from ..process.threads import Threads  # without the lock: another import may wait for that

        with self._lock:
            if self._threads is None:
                self._threads = Threads()
            return self._threads.name()


def log(values: Mapping[str, Any]) -> None:
    """Record numbers of the script as series: see `reprocheck.log`."""
    if current_recorder.RECORDER is not None:
        current_recorder.RECORDER.series.add_all(values)


def log_loss(value: Any) -> None:
    """Record a loss of the script: see `reprocheck.log_loss`."""
    recorder = current_recorder.RECORDER
    if recorder is None:
        return
    try:
        recorder.log(value)
    except Exception as error:
        recorder.problem("log_loss", error)
