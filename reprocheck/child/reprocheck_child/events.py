"""The recorder of one process: numbered facts in, JSON lines out, one `os.write` a line.

It keeps private copies of what it uses, so a script that replaces `open`, `os.write` or `time.time` does not reach it, and no error of
its own reaches the script. A value that still lies on a device is queued and read one iteration later; events behind it wait.
"""

from __future__ import annotations

import fcntl
import os
import sys
from _collections import deque
from _thread import RLock, get_ident
from time import time_ns

from . import jsontext, stop
from .iterations import BACKWARD, LOG, Grouping

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping

    Reading = tuple[list[float], str | list[str]]
    Deferred = Callable[[bool], Mapping[str, Any] | None]
    # called with `wait`; returns the event, or None while the value is not there and `wait` is False


FORMAT_VERSION = 1
DESCRIPTOR_FROM = 700
"""File descriptors of traces start here, so that the script's own get the numbers that they get without a recorder."""
DEVICE_QUEUE = 256
"""Device values in flight at which the oldest is waited for."""

_open, _write, _close, _fstat, _getpid, _getppid = os.open, os.write, os.close, os.fstat, os.getpid, os.getppid
_duplicate = fcntl.fcntl

CURRENT: Recorder | None = None


class Recorder:
    """Writes the events of this process and groups them into iterations. All methods are safe in threads and never raise."""

    thread = staticmethod(get_ident)

    def __init__(self, folder: str, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self.steps: int | None = settings.get("steps")
        self.stop_wait = float(settings.get("stop_wait", 60))
        self.grouping = Grouping()
        self.readers: dict[str, Callable[[Any], bool]] = {}
        self.on_fork: list[Callable[[], None]] = []
        self.world: tuple[int | None, int] = (_integer("RANK"), _integer("WORLD_SIZE") or 1)
        self.find_rank: list[Callable[[], tuple[int, int] | None]] = []
        self._mask: Mapping[str, str] = settings.get("mask") or {}
        self._lock = RLock()
        self._main = get_ident()
        self._file: tuple[int, int, int] | None = None  # descriptor, device, inode
        self._path = ""
        self._greeting: str | None = None
        self._queue: deque[tuple[int, Deferred]] = deque()
        self._names: list[str] = []
        self._said: set[str] = set()
        self._training = False
        self._finished = False

    # ------------------------------------------------------------------------------------------------ what adapters call

    def optimizer(self, name: str) -> int:
        """An optimizer of class `name` was built: returns its index in this process."""
        with self._lock:
            index = len(self._names)
            self._names.append(name)
            self.grouping.optimizer(index)
            self.emit({"e": "optimizer", "o": index, "class": name})
            return index

    def loss(self, values: list[float], dtype: str | list[str], kind: str = BACKWARD, numel: int = 1) -> None:
        """The roots of one backward pass. May stop the process."""
        self._loss(len(values), kind, _loss_event(values, dtype, kind, numel, self._thread_name()))

    def later(self, count: int, read: Callable[[bool], Reading | None], kind: str = BACKWARD, numel: int = 1) -> None:
        """As `loss`, of `count` values that `read(wait)` returns once they have arrived from the device. May stop the process."""
        thread = self._thread_name()

        def event(wait: bool) -> Mapping[str, Any] | None:
            reading = read(wait)
            return None if reading is None else _loss_event(reading[0], reading[1], kind, numel, thread)

        self._loss(count, kind, event)

    def update(self, index: int, changed: bool | Callable[[bool], bool | None] | None) -> None:
        """Optimizer `index` has stepped. `changed`: whether its weights did, None if not looked at, or a reading. May stop the process."""
        with self._lock:
            self.grouping.update(index, changed if isinstance(changed, bool) else None)
            closed = self.grouping.closed
            if callable(changed):
                read = changed

                def event(wait: bool) -> Mapping[str, Any] | None:
                    answer = read(wait)
                    return None if answer is None and not wait else {"e": "update", "o": index, "c": answer, "i": closed}

                self._put(event)
            else:
                self.emit({"e": "update", "o": index, "c": changed, "i": closed})
            self._drain(closed)
        self._stop_if_done()

    def moved(self) -> None:
        """Weights were seen to have changed without an update having been reported."""
        with self._lock:
            self.grouping.moved()
            self.emit({"e": "moved"})

    def still(self) -> None:
        """Weights were seen not to have changed since the last backward pass."""
        with self._lock:
            self.grouping.still()
            self.emit({"e": "still"})

    def skip(self) -> None:
        """A gradient scaler skipped a step."""
        with self._lock:
            self.grouping.skip()
            self.emit({"e": "skip"})

    def watching(self) -> bool:
        """Whether fingerprints of the weights are still needed: no update that really changed weights was seen yet."""
        return self.grouping.moved_at is None

    def rank(self, rank: int, world: int) -> None:
        """The framework knows the rank of this process and the number of ranks."""
        if (rank, world) != self.world:
            self.world = (rank, world)
            self.emit({"e": "rank", "rank": rank, "world": world})

    def note(self, code: str, text: str) -> None:
        """Something was changed to observe. Each code is written once."""
        self._once("note", code, text)

    def caveat(self, code: str, text: str) -> None:
        """Something the report must mention. Each code is written once."""
        self._once("caveat", code, text)

    def problem(self, where: str, error: BaseException | str) -> None:
        """An error of the recorder's own, written once a place and kind."""
        said = error if isinstance(error, str) else type(error).__name__ + ": " + str(error)
        if "problem" + where + said[:40] not in self._said:
            self._said.add("problem" + where + said[:40])
            self.emit({"e": "problem", "where": where, "error": self.masked(said[:2000])})

    def log(self, value: Any) -> None:
        """One loss that the script says itself."""
        reader = self.readers.get(type(value).__module__.split(".")[0])
        if reader is None or not reader(value):
            item = value.item() if hasattr(value, "item") else value
            dtype = str(getattr(value, "dtype", "float64")).rsplit(".", 1)[-1].lower()
            self.loss([float(item)], dtype, LOG)

    # ------------------------------------------------------------------------------------------------ life of the process

    def hello(self, how: str) -> None:
        """Prepare the first line of this process's file; after a fork it is written with the first event only."""
        self._path = os.path.join(self.folder, "%d-%d.jsonl" % (_getpid(), time_ns()))
        processes = sys.modules.get("multiprocessing.process")
        name = processes.current_process().name if processes else "MainProcess"
        argv = [self.masked(str(argument)[:500]) for argument in getattr(sys, "orig_argv", sys.argv)[:50]]
        facts = {"e": "process", "v": FORMAT_VERSION, "pid": _getpid(), "ppid": _getppid(), "time": time_ns() / 1e9, "argv": argv}
        facts.update(executable=self.masked(sys.executable or ""), python="%d.%d.%d" % sys.version_info[:3], name=name, how=how)
        facts.update(rank=self.world[0], world=self.world[1] if self.world[0] is not None else None)
        self._greeting = jsontext.dumps(facts) + "\n"
        if how == "start":
            self._flush_greeting()

    def forked(self) -> None:
        """This process is a fork: a trace of its own, iterations of its own; optimizers that exist are known to it."""
        try:
            self._lock = RLock()
            self._main = get_ident()
            self._file = None
            self._queue.clear()
            self._said.clear()
            self._training = self._finished = False
            self.grouping = Grouping()
            self.hello("fork")
            for index, name in enumerate(self._names):
                self.grouping.optimizer(index)
                self._greeting = (self._greeting or "") + jsontext.dumps({"e": "optimizer", "o": index, "class": name}) + "\n"
            for callback in self.on_fork:
                callback()
        except Exception as error:
            self.problem("after a fork", error)

    def ended(self) -> None:
        """The interpreter reached its exit: read what is still on a device, and tell the other ranks not to wait for this one."""
        if self._finished or self._greeting is not None:
            return
        self._finished = True
        with self._lock:
            self._drain(None)
            self.emit({"e": "exit"})
        if self._training:
            stop.mark(self.folder, self.world[0])

    def training(self) -> None:
        """This process trains: called with the first loss, writes the environment as the framework has set it up."""
        self._training = True
        for find in self.find_rank:
            found = find()
            if found:
                self.rank(*found)
        from . import environment

        self.emit({"e": "environment", "facts": environment.facts()})
        for code, text in environment.trackers():
            self.caveat(code, text)

    # ------------------------------------------------------------------------------------------------ writing

    def emit(self, event: Mapping[str, Any]) -> None:
        """Write one event, behind those that wait for a device."""
        try:
            if self._queue:
                self._put(lambda wait: event)
            else:
                self._write(jsontext.dumps(event) + "\n")
        except Exception:  # nothing can be said where nothing can be written: the missing lines show in the report
            pass

    def masked(self, text: str) -> str:
        """`text` without the names of home, user and host."""
        if self._mask and ("://" in text or any(name and name in text for name in self._mask.values())):
            from .masking import mask

            return mask(text, **self._mask)
        return text

    def _loss(self, count: int, kind: str, event: Mapping[str, Any] | Deferred) -> None:
        with self._lock:
            if not self._training:
                try:
                    self.training()
                except Exception as error:
                    self.problem("describing the environment", error)
            self.grouping.loss(count, kind, self._thread_name())
            if callable(event):
                self._put(event)
            else:
                self.emit(event)
        self._stop_if_done()

    def _stop_if_done(self) -> None:
        if self.steps is not None and self.grouping.closed >= self.steps and not self._finished:
            self._finished = True
            with self._lock:
                self._drain(None)
                self.emit({"e": "stop", "i": self.grouping.closed})
            stop.leave(self.folder, self.world, self.stop_wait)

    def _put(self, event: Deferred) -> None:
        self._queue.append((self.grouping.closed, event))

    def _drain(self, closed: int | None) -> None:
        """Write what waits: all of it (None), or what is older than the iteration before `closed` and has arrived."""
        while self._queue:
            iteration, read = self._queue[0]
            if closed is not None and iteration >= closed - 1 and len(self._queue) < DEVICE_QUEUE:
                return
            try:
                event = read(closed is None or len(self._queue) >= DEVICE_QUEUE)
            except Exception as error:
                event = {"e": "problem", "where": "reading a value off a device", "error": repr(error)[:2000]}
            if event is None:
                return
            self._queue.popleft()
            self._write(jsontext.dumps(event) + "\n")

    def _once(self, kind: str, code: str, text: str) -> None:
        if kind + code not in self._said:
            self._said.add(kind + code)
            self.emit({"e": kind, "code": code, "text": text})

    def _thread_name(self) -> str:
        """The name of this thread, empty for the one that started the recorder."""
        if get_ident() == self._main:
            return ""
        threads = sys.modules.get("threading")
        return str(threads.current_thread().name) if threads else "thread"

    def _flush_greeting(self) -> None:
        greeting, self._greeting = self._greeting, None
        if greeting:
            self._write(greeting)

    def _write(self, line: str) -> None:
        with self._lock:
            if self._greeting is not None:
                self._flush_greeting()
            data = line.encode("ascii", "backslashreplace")
            _write(self._descriptor(), data)

    def _descriptor(self) -> int:
        """The trace's descriptor; opened again where a daemon closed it or its number now names another file."""
        if self._file is not None:
            try:
                status = _fstat(self._file[0])
                if (status.st_dev, status.st_ino) == self._file[1:]:
                    return self._file[0]
            except OSError:
                pass
        low = _open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            descriptor = _duplicate(low, fcntl.F_DUPFD_CLOEXEC, DESCRIPTOR_FROM)
            _close(low)
        except OSError:
            descriptor = low
        status = _fstat(descriptor)
        self._file = (descriptor, status.st_dev, status.st_ino)
        return descriptor


def log_loss(value: Any) -> None:
    """See `reprocheck.log_loss`."""
    if CURRENT is not None:
        try:
            CURRENT.log(value)
        except Exception as error:
            CURRENT.problem("log_loss", error)


def _loss_event(values: list[float], dtype: str | list[str], kind: str, numel: int, thread: str) -> dict[str, Any]:
    event: dict[str, Any] = {"e": "loss", "k": kind, "v": [_finite(value) for value in values], "d": dtype}
    if numel != 1:
        event["n"] = numel
    if thread:
        event["t"] = thread
    return event


def _finite(value: float) -> float | str:
    """The number, or `nan`, `inf`, `-inf`, which JSON has no numbers for."""
    return value if value - value == 0.0 else repr(value)


def _integer(variable: str) -> int | None:
    text = os.environ.get(variable, "")
    return int(text) if text.isdigit() else None
