"""A suite of stand-ins in a folder, and what is left of its nights, for tests of what can go
wrong.
"""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.marked import left_after
from reprocheck.suite.history import History, open_history
from reprocheck.suite.model import Night, TargetCheck
from reprocheck.suite.targets import load
from tests.conftest import clean_environment, reprocheck

TRAINING = """\
import os, sys
import reprocheck

with open(os.environ["STARTS"], "a") as starts:
    starts.write(sys.argv[1] + "\\n")
{also}
for step in range(3):
    reprocheck.log_loss(1.0 / (step + 1))
"""
MARK = "FAULTY_SUITE"
PATIENCE = 120.0
"""Seconds after which what should have come about has not."""


@dataclass
class FaultySuite:
    """A suite whose targets are stand-ins: each counts its own starts.

    also  lines of the training, behind its own
    """

    project: Path
    targets: Sequence[str]
    also: str = ""
    folder: str = "nightly"
    mark: str = field(default_factory=lambda: secrets.token_hex(8))

    def __post_init__(self) -> None:
        self.project.mkdir(parents=True, exist_ok=True)
        (self.project / "train.py").write_text(TRAINING.format(also=self.also))
        tables = [
            f'[[target]]\nname = "{name}"\nrun = "train.py {name}"\ndraw = false\n'
            for name in self.targets
        ]
        suite = f'[suite]\nfolder = "{self.folder}"\n'
        (self.project / "reprocheck.toml").write_text(suite + "\n".join(tables))

    @property
    def _starts(self) -> Path:
        """Outside of the working directory, which each run finds as the first one did."""
        return self.project.parent / f"starts-{self.mark}.log"

    @property
    def environment(self) -> dict[str, str]:
        """The mark that all processes of this suite carry, and where they count."""
        return {MARK: self.mark, "STARTS": str(self._starts)}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`reprocheck suite run`, to its end."""
        return reprocheck("suite", "run", *words, cwd=self.project, **self.environment)

    def begun(self, *words: str) -> subprocess.Popen[str]:
        """The same, under way."""
        return subprocess.Popen(
            [sys.executable, "-m", "reprocheck", "suite", "run", *words],
            cwd=self.project,
            env=clean_environment(**self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def checks(self) -> tuple[TargetCheck, ...]:
        """All that the history has; nothing before there is one."""
        with self._history() as history:
            return history.checks() if history else ()

    def nights(self) -> tuple[Night, ...]:
        """The same of nights."""
        with self._history() as history:
            return history.nights() if history else ()

    @contextmanager
    def _history(self) -> Iterator[History | None]:
        suite = load(self.project)
        if not (suite.folder / "history.sqlite").exists():
            yield None
            return
        with open_history(suite.history) as history:
            yield history

    def starts(self, target: str) -> int:
        """How often the training of a target was started."""
        return self._starts.read_text().splitlines().count(target)

    def wait_for_starts(self, number: int, process: subprocess.Popen[str]) -> None:
        """Until so many more trainings were started, or the process has ended."""
        wanted = self._all_starts() + number
        end = time.monotonic() + PATIENCE
        while self._all_starts() < wanted and process.poll() is None:
            assert time.monotonic() < end, "no training begins"
            time.sleep(0.02)

    def _all_starts(self) -> int:
        return len(self._starts.read_text().splitlines()) if self._starts.exists() else 0

    def wait_until_nothing_is_alive(self) -> None:
        """Processes that were left without their parent see it, and end."""
        alive = left_after(MARK, self.mark, PATIENCE)
        assert not alive, f"still alive: {alive}"


def kill(process: subprocess.Popen[str]) -> None:
    """As the out-of-memory killer does it."""
    process.send_signal(signal.SIGKILL)
    process.communicate()
