"""Waits for the other processes of a run that train, or may yet, where they have no ranks.

Such processes may share weights, and then the losses of one depend on how far the others are. One
that has come to its stop therefore goes on, unrecorded, until all others that train have come to
theirs. That they train is known from marks in the trace folder. Of one that has not begun nothing
is known: it is waited for while it uses the processor, or another that may start further ones does.
"""

from __future__ import annotations

import os
import sys
from time import monotonic

_listdir, _open, _read, _close, _getpid = os.listdir, os.open, os.read, os.close, os.getpid
_unlink, _readlink = os.unlink, os.readlink
_BEGAN, _REACHED = "began-", "reached-"

_DEAD = (b"Z", b"X")
"""States of a process that has ended and was not waited for."""
_LOOK_AGAIN = 0.02
_SETTLED = 0.5
"""Seconds without processor time after which a process that has not begun to train is taken not to
be about to: one that waits for this one, such as a launcher, or that is no Python."""
_ON_ITS_WAY = 3.0
"""Likewise for another Python, which may wait for data or a lock before it begins."""
_STUCK = 5.0
"""Likewise for one that trains and has not come to its stop: it may wait for a device, or for this
process.
"""
_HELPERS = (b"from multiprocessing.resource_tracker", b"from multiprocessing.forkserver")
"""In the command lines of Pythons that `multiprocessing` starts for itself."""
_LONGEST_START = 30.0
"""Seconds for which a busy process that has not begun is waited for."""


def began(folder: str) -> None:
    """Tell the other processes of the run that this process trains."""
    _leave_mark(folder, _BEGAN)
    try:
        _unlink(_path(folder, _REACHED, _getpid()))  # of the task before, in a worker of a pool
    except OSError:
        pass


def reached(folder: str) -> None:
    """Tell the other processes of the run that this process has reached its early stop."""
    _leave_mark(folder, _REACHED)


def processor_ticks(pid: int) -> int | None:
    """Return the ticks of processor time that a process has used; None once it has ended."""
    fields = _fields(pid)
    if not fields:
        return None
    return int(fields[11]) + int(fields[12])


class Peers:
    """Watch the other processes of a run, after this process has reached its early stop."""

    def __init__(self, folder: str, longest: float) -> None:
        self._folder = folder
        self._start = self._looked = monotonic()
        self._longest = longest
        self._ticks: dict[int, int] = {}
        self._trainable: dict[int, bool] = {}
        self._busy: dict[int, float] = {}  # when each of them was last seen to use the processor

    def left_behind(self, *, at_once: bool = False) -> bool:
        """Return whether this process may end: the others have stopped, or seem to be stuck.

        Costs next to nothing when asked repeatedly.

        at_once  whether the answer must not be put off until the next look at the processes
        """
        now = monotonic()
        if not at_once and now - self._looked < _LOOK_AGAIN:
            return False
        self._looked = now
        running = _running()
        if not running or now - self._start >= self._longest:
            return True
        marks = _marks(self._folder)
        training = marks[_BEGAN] & running.keys()
        behind = training - marks[_REACHED] - {_getpid()}
        may_begin = _may_begin(running, training)
        for pid in behind | may_begin:
            ticks = running[pid][1]
            if self._ticks.get(pid) != ticks:
                self._ticks[pid] = ticks
                self._busy[pid] = now
        if any(now - self._busy[pid] < _STUCK for pid in behind):
            return False
        if now - self._start >= _LONGEST_START:
            return True
        waiting_for_this: set[int] = set()
        ancestor = _getpid()
        while ancestor in running and running[ancestor][0] not in waiting_for_this:
            ancestor = running[ancestor][0]
            waiting_for_this.add(ancestor)
        return not any(
            now - self._busy[pid] < self._patience(pid, waiting_for_this) for pid in may_begin
        )

    def _patience(self, pid: int, waiting_for_this: set[int]) -> float:
        if pid in waiting_for_this:
            return _SETTLED
        if pid not in self._trainable:
            self._trainable[pid] = _may_train(pid)
        if self._trainable[pid]:
            return _ON_ITS_WAY
        return _SETTLED


def _may_begin(running: dict[int, tuple[int, int]], training: set[int]) -> set[int]:
    """Return processes that may still begin to train.

    Helpers of a training process, such as data workers, are left out.
    """
    trainers = training | {_getpid()}
    apart = {pid for pid in running.keys() - trainers if not _serves(pid, running, trainers)}
    # data workers are not among them: they are daemons
    processes = sys.modules.get("multiprocessing.process")
    children = {
        child.pid
        for child in list(getattr(processes, "_children", ()))
        if child.pid and not child.daemon
    }
    return apart | ((children & running.keys()) - training)


def _may_train(pid: int) -> bool:
    """Return whether a process runs a Python interpreter of the user."""
    try:
        if not os.path.basename(_readlink("/proc/%d/exe" % pid)).startswith("python"):
            return False
        arguments = _content("/proc/%d/cmdline" % pid)
    except OSError:
        return False
    return not any(helper in arguments for helper in _HELPERS)


def _serves(pid: int, running: dict[int, tuple[int, int]], trainers: set[int]) -> bool:
    for _ in range(len(running)):
        pid = running.get(pid, (0, 0))[0]
        if pid in trainers:
            return True
    return False


def _running() -> dict[int, tuple[int, int]]:
    """Return the processes of this session and their descendants, by process id.

    Each has the process id of its parent and its processor time in ticks. The result is empty if
    the system does not tell.
    """
    try:
        session = os.getsid(0)
        pids = list(map(int, filter(str.isdigit, _listdir("/proc"))))
    except OSError:
        return {}
    every = {pid: fields for pid, fields in zip(pids, map(_fields, pids)) if fields}
    parents = {pid: int(fields[1]) for pid, fields in every.items()}
    members = {pid for pid, fields in every.items() if int(fields[3]) == session}
    further = members
    while further:
        further = {pid for pid in parents.keys() - members if parents[pid] in members}
        members = members | further
    return {pid: (parents[pid], int(every[pid][11]) + int(every[pid][12])) for pid in members}


def _fields(pid: int) -> list[bytes]:
    """Return the fields that the system has on a process, from its state on; () once it is gone."""
    try:
        fields = _content("/proc/%d/stat" % pid).rpartition(b")")[2].split()
    except OSError:
        return []
    if len(fields) < 13 or fields[0] in _DEAD:
        return []
    return fields


def _content(path: str) -> bytes:
    descriptor = _open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return _read(descriptor, 4096)
    finally:
        _close(descriptor)


def _marks(folder: str) -> dict[str, set[int]]:
    marks: dict[str, set[int]] = {_BEGAN: set(), _REACHED: set()}
    try:
        names = _listdir(folder)
    except OSError:
        return marks
    for name in names:
        for mark, pids in marks.items():
            if name.startswith(mark):
                pids.add(int(name[len(mark) :]))
    return marks


def _path(folder: str, mark: str, pid: int) -> str:
    return os.path.join(folder, "%s%d" % (mark, pid))


def _leave_mark(folder: str, mark: str) -> None:
    try:
        _close(_open(_path(folder, mark, _getpid()), os.O_WRONLY | os.O_CREAT, 0o666))
    except OSError:
        pass
