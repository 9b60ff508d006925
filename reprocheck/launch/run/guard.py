"""Guard a run: a small process between reprocheck and the user's command.

Nothing of a run outlives it.

Started as `python -I -S guard.py CONTROL STATUS [HELD]...`; imports no module of reprocheck, and
of the standard library only what costs nothing (`signal`, `json` and `subprocess` take longer to
import than this file takes to do its work).

It adopts the orphans of the run (PR_SET_CHILD_SUBREAPER), starts the command unchanged in a session
of its own with its output in two files, waits for it, then ends everything that is left of the
tree, whatever session it fled to. CONTROL is a pipe from reprocheck: first the job, then a byte for
each request to end the tree (the second one cuts the graces short), and one when reprocheck has
heard that the run is over: until then the guard stays, so that there is no moment in which nobody
would put the files back. Its end of file means that reprocheck has died. STATUS is a pipe back, one
line an event: `pid N`, `error TEXT`, `exit STATUS`, `done KILLED`. HELD are descriptors that it
keeps open until nothing of the run is alive: locks on what the run uses.

The command gets SIGKILL where the guard itself dies, and what it leaves then goes to reprocheck
(`strays`). Where reprocheck dies, a guard that somebody stopped is continued, to see it.
"""

from __future__ import annotations

# the part of signal that is needed, without its enumerations
import _signal  # type: ignore[import-not-found]
import marshal
import os
import select
import sys
import time

TYPE_CHECKING = False  # not from typing, whose import takes longer than all the rest
if TYPE_CHECKING:
    from collections.abc import Sequence


# Neither pathlib nor contextlib: their import costs more than the guard itself.
# ruff: noqa: PTH123, PTH208, SIM105


PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
ADDR_NO_RANDOMIZE = 0x0040000
SETTLE = 0.1
"""Seconds in which helpers that end by themselves once the command has ended may do so."""
# seconds in which helpers that end by themselves once the command has ended may do so
GRACES = {
    "left": ((0, SETTLE), (_signal.SIGINT, 0.3), (_signal.SIGTERM, 0.5)),
    "asked": ((_signal.SIGINT, 2.0), (_signal.SIGTERM, 2.0)),
}
"""Signals and the seconds given after each, before SIGKILL: for what the command left behind, and
for a command that is to end.
"""
LAST_RESORT = 10.0
"""Seconds of SIGKILL after which what is still there (another user's process, a hanging device) is
left alone.
"""
END, RELEASE = b"e", b"r"
"""What reprocheck says: end the tree; I have heard that the run is over."""


class Guard:
    """One guarded run: the command, its descendants, and the two pipes."""

    def __init__(self, control: int, status: int) -> None:
        self.control, self.status = control, status
        self.command = 0
        self.running = False
        self.asked = False  # the tree is to end
        self.hurry = False  # and without graces
        self.orphaned = False  # reprocheck has died
        self.released = False  # reprocheck has heard that the run is over
        self.killed: set[int] = set()
        self.poll = select.poll()
        self.poll.register(control, select.POLLIN)
        self.wake, wake_write = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(wake_write, False)
        self.poll.register(self.wake, select.POLLIN)
        for number in (_signal.SIGCHLD, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP):
            # what nohup ignores is ignored by the run, too
            if _signal.getsignal(number) != _signal.SIG_IGN:
                _signal.signal(number, lambda *_: None)
        _signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)

    def run(self, job: dict[str, object]) -> None:
        """Start the command, wait for it and end the processes that are left."""
        adopt_orphans()
        at_death_of_parent(_signal.SIGCONT)
        if job["fixed_addresses"]:
            fix_addresses()
        try:
            self.command = start(job)
        except OSError as error:
            self.say(f"error {error.strerror or error}")
            return
        self.running = True
        self.say(f"pid {self.command}")
        while self.running and not self.asked:
            self.listen(None)
            self.reap()
        self.end_tree()
        self.say(f"done {len(self.killed)}")
        while not (self.orphaned or self.released):
            self.listen(None)

    def say(self, line: str) -> None:
        """Write one line to reprocheck; note if nobody is left to read the line."""
        try:
            os.write(self.status, (line + "\n").encode("utf-8", "replace"))
        except OSError:
            self.orphaned = True

    def listen(self, seconds: float | None) -> None:
        """Wait at most `seconds` for a child to end, a signal, or a message from reprocheck."""
        for fd, _ in self.poll.poll(None if seconds is None else max(0.0, seconds) * 1000):
            if fd == self.wake:
                if any(number != _signal.SIGCHLD for number in os.read(fd, 4096)):
                    self.asked = True
                continue
            word = os.read(fd, 1)
            if word == RELEASE:
                self.released = True
                continue
            if not word:
                self.orphaned = True
                self.poll.unregister(fd)
            self.asked, self.hurry = True, self.asked and not self.orphaned

    def reap(self) -> bool:
        """Collect child processes that have ended, adopted ones too; False if none are left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            if pid == self.command:
                self.running = False
                self.say(f"exit {os.waitstatus_to_exitcode(status)}")

    def end_tree(self) -> None:
        """Send INT, TERM and KILL in turn to every descendant, until there is none."""
        for number, grace in GRACES["asked" if self.asked else "left"]:
            if not self.hurry:
                self.signal(number)
                if self.ended_within(grace):
                    return
        deadline = time.monotonic() + LAST_RESORT
        while time.monotonic() < deadline:
            self.signal(_signal.SIGKILL)
            if self.ended_within(0.02):
                return

    def ended_within(self, seconds: float) -> bool:
        """Wait until no descendant is left; False after so many seconds."""
        deadline = time.monotonic() + seconds
        while self.reap():
            left = deadline - time.monotonic()
            if left <= 0 or self.hurry:
                return False
            self.listen(left)
        return True

    def signal(self, number: int) -> None:
        """Send a signal to every descendant.

        SIGKILL also to their process groups, which no fork can outrun.
        """
        if not number:
            return
        groups = set()
        for pid, group in descendants(os.getpid()):
            if pid != self.command:
                self.killed.add(pid)
            groups.add(group)
            quietly(os.kill, pid, number)
        if number == _signal.SIGKILL:
            for group in groups - {os.getpgrp(), 0}:
                quietly(os.killpg, group, number)


def quietly(send: object, target: int, number: int) -> None:
    """Send a signal to a process or group that may be gone or another user's."""
    try:
        send(target, number)  # type: ignore[operator]
    except (ProcessLookupError, PermissionError):
        pass


def descendants(root: int) -> list[tuple[int, int]]:
    """Return (pid, process group) of all living descendants of `root`, from /proc."""
    return [(pid, group) for pid, group, _ in below(root, children_of_all())]


def children_of_all() -> dict[int, list[tuple[int, int, int]]]:
    """Return the children of each process, from /proc, by the pid of the parent.

    As (pid, process group, session); the process group of a dead child is -1.
    """
    children: dict[int, list[tuple[int, int, int]]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent, leader, session = file.read().rpartition(b")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        dead = state in (b"Z", b"X")
        children.setdefault(int(parent), []).append(
            (int(name), -1 if dead else int(leader), int(session))
        )
    return children


def below(root: int, children: dict[int, list[tuple[int, int, int]]]) -> list[tuple[int, int, int]]:
    """Return the living descendants of `root`."""
    waiting = [root]
    processes: list[tuple[int, int, int]] = []
    while waiting:
        for process in children.get(waiting.pop(), ()):
            waiting.append(process[0])
            if process[1] >= 0:
                processes.append(process)
    return processes


def adopt_orphans() -> None:
    """Make this process the parent of every orphan below it (Linux): none leaves the tree."""
    call_library("prctl", (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def at_death_of_parent(number: int) -> None:
    """Ask the system to send this process a signal when its parent process dies."""
    call_library("prctl", (PR_SET_PDEATHSIG, number, 0, 0, 0))


def fix_addresses() -> None:
    """Turn off address space randomization for later child processes, if that is allowed."""
    call_library("personality", (ADDR_NO_RANDOMIZE,))


def call_library(name: str, arguments: tuple[int, ...]) -> None:
    """Call a function of the C library."""
    try:
        import _ctypes  # the part of ctypes that is needed, without its Python half

        _ctypes.call_function(_ctypes.dlsym(_ctypes.dlopen(None, 0), name), arguments)  # type: ignore[arg-type]
    except (ImportError, AttributeError, TypeError):
        import ctypes

        getattr(ctypes.CDLL(None), name)(*arguments)


def start(job: dict[str, object]) -> int:
    """Start the command in a new session, and return its pid.

    Stdin empty, stdout and stderr to files, signals as reprocheck found them.
    """
    failed, failed_write = os.pipe()
    guard = os.getpid()
    pid = os.fork()
    if not pid:
        try:
            become(job, guard)
        except OSError as error:
            os.write(failed_write, (error.strerror or str(error)).encode())
        finally:
            os._exit(127)
    os.close(failed_write)
    reason = os.read(failed, 4096)  # nothing, and its end, once the command has begun
    os.close(failed)
    if reason:
        os.waitpid(pid, 0)
        raise OSError(reason.decode())
    return pid


def become(job: dict[str, object], guard: int) -> None:
    """Replace this fork of the guard by the command. Raises OSError if that fails."""
    os.setsid()
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    files: tuple[tuple[int, str, int], ...] = (
        (0, os.devnull, os.O_RDONLY),
        (1, job["stdout"], flags),  # type: ignore[assignment]
        (2, job["stderr"], flags),
    )
    for descriptor, path, how in files:
        os.dup2(os.open(path, how, 0o644), descriptor)
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ):  # Python ignores these two for itself
        _signal.signal(number, _signal.SIG_DFL)
    at_death_of_parent(_signal.SIGKILL)
    if os.getppid() != guard:
        return
    command: Sequence[str] = job["command"]  # type: ignore[assignment]
    environment: dict[str, str] = job["environment"]  # type: ignore[assignment]
    os.execvpe(command[0], list(command), environment)


def read_job(control: int) -> dict[str, object]:
    """Return the job from the control pipe: eight bytes of length, then a marshalled dict.

    EOFError if reprocheck died.
    """

    def exactly(size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = os.read(control, size - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    job: dict[str, object] = marshal.loads(exactly(int.from_bytes(exactly(8), "little")))
    return job


def main() -> None:
    """Guard one run.

    If reprocheck died meanwhile, this process becomes the one that puts the user's files back.
    """
    control, status, *held = map(int, sys.argv[1:])
    for descriptor in (control, status, *held):
        os.set_inheritable(descriptor, False)
    guard = Guard(control, status)
    try:
        job = read_job(control)
    except EOFError:
        return
    guard.run(job)
    after: Sequence[str] = job["after_death"]  # type: ignore[assignment]
    if guard.orphaned and after:
        for descriptor in held:  # until the files are put back
            os.set_inheritable(descriptor, True)
        for number in (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP):
            _signal.signal(number, _signal.SIG_IGN)
        os.execv(after[0], list(after))


if __name__ == "__main__":
    main()
