"""The trace of one process: its first line, what is known of the process, its end.

It keeps private copies of what it uses, so a script that replaces `open`, `os.write` or `time.time`
does not reach it, and no error of its own reaches the script.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock, get_ident
from time import time_ns

from ..process import origin, peer_processes
from ..shared.iterations import Grouping
from ..shared.regular_stretch import Column, Regular
from . import early_stop, import_hook, json_text, samples
from .trace_file import TraceFile
from .writer import Writer

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Callable, Mapping

    from ..process.threads import Threads
    from .first_iterations import FirstIterations

FORMAT_VERSION = 1
IMPORTED = "The recorder imported these modules, which the script had not: %s."

_getpid, _getppid = os.getpid, os.getppid


class ProcessTrace(Writer):
    """Write the part of a trace that describes its process, from the first line to the last."""

    def __init__(self, folder: str, settings: Mapping[str, Any]) -> None:
        super().__init__(settings.get("mask") or {})
        self.folder = folder
        self._last_step = float(settings.get("steps") or "inf")
        self.level = str(settings.get("level") or "loss")
        """How much is recorded: `loss`, `module` or `op`; `auto` is `module` in the first
        iterations, where a framework's hooks can be taken away afterwards, and then `loss`.
        """
        self.first: FirstIterations | None = None
        """At level `auto`, while a framework is recorded at level `module`."""
        self.boundaries: set[int] | None = None
        """Iterations before which all that the training holds is written, in a check of a resume:
        see `boundary`.
        """
        if "boundaries" in settings:
            self.boundaries = set(settings["boundaries"])
        self.waiting = 0
        """Iterations that were made and whose losses are written when the next one begins."""
        self.on_fork: list[Callable[[], None]] = []
        self.on_end: list[Callable[[], None]] = []
        """Called before the last line, however the process ends by itself."""
        self.world: tuple[int | None, int] = origin.world()
        self.find_rank: list[Callable[[], tuple[int, int] | None]] = []
        self._main = get_ident()
        self._names: list[str] = []
        self.regular: Regular | None = None
        """The regular stretch under way."""
        self._column = Column("")
        self._in_column = 0  # losses of the stretches before
        # kind and dtype of the one loss since the last update; () where it was not one
        self._pattern: tuple[str, ...] | None = None
        self._alike = 0
        self._next_sample = 1
        self._watching = True
        self._training = False
        self._finished = False
        self._enough = False  # it has come to its stop, records nothing further, and goes on
        self._peers: peer_processes.Peers | None = None
        self._threads: Threads | None = None  # once one other than the main thread had an event
        self._start_pid = _getpid()
        self._forks: list[int] = []
        self._forked = 0
        self._worker: FrameType | None = None  # the loop of a worker in a pool
        self._task = ""

    @property
    def deeper(self) -> bool:
        """Return whether the whole run is recorded at level `module` or `op`."""
        return self.level in ("module", "op")

    @property
    def shallow(self) -> bool:
        """Return whether only losses are recorded at present."""
        return not self.deeper and (self.first is None or self.first.left)

    @property
    def updated(self) -> int:
        """Return the number of iterations whose weight update was made, as far as known by now."""
        return self.grouping.updated + self.waiting

    def rank(self, rank: int, world: int) -> None:
        """Record this process's rank and the number of ranks, as the framework tells them."""
        if (rank, world) != self.world:
            self.world = (rank, world)
            self.emit({"e": "rank", "rank": rank, "world": world})

    def find_world(self) -> None:
        """Ask the frameworks for the rank of this process and the number of ranks."""
        for find in self.find_rank:
            rank_and_number = find()
            if rank_and_number:
                self.rank(*rank_and_number)

    @property
    def _in_threads(self) -> bool:
        """Return whether a thread beside the main one, or an asynchronous task, trains."""
        return self._threads is not None and self._threads.train

    def _went_on(self) -> bool:
        """Return whether a training in a thread or task went on after its last iteration."""
        threads = self._threads
        if threads is None or not threads.train:
            return False
        if threads.trainings.several():
            return bool(threads.over(self._last_step))
        return self.grouping.closed >= self._last_step

    @property
    def _last_iteration(self) -> int:
        """Return the number of the last recorded iteration."""
        return int(self._last_step) if self._in_threads else self.grouping.closed

    def hello(self, how: str) -> None:
        """Prepare the first line of this process's file.

        After a fork it is written with the first event only.
        """
        path = os.path.join(self.folder, "%d-%d" % (_getpid(), time_ns()))
        self._file, self._column, self._in_column = (
            TraceFile(path + ".jsonl"),
            Column(path + ".losses"),
            0,
        )
        self._lost, self._appending = "", False
        self._to_append.clear()
        words = [str(argument)[:2000] for argument in getattr(sys, "orig_argv", sys.argv)[:50]]
        argv = [word[:500] for word in self.arguments(words)]
        facts = {
            "e": "process",
            "v": FORMAT_VERSION,
            "pid": _getpid(),
            "ppid": _getppid(),
            "time": time_ns() / 1e9,
            "argv": argv,
        }
        facts.update(
            executable=self.masked(sys.executable or ""),
            python="%d.%d.%d" % sys.version_info[:3],
            name=origin.process_name(),
            how=how,
        )
        rank, world = self.world
        facts.update(rank=rank, world=None if rank is None else world)
        facts.update(root=self._start_pid, forks=self._forks)
        self._greeting = json_text.dumps(facts) + "\n"
        if how == "start":
            self._flush_greeting()

    def forking(self) -> None:
        """Count a fork that is about to happen, so that the child process knows its number."""
        self._forked += 1

    def forked(self) -> None:
        """Begin a new trace for this process, because it was just forked.

        Its iterations count from the start; the optimizers of the parent process are known to it.
        """
        try:
            self._lock = RLock()
            self._main = get_ident()
            self._forks, self._forked = [*self._forks, self._forked], 0
            self._worker, self._task = None, ""
            self._begin_trace("fork")
            lines = [self._greeting or ""]
            for index, name in enumerate(self._names):
                self.grouping.optimizer(index)
                lines.append(json_text.dumps({"e": "optimizer", "o": index, "class": name}) + "\n")
            self._greeting = "".join(lines)
            for callback in self.on_fork:
                callback()
        except Exception as error:
            self.problem("after a fork", error)

    def _begin_trace(self, how: str) -> None:
        """Begin a new trace whose iterations count from the start.

        how  how the process or task began: `start`, `fork` or `task`
        """
        self._queue.clear()
        self._said.clear()
        self._watching, self._training, self._finished, self._enough = True, False, False, False
        self._muted, self._peers, self._threads = False, None, None
        self.regular = self._pattern = None
        self._next_sample = 1
        self.grouping = Grouping()
        self.hello(how)

    def _look_at_task(self) -> None:
        """Begin a new trace if this worker of a pool has been given a new task.

        Which worker gets a task is a race, so that a trace belongs to a task instead of a worker.
        """
        if self._worker is None or get_ident() != self._main:
            return
        task = origin.task(self._worker)
        if task in ("", self._task):
            return
        self._complete()
        self._unmute()
        self.emit({"e": "exit", "time": time_ns() / 1e9})
        self._file.close()
        self._task = task
        self._begin_trace("task")
        for callback in self.on_fork:
            callback()

    def _complete(self) -> None:
        """Write the lines that still wait, unless recording had stopped before."""
        if not self._enough:
            self._close_regular()
            self._drain(None)
            self._account()
            if self._went_on():
                self.emit({"e": "enough", "i": self._last_iteration})

    def _close_regular(self) -> None:
        regular, self.regular, self._alike = self.regular, None, 0
        if regular is None:
            return
        regular.close()
        self._in_column = regular.first + regular.losses
        even = regular.losses == regular.updates
        self.emit({"e": "irregular", "n": regular.losses, "u": even})

    def ended(self) -> None:
        """Finish the trace at the interpreter's exit.

        Values that are still on a device are read, and the other ranks are told not to wait for
        this one.
        """
        if self._finished or self._greeting is not None:
            return
        self._finished = True
        try:
            with self._lock:
                self._complete()
                self._unmute()
                event = {"e": "exit", "time": time_ns() / 1e9}
                error = early_stop.uncaught()
                if error is not None:
                    self._describe_error(event, error)
                self.emit(event)
                self._file.close()
            if self._training:
                early_stop.mark(self.folder, self.world[0])
        except Exception as failure:
            self.problem("the end of the process", failure)

    def _describe_error(self, event: dict[str, Any], error: BaseException) -> None:
        """Add to an event the error that ended the script, and the user's line that raised it."""
        # cut last: of half a secret no pattern knows what it is
        event["error"] = early_stop.cut(self.redacted(early_stop.in_one_line(error)))
        try:
            from ..process import user_files

            event["l"] = user_files.line_of(self, error)
        except (ImportError, OSError):
            pass  # no descriptor is free to import with: the error has no line then

    def training(self) -> None:
        """Record, at the first loss, how this process trains.

        The environment is written as the framework has set it up.
        """
        self._training = True
        self.find_world()
        early_stop.trains(self.folder, self.world)
        if self.world[0] is None:
            peer_processes.began(self.folder)
        if self._worker is None and get_ident() == self._main:
            self._worker = origin.worker_frame()
            self._task = origin.task(self._worker)
        event = {
            "e": "origin",
            "identity": origin.identity(),
            "task": self._task,
            "time": time_ns() / 1e9,
        }
        shared = origin.executor(self._worker)
        if shared:
            event["executor"] = shared
        self.emit(event)
        from ..process import environment, user_files

        self.emit({"e": "program", "f": user_files.program(self, sys._getframe(1))})
        self.emit({"e": "environment", "facts": environment.facts(mask=self.masked)})
        for code, text in environment.trackers():
            self.caveat(code, text)
        # at the deeper levels many facts are written at once: a system call costs less than new
        # pages; between the boundaries of a resume an iteration has few
        if self.shallow or self.boundaries is not None:
            self._file.map()
        self._say_modules()

    def _say_modules(self) -> None:
        names = import_hook.added()
        if names:
            self.note("modules " + names, IMPORTED % names)

    def _account(self) -> None:
        if self._training:
            self._say_modules()
            self.emit(samples.sample(0))
        for callback in self.on_end:
            try:
                callback()
            except Exception as error:
                self.problem("the account at the end", error)
