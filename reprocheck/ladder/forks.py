"""Process many items in forked processes.

The first share of items is processed in this process. If a fork gives no answer, for whatever
reason, this process does its share, too: a failed fork costs only time.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

from reprocheck.ladder.pair import Pair

_MOST = 4
"""Processes at once: each needs memory of its own."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def shared(
    work: Callable[[_Item], _Result], items: Sequence[_Item], *, much: bool
) -> list[_Result]:
    """Return the result of `work` for each item, in their order; in several processes if `much`."""
    count = 1
    if much and _can_fork():
        count = min(len(os.sched_getaffinity(0)), _MOST, len(items))
    shares = [items[number::count] for number in range(count)]
    forks: list[_Fork] = []
    results: dict[_Item, _Result] = {}
    try:
        for share in shares[1:]:
            forks.append(_fork(work, share))
        for item in shares[0]:
            results[item] = work(item)
        for fork in forks:
            results.update(fork.answer())
    finally:
        for fork in forks:
            fork.end()
    return [results[item] if item in results else work(item) for item in items]


def _can_fork() -> bool:
    """Return whether a fork is safe.

    No other thread could hold a lock that the fork never gets released.
    """
    return sys.platform == "linux" and threading.active_count() == 1


@dataclass(frozen=True, slots=True)
class _Fork:
    """A forked process, and the pipe that it writes its results to."""

    pid: int
    pipe: BinaryIO

    def answer(self) -> dict[Any, Any]:
        """Return item -> result for the share of the fork; empty if the fork failed."""
        try:
            results = pickle.load(self.pipe)  # it comes from a fork of this process
        except (EOFError, OSError, pickle.UnpicklingError):
            return {}
        assert isinstance(results, dict)
        return results

    def end(self) -> None:
        """Kill the fork and wait for its end."""
        self.pipe.close()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def _fork(work: Callable[[_Item], _Result], share: Sequence[_Item]) -> _Fork:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return _Fork(pid, os.fdopen(reader, "rb"))
    try:
        os.close(reader)
        answer = pickle.dumps({item: work(item) for item in share})
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(answer)
    finally:
        # never back into what this process is a copy of: that would be done twice
        os._exit(0)


def shown_by(pair: Pair) -> str:
    """Return the option that shows a forward pass hidden in a compiled function.

    "" if nothing is hidden.
    """
    # what the recorder names as the place of what it could not record inside a function that
    # TensorFlow compiled
    hidden = any(where == "tf.function" for where, _ in pair.first.unrecorded)
    if not hidden or "forward" in pair.recorded:
        return ""
    batches = {step.seen.place for step in pair.of_kind("batch")}
    if batches.isdisjoint(("fit", "train_on_batch")):
        return "`tf.config.run_functions_eagerly(True)`"
    return "`compile(run_eagerly=True)`"
