"""A run that a signal ends behind its checkpoint: sent while the training waits between two
iterations.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from reprocheck.child.reprocheck_child.shared.marks import SENT, SIGNAL
from reprocheck.launch.process import GuardedProcess
from reprocheck.resume.request import SIGNALS


class Interruption:
    """Attends to the run, and sends the signal once.

    A scheduler's TERM goes to the process that the command started, which tells its own; KILL ends
    all processes of the run.
    """

    def __init__(self, trace: Path, name: str) -> None:
        self._trace = trace
        self._signal = SIGNALS[name]

    def attend(self, process: GuardedProcess) -> None:
        """Look after the run; called again and again while it is under way."""
        wanted = (self._trace / SIGNAL).exists() and not (self._trace / SENT).exists()
        if not wanted:
            return
        pids: tuple[int, ...] = () if process.pid is None else (process.pid,)
        if self._signal == signal.SIGKILL:
            pids = process.tree()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, self._signal)
        (self._trace / SENT).touch()
