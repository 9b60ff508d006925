"""The parent's side of the guard: starts it, listens to it, and asks it to end the run."""

from __future__ import annotations

import contextlib
import ctypes
import marshal
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from reprocheck.errors import EntryPointError, ReprocheckError
from reprocheck.launch.run.guard import (
    END,
    GRACES,
    LAST_RESORT,
    PR_SET_CHILD_SUBREAPER,
    RELEASE,
    below,
    children_of_all,
    descendants,
)

PR_GET_CHILD_SUBREAPER = 37
LOOK_AGAIN = 0.02

_lock = threading.RLock()
_guards: set[int] = set()
_adopted_before = False


class Strays:
    """The orphaned processes of one run that this process may adopt. `close` ends the adoption."""

    def __init__(self, start: Callable[[], int]) -> None:
        """Start the guard by `start`, which returns its pid."""
        with _lock:
            self._known = {pid for pid, _, _ in children_of_all().get(os.getpid(), ())}
            _adopt()
            try:
                self.guard = start()
            except BaseException:
                _adopt_no_longer()
                raise
            _guards.add(self.guard)

    def end(self) -> int:
        """Send SIGKILL to all descendants of the guard, after it is dead, until none is left.

        Return how many there were.
        """
        ended: set[int] = set()
        deadline = time.monotonic() + LAST_RESORT
        while time.monotonic() < deadline:
            heads, living = self._here()
            for pid, group in living:
                ended.add(pid)
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
                    if group > 0:
                        os.killpg(group, signal.SIGKILL)
            for pid in heads:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            if not living:
                return len(ended)
            time.sleep(LOOK_AGAIN)
        return len(ended)

    def close(self) -> None:
        """End the adoption after the guard and all its descendants have ended."""
        with _lock:
            _guards.discard(self.guard)
            if not _guards:
                _adopt_no_longer()

    def _here(self) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the children that came from the guard, dead ones too, and the living ones.

        The latter as (pid, process group).
        """
        with _lock:
            tree, ours = children_of_all(), os.getsid(0)
            others = self._known | _guards
            heads = [
                process
                for process in tree.get(os.getpid(), ())
                if process[0] not in others and process[2] != ours
            ]
        living = [
            process
            for head in heads
            for process in ([head] if head[1] >= 0 else []) + below(head[0], tree)
        ]
        return [pid for pid, _, _ in heads], [(pid, group) for pid, group, _ in living]


def _adopt() -> None:
    global _adopted_before
    if _guards:
        return
    was_set = ctypes.c_int(0)
    _library().prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(was_set), 0, 0, 0)
    _adopted_before = bool(was_set.value)
    _library().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _adopt_no_longer() -> None:
    if not _guards and not _adopted_before:
        _library().prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)


GUARD = Path(__file__).with_name("guard.py")
LONGEST_END = sum(grace for _, grace in GRACES["asked"]) + LAST_RESORT + 2.0
"""Seconds after which a guard that was asked to end its tree, and did not, is ended itself."""


class GuardedProcess:
    """The user's command under its guard.

    A context manager: at its end nothing of the run is alive.

    `pid` and `started` once it runs, `exit_status` (negative for a signal) and `ended` once it has
    ended, `killed` once its tree is gone.

    held  descriptors that stay open, also where this process dies, until nothing of the run is
          alive: locks on what it uses
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        stdout: Path,
        stderr: Path,
        after_death: Sequence[str] = (),
        fixed_addresses: bool = False,
        held: Sequence[int] = (),
    ) -> None:
        self.command = tuple(command)
        self.pid: int | None = None
        self.exit_status: int | None = None
        self.started = self.ended = time.monotonic()
        self.killed = 0
        self.done = False
        self._text = b""
        self._give_up = float("inf")
        job = {
            "command": list(command),
            "environment": dict(environment),
            "stdout": str(stdout),
            "stderr": str(stderr),
            "after_death": list(after_death),
            "fixed_addresses": fixed_addresses,
        }
        control_read, self._control = os.pipe()
        self._status, status_write = os.pipe()
        try:
            self._strays = Strays(
                lambda: self._start_guard(cwd, environment, (control_read, status_write, *held))
            )
        except BaseException:
            os.close(self._control)
            os.close(self._status)
            raise
        finally:
            os.close(control_read)
            os.close(status_write)
        data = marshal.dumps(job)
        self._send(len(data).to_bytes(8, "little") + data)

    def _start_guard(
        self, cwd: Path, environment: Mapping[str, str], descriptors: Sequence[int]
    ) -> int:
        """Start the guard; `descriptors`: its ends of both pipes, and those that it holds open."""
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", str(GUARD), *map(str, descriptors)],
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=tuple(descriptors),
            start_new_session=True,
        )
        return self._guard.pid

    def wait(self, seconds: float, also: Sequence[int] = ()) -> bool:
        """Listen for at most `seconds`; return True once all processes of the run are gone.

        Or until one of the descriptors `also` is readable.

        Raises EntryPointError if the command could not be started.
        """
        if self.done:
            return True
        poll = select.poll()
        for descriptor in (self._status, *also):
            poll.register(descriptor, select.POLLIN)
        if any(descriptor == self._status for descriptor, _ in poll.poll(1000 * seconds)):
            data = os.read(self._status, 65536)
            *lines, self._text = (self._text + data).split(b"\n")
            for line in lines:
                self._hear(line.decode("utf-8", "replace"))
            if not data and not self.done:
                self._end_strays()
                raise ReprocheckError(
                    "The process that guards the run was killed.", "Start the check again."
                )
        elif time.monotonic() > self._give_up:
            # it does not do what it was asked for: somebody keeps it stopped
            self._guard.kill()
            self._end_strays()
            self.done = True
        else:
            # The script may have stopped the guard; else this does nothing. Not `send_signal`: it
            # takes a lock, which an interrupt at the wrong moment leaves taken for ever.
            os.kill(self._guard.pid, signal.SIGCONT)
        return self.done

    def tree(self) -> tuple[int, ...]:
        """Return the living processes of the run."""
        return tuple(pid for pid, _ in descendants(self._guard.pid))

    def end(self) -> None:
        """Ask for the end of the tree: INT, TERM, KILL in turn; asked again, KILL at once."""
        self._give_up = min(self._give_up, time.monotonic() + LONGEST_END)
        self._send(END)

    def __enter__(self) -> GuardedProcess:
        return self

    def __exit__(self, *raised: object) -> None:
        if not self.done:
            self.end()
            with contextlib.suppress(ReprocheckError):
                while not self.wait(1.0):
                    pass
        self._send(RELEASE)
        self._guard.wait()
        self._strays.close()
        os.close(self._control)  # not before: to the guard, this is our death
        os.close(self._status)

    def _send(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self._control, data) :]
            except BrokenPipeError:
                return

    def _hear(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "pid":
            self.pid, self.started = int(rest), time.monotonic()
        elif word == "exit":
            self.exit_status, self.ended = int(rest), time.monotonic()
        elif word == "done":
            self.killed, self.done = int(rest), True
        elif word == "error":
            raise EntryPointError(
                f"{self.command[0]} cannot be started: {rest}",
                "Name a program that can be executed, such as `python train.py` or `bash"
                " train.sh`.",
            )

    def _end_strays(self) -> None:
        self._guard.wait()
        self.killed = self._strays.end()
        self.ended = time.monotonic()


class Ends:
    """Descriptors of processes by the name of their trace, and their observed ends.

    The name is `PID-NANOSECONDS.jsonl`.

    seen   name without its suffix -> seconds after `start` (`time.monotonic`) at which the process
           was seen to have ended; of several seen at once, each is a tenth of a millisecond after
           the one that ended before it
    """

    _STEP = 1e-4

    def __init__(self, start: float) -> None:
        self.start = start
        self.seen: dict[str, float] = {}
        self._descriptors: dict[int, str] = {}
        self._epoll = select.epoll()
        self._most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2

    def watch(self, names: Iterable[str]) -> None:
        """Watch further processes; skip those that cannot be watched.

        They are gone already, or in a namespace of their own.
        """
        for name in names:
            stem = name.removesuffix(".jsonl")
            if (
                self._epoll.closed
                or stem in self.seen
                or stem in self._descriptors.values()
                or len(self._descriptors) >= self._most
            ):
                continue
            try:
                descriptor = os.pidfd_open(int(stem.partition("-")[0]))
            except (OSError, ValueError, AttributeError):
                continue
            self._descriptors[descriptor] = stem
            self._epoll.register(descriptor, select.EPOLLIN)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors, each of which becomes readable once its process has ended."""
        if self._epoll.closed:
            return ()
        return (self._epoll.fileno(),)

    def look(self) -> None:
        """Note the processes that have ended."""
        if self._epoll.closed or not self._descriptors:
            return
        ended = self._epoll.poll(0, len(self._descriptors))
        now = time.monotonic() - self.start
        for place, (descriptor, _) in enumerate(ended):
            stem = self._descriptors.pop(descriptor)
            self.seen[stem] = round(now + place * self._STEP, 4)
            self._epoll.unregister(descriptor)
            os.close(descriptor)

    def close(self) -> None:
        """Stop watching."""
        self._epoll.close()
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors.clear()
