"""A project of a user's in a folder of its own, the commands that are started in it, and what is
left afterwards.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, wraps
from pathlib import Path
from threading import RLock
from typing import ParamSpec, TypeVar

from benchmarks.marked import left_after, marked
from benchmarks.processes import ROOT, plain_environment

P, R = ParamSpec("P"), TypeVar("R")
MARK = "FAULTS_MARK"
PATIENCE = 30.0
"""Seconds within which all that was started has to be gone."""
LONGEST = 240.0
"""Seconds that no command may take."""
SCRIPTS = Path(__file__).with_name("scripts")
STEPS = 20
"""Iterations of a training."""
HELPER = """\
import os
import signal
import time

PLACE = os.environ["REPROCHECK_CHILD"]
RUN = PLACE.split("run-")[-1].split("/")[0]


def at(step):
    \"\"\"Does what FAULT_DO says, in the run and the iteration that it is meant for.\"\"\"
    if os.environ.get("FAULT_IN", "no fault") in PLACE and os.environ["FAULT_STEP"] == str(step):
        exec(os.environ["FAULT_DO"], globals())


def later(step, do):
    \"\"\"Does something before the loss of a later iteration, too.\"\"\"
    os.environ.update(FAULT_STEP=str(step), FAULT_DO=do)


def fill(folder):
    \"\"\"No byte is free on the disk of a folder from now on.\"\"\"
    with open(os.path.join(folder, "filling"), "ab", buffering=0) as file:
        for size in (1 << 16, 512, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue


def tell(name):
    \"\"\"A file beside the project that says how far the run has come.\"\"\"
    open(os.path.join(os.environ["TOLD"], name), "w").close()


def wait_for(name):
    \"\"\"Waits for a file beside the project.\"\"\"
    while not os.path.exists(os.path.join(os.environ["TOLD"], name)):
        time.sleep(0.01)
"""
TRAINING = """\
import os
import random
import reprocheck
from fault import at

with open("data.txt", "w") as file:
    file.write("of a run")
if os.path.exists("notes/old.txt"):
    os.unlink("notes/old.txt")
with open("model.bin", "ab") as file:
    file.write(b"of a run")
for step in range(1, {steps} + 1):
    at(step)
    reprocheck.log_loss({loss})
"""
LOSSES: Mapping[str, str] = {"same": "1.0 / step", "varies": "random.random() * 1e6"}
"""The two trainings: one whose runs agree in every bit, and one whose runs never do."""
USERS: Mapping[str, bytes] = {
    "data.txt": b"mine\n",
    "notes/old.txt": b"mine, too\n",
    "notes/plan.md": b"# Plan\n",
    "model.bin": bytes(range(256)) * 1024,
}
"""Files of the user's that a run overwrites, deletes, leaves alone and appends to."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended: its exit status, negative for a signal, and what it printed."""

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What a process is to do at an event of its own: see `scripts/sitecustomize.py`.

    who   the first words of its command line, behind the interpreter
    at    the number of the event, or a part of its text
    """

    who: str
    at: int | str
    act: str
    argument: int | str = ""

    @property
    def variables(self) -> dict[str, str]:
        """For the environment of the command."""
        asked = {"who": self.who, "at": self.at, "act": self.act, "argument": self.argument}
        return {"FAULT": json.dumps(asked), "PYTHONPATH": str(SCRIPTS)}


def in_script(run: str, step: int, do: str) -> dict[str, str]:
    """The environment in which the training executes `do` before the loss of an iteration.

    run  a part of the folder of the run's trace: `run-1/`, `arms/`
    """
    return {"FAULT_IN": run, "FAULT_STEP": str(step), "FAULT_DO": do}


@dataclass
class Place:
    """A project and the folder of its temporary files.

    training        `same` or `varies`
    disk            the folder of the disk that holds the project; None where it is any
    other_losses    whether the fault itself adds losses
    """

    root: Path
    training: str = "same"
    disk: Path | None = None
    other_losses: bool = False
    mark: str = field(default_factory=lambda: secrets.token_hex(8))

    def __post_init__(self) -> None:
        self.project = (self.disk or self.root) / "project"
        self.temporary = self.root / "tmp"
        self.told = self.root / "told"
        self.temporary.mkdir(parents=True)
        self.told.mkdir()
        for name, content in USERS.items():
            self.write(name, content)
        self.write("fault.py", HELPER)
        self.write("train.py", TRAINING.format(steps=STEPS, loss=LOSSES[self.training]))
        self.users = self.files()

    def write(self, name: str, content: bytes | str) -> None:
        """A file of the user's."""
        file = self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())

    def keep(self) -> None:
        """What stands in the project now is the user's."""
        self.users = self.files()

    def files(self) -> dict[str, bytes]:
        """The files of the project that are no reports, by their paths."""
        found: dict[str, bytes] = {}
        for parent, folders, names in os.walk(self.project):
            folders[:] = [name for name in folders if name not in ("reports", "__pycache__")]
            for name in names:
                path = Path(parent, name)
                if not path.is_file():  # a pipe would be waited for
                    continue
                found[str(path.relative_to(self.project))] = path.read_bytes()
        return found

    # ------------------------------------------------------------------------------------- commands

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """What a command is started with: all that it starts carries the mark."""
        ours = {
            "TMPDIR": str(self.temporary),
            "TOLD": str(self.told),
            MARK: self.mark,
            "OMP_NUM_THREADS": "1",
        }
        paths = [more[name] for name in ("PYTHONPATH",) if name in more]
        path = os.pathsep.join([*paths, str(ROOT)])
        return {**plain_environment(), **ours, **more, "PYTHONPATH": path}

    def begin(self, *words: str, shell: Sequence[str] = (), **more: str) -> subprocess.Popen[str]:
        """`reprocheck WORDS` in the project, under way. `shell`: words in front of it."""
        return subprocess.Popen(
            [*shell, sys.executable, "-m", "reprocheck", *words],
            cwd=self.project,
            env=self.environment(more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )

    def run(self, *words: str, shell: Sequence[str] = (), **more: str) -> Ended:
        """The same to its end."""
        return ended(self.begin(*words, shell=shell, **more))

    def check(self, *options: str, shell: Sequence[str] = (), **more: str) -> Ended:
        """A check of all iterations of the training, which recorded nothing deeper afterwards."""
        return self.run(*CHECK, *options, "train.py", shell=shell, **more)

    def wait_until_told(self, name: str, process: subprocess.Popen[str]) -> bool:
        """Until a run has come so far; False where the command has ended before."""
        return waited(lambda: (self.told / name).exists() or process.poll() is not None) and (
            process.poll() is None
        )

    def tell(self, name: str) -> None:
        """What a run waits for."""
        (self.told / name).touch()

    # ------------------------------------------------------------------------------- what is left

    def processes(self) -> Iterator[int]:
        """What is there now of all that was started."""
        return marked(MARK, self.mark)

    def alive(self) -> tuple[str, ...]:
        """What is still there of all that was started, after some patience."""
        return left_after(MARK, self.mark, PATIENCE)

    def lost(self) -> tuple[str, ...]:
        """Files of the user's that neither stand where they stood, as they were, nor lie in
        `before` of a report folder, which is said where it is so.
        """
        now = self.files()
        return tuple(
            name
            for name, content in self.users.items()
            if now.get(name) != content and not self._is_kept_aside(name, content)
        )

    def _is_kept_aside(self, name: str, content: bytes) -> bool:
        kept = (folder / "before" / name for folder in self.folders())
        return any(path.is_file() and path.read_bytes() == content for path in kept)

    def scratch(self) -> tuple[str, ...]:
        """What we have left in the folder for temporary files, but for the locks of a suite."""
        names = (path.name for path in self.temporary.glob("reprocheck-*"))
        return tuple(name for name in names if not name.startswith("reprocheck-suite-"))

    def folders(self) -> Iterator[Path]:
        """The report folders, the oldest first."""
        reports = self.project / "reports"
        if not reports.is_dir():
            return
        for path in sorted(reports.iterdir()):
            if path.is_dir() and not path.is_symlink():
                yield path


CHECK = ("run", "--steps", "all", "--no-explain", "--no-draw")


def ended(process: subprocess.Popen[str], patience: float = LONGEST) -> Ended:
    """Waits for a command. One that hangs is killed with all below it, and counts as status 124."""
    try:
        stdout, stderr = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        stdout, stderr = process.communicate()
        return Ended(124, stdout, stderr)
    return Ended(process.returncode, stdout, stderr)


def once(make: Callable[P, R]) -> Callable[P, R]:
    """A function whose result is made once for the same arguments, also where several threads ask
    for it.
    """
    made, one_at_a_time = cache(make), RLock()

    @wraps(make)
    def kept(*arguments: P.args, **named: P.kwargs) -> R:
        with one_at_a_time:
            return made(*arguments, **named)  # type: ignore[arg-type]

    return kept


def waited(condition: Callable[[], bool]) -> bool:
    """Waits for something; whether it came about."""
    end = time.monotonic() + LONGEST
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path | None]:
    """A disk of so many bytes; None where no disk may be mounted."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
