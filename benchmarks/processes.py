"""A child process and what it used.

CPU time is user and system time of the process and of the children that it waited for.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[1]
CHILD = ROOT / "reprocheck" / "child"
SCRIPTS = Path(__file__).resolve().parent / "scripts"


@dataclass(frozen=True, kw_only=True, slots=True)
class Used:
    """What a process used: seconds of CPU and wall time, and what it printed.

    memory    the most bytes that it held with all below it, pages that they share counted once;
              where that was asked for
    """

    cpu: float
    wall: float
    stdout: str
    memory: int = 0


class Watched(threading.Thread):
    """Looks again and again at how much memory a process holds with all below it.

    Measured is the proportional share (PSS), by which a page that several share counts once.
    """

    def __init__(self, pid: int, seconds: float = 0.1) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._seconds = seconds
        self._over = threading.Event()
        self.most = 0

    def run(self) -> None:
        """Until the end is asked for."""
        while not self._over.wait(self._seconds):
            self.most = max(self.most, _memory(self._pid))

    def end(self) -> int:
        """The most bytes that were seen."""
        self._over.set()
        self.join()
        return self.most


def _memory(pid: int) -> int:
    """Bytes of a process and of all below it; nothing of one that has ended."""
    process = Path("/proc", str(pid))
    try:
        shares = process.joinpath("smaps_rollup").read_text(encoding="utf-8")
        below = process.joinpath("task", str(pid), "children").read_text(encoding="utf-8").split()
    except OSError:
        return 0
    own = re.search(r"^Pss: +(\d+) kB$", shares, re.MULTILINE)
    return int(own[1] if own else 0) * 1024 + sum(_memory(int(child)) for child in below)


def run(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    watched: bool = False,
) -> Used:
    """Run a command to its end, and look at its memory where that is `watched`.

    Raises RuntimeError with its stderr where it fails.
    """
    env = plain_environment() | {"OMP_NUM_THREADS": "1", **(environment or {})}
    started = time.perf_counter()
    with subprocess.Popen(
        command, env=env, cwd=cwd or ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        stdout, stderr = process.stdout, process.stderr
        assert stdout is not None
        assert stderr is not None
        watch = Watched(process.pid)
        if watched:
            watch.start()
        said, complained = stdout.read(), stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        memory = watch.end() if watched else 0
    wall = time.perf_counter() - started
    if process.returncode:
        raise RuntimeError(
            f"{' '.join(command)} ended with {process.returncode}: {complained[-2000:]}"
        )
    cpu = usage.ru_utime + usage.ru_stime
    return Used(cpu=cpu, wall=wall, stdout=said, memory=memory)


class Asked:
    """A script of `benchmarks/scripts` in a process of its own, which answers each line with one.

    Its stderr lies in `folder`.
    """

    def __init__(
        self, script: str, *arguments: str, folder: Path, environment: Mapping[str, str]
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.complaints = (folder / "stderr.log").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, str(SCRIPTS / script), *arguments],
            env=plain_environment() | environment,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            text=True,
        )

    def __enter__(self) -> Self:
        self.greeting = self.answer()
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
        self.complaints.close()

    def answer(self) -> str:
        """The next line. Raises RuntimeError with the process's stderr where it has ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.complaints.seek(0)
            raise RuntimeError(self.complaints.read()[-2000:])
        return line

    def asked(self, what: str) -> str:
        """The answer to a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return self.answer()


def python(
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    watched: bool = False,
) -> Used:
    """Run this interpreter."""
    return run([sys.executable, *arguments], environment=environment, cwd=cwd, watched=watched)


def plain_environment() -> dict[str, str]:
    """The environment of a process that nothing records."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("REPROCHECK_", "PYTHONPATH", "PYTHONDONTWRITE"))
    }
    return kept | {"PYTHONPATH": str(ROOT)}


def hooked(trace: Path, *, steps: int | None = None, level: str = "loss") -> dict[str, str]:
    """The environment of a process that records into the folder `trace`, as `reprocheck run` sets
    it.
    """
    trace.mkdir(parents=True, exist_ok=True)
    settings = {"steps": steps, "level": level, "workdir": str(trace), "stop_wait": 60, "mask": {}}
    (trace / "recorder.json").write_text(json.dumps(settings), encoding="utf-8")
    return {"REPROCHECK_CHILD": str(trace), "PYTHONPATH": f"{CHILD}{os.pathsep}{ROOT}"}
