"""A run that a signal ends behind its checkpoint: sent while the training waits between two
iterations.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from reprocheck.child.reprocheck_child.shared import marks
from reprocheck.launch.process import GuardedProcess
from reprocheck.resume.request import SIGNALS


class Interruption:
    """Attends to a run, and sends a signal to it once.

    TERM, as from a scheduler, goes to the process that the command started, which tells its child
    processes; KILL ends all processes of the run.
    """

    def __init__(self, trace: Path, name: str) -> None:
        self._trace = trace
        self._signal = SIGNALS[name]

    def attend(self, process: GuardedProcess) -> None:
        """Send the signal once the run waits for it; called again and again."""
        wanted = (self._trace / marks.SIGNAL).exists() and not (self._trace / marks.SENT).exists()
        if not wanted:
            return
        pids: tuple[int, ...] = () if process.pid is None else (process.pid,)
        if self._signal == signal.SIGKILL:
            pids = process.tree()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, self._signal)
        (self._trace / marks.SENT).touch()
