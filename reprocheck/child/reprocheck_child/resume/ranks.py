"""Lets all ranks of a continued run wait at a boundary until rank 0 has looked for a checkpoint.

One snapshot then holds the checkpoint files of all ranks, and no rank is an iteration ahead.

Each rank leaves a file `there-RANK` in the trace folder; rank 0 waits for these files and answers
in `answer`. Ranks that do not come to their boundaries together, such as those of a pipeline, would
wait for each other for ever: a rank that waits for an idle rank gives up, for all ranks.
"""

from __future__ import annotations

import os
from time import monotonic, sleep

from ..process import origin
from ..process.peer_processes import processor_ticks
from ..recorder import json_text

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Mapping

THERE, ANSWER, APART = "there-", "answer", "ranks-apart"
LONGEST = 600.0
"""Seconds for which a rank is waited for that is at work, and for an answer."""
LONGEST_START = 20.0
"""Seconds for which a rank is waited for that has not come to its first boundary."""
IDLE = 10.0
"""Seconds without processor time after which a rank is taken to wait for this one."""
POLL = 0.001


class Ranks:
    """Exchange messages between this rank and the other ranks on this machine.

    Each boundary has a number, which is the same in all ranks and never decreases.
    """

    def __init__(self, folder: str, rank: int, size: int) -> None:
        self._folder = folder
        self._rank = rank
        self._others = [peer for peer in range(size) if peer != rank]
        self._ticks: dict[int, int] = {}
        self._busy: dict[int, float] = {}  # rank -> when it was last seen to use the processor

    @property
    def apart(self) -> bool:
        """Return whether the ranks have given up to wait for each other."""
        return os.path.exists(self._path(APART))

    def gathered(self, number: int) -> list[dict[str, Any]]:
        """Return what the other ranks report at a boundary, once all have come to it.

        Only rank 0 calls this.

        number  number of the boundary
        """
        self._leave(THERE + str(self._rank), {"n": number, "pid": os.getpid()})
        reports = []
        for rank in self._others:
            report = self._awaited(THERE + str(rank), rank, number)
            if report is None:
                return []
            reports.append(report["told"])
        return reports

    def answer(self, number: int, answer: Mapping[str, Any]) -> None:
        """Write the answer of rank 0, after which all other ranks go on.

        number  number of the boundary
        """
        self._leave(ANSWER, {"n": number, "answer": answer})

    def answered(self, number: int, report: Mapping[str, Any]) -> dict[str, Any] | None:
        """Report that this rank is at a boundary, and return the answer of rank 0.

        The result is None if the ranks have given up to wait for each other.

        number  number of the boundary
        report  what this rank wrote since the last boundary
        """
        self._leave(THERE + str(self._rank), {"n": number, "pid": os.getpid(), "told": report})
        answer = self._awaited(ANSWER, 0, number)
        if answer is None:
            return None
        return dict(answer["answer"])

    def _awaited(self, name: str, rank: int, number: int) -> dict[str, Any] | None:
        """Return the message of a rank for a boundary; None if the ranks give up to wait.

        name    name of the file with the message
        number  number of the boundary
        """
        began = monotonic()
        while not self.apart:
            message = self._read(name)
            if message is not None and message["n"] >= number:
                return message
            if self._is_given_up(rank, number, monotonic() - began):
                self._leave(APART, {})
            sleep(POLL)
        return None

    def _is_given_up(self, rank: int, number: int, waited: float) -> bool:
        """Return whether waiting for a rank is pointless: it has not begun, has ended, or is idle.

        waited  seconds waited so far
        """
        if waited < IDLE:
            return False
        there = self._read(THERE + str(rank))
        if there is None:
            return waited > LONGEST_START
        ticks = processor_ticks(there["pid"])
        if ticks is None or waited > LONGEST:
            return True
        return there["n"] < number and self._idle(rank, ticks) > IDLE

    def _idle(self, rank: int, ticks: int) -> float:
        """Return for how many seconds a rank has not used the processor.

        ticks  processor time of the rank so far, in ticks of the system
        """
        now = monotonic()
        if self._ticks.get(rank) != ticks:
            self._ticks[rank], self._busy[rank] = ticks, now
        return now - self._busy[rank]

    def _read(self, name: str) -> dict[str, Any] | None:
        try:
            with open(self._path(name), encoding="utf-8") as file:
                message: dict[str, Any] = json_text.loads(file.read())
                return message
        except OSError:
            return None

    def _leave(self, name: str, message: Mapping[str, Any]) -> None:
        """Write a message to a file in one step, so that no reader sees a part of it."""
        draft = self._path(".%s-%d" % (name, self._rank))
        with open(draft, "w", encoding="utf-8") as file:
            file.write(json_text.dumps(message))
        os.replace(draft, self._path(name))

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)


def of(recorder: Any) -> Ranks | None:
    """Return the messages between the ranks; None for a process without other ranks.

    The result is also None if some ranks run on another machine, because they leave no files here.
    """
    rank, size = recorder.world
    here = origin.ranks_here() or size
    if rank is None or size < 2 or here < size:
        return None
    return Ranks(recorder.folder, rank, size)
