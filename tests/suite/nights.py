"""Suites of stand-ins in a folder, and an executor that gives reports that were made once."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reprocheck.suite.execution import Job, Performed, perform
from reprocheck.suite.model import Night, Resources, TargetCheck
from reprocheck.suite.target import Target
from reprocheck.suite.targets import Suite, load
from tests.suite.here import checks_here

GOOD = "import reprocheck\nfor step in range(4):\n    reprocheck.log_loss(1 / (step + 1))\n"
BAD = """
from pathlib import Path
import reprocheck
count = Path("count")
number = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(number))
for step in range(4):
    reprocheck.log_loss(float(number))
"""
PLAIN = {"draw": False, "explain": False}
"""Options of targets that nobody looks at."""


def suite_in(folder: Path, *names: str, **keys: str) -> Suite:
    """A suite of targets that all start `train.py`; `keys`: of its table, as TOML."""
    table = "".join(f"{key} = {value}\n" for key, value in keys.items())
    targets = "".join(f'[[target]]\nname = "{name}"\nrun = "train.py"\n' for name in names)
    (folder / "reprocheck.toml").write_text(f"[suite]\n{table}{targets}")
    (folder / "train.py").write_text(GOOD)
    return load(folder)


def made(folder: Path, name: str, source: str) -> Performed:
    """The real report of a script, made here."""
    (folder / f"{name}.py").write_text(source)
    target = Target(name=name, words=(f"{name}.py",), workdir=folder, options=PLAIN)
    job = Job(target=target, night="night", root=folder, place=f"made/{name}")
    with checks_here():
        return perform(job)


@dataclass
class Prepared:
    """An executor that runs nothing: each attempt at a target comes to what was said of it.

    reports   name of a report -> a job that was performed
    comes_to  target -> the reports of its attempts, the last one again and again; `lost`, `error`
              and `interrupt` beside them
    started   target and attempt, in the order in which they began
    """

    reports: Mapping[str, Performed]
    comes_to: Mapping[str, Sequence[str]] = field(default_factory=dict)
    started: list[tuple[str, int]] = field(default_factory=list)
    name: str = "prepared"
    waiting: list[Job] = field(default_factory=list)

    @property
    def busy(self) -> bool:
        return bool(self.waiting)

    def impossible(self, resources: Resources) -> str:
        return "It asks for a GPU." if resources.gpus else ""

    def start(self, job: Job) -> str:
        if self.waiting:
            return "a free core"
        self.started.append((job.target.name, job.attempt))
        self.waiting.append(job)
        return ""

    def wait(self, seconds: float) -> list[Performed]:
        job = self.waiting.pop()
        attempts = [name for name, _ in self.started].count(job.target.name)
        planned = self.comes_to.get(job.target.name, ["good"])
        what = planned[min(attempts, len(planned)) - 1]
        if what == "interrupt":
            raise KeyboardInterrupt
        if what in ("lost", "error"):
            return [Performed(job=job, started=1.0, seconds=1.0, **{what: "Its node died."})]
        shutil.copytree(self.reports[what].job.folder, job.folder)
        return [replace(self.reports[what], job=job)]


class Told:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.night = ""
        self.checks: list[tuple[TargetCheck, bool]] = []
        self.losses: list[str] = []
        self.recordings: list[str] = []

    def begun(self, night: Night, to_do: int, checked: int) -> None:
        self.night, self.to_do, self.checked = night.id, to_do, checked

    def started(self, job: Job) -> None: ...

    def ended(self, check: TargetCheck, *, again: bool) -> None:
        self.checks.append((check, again))

    def recording(self, number: int) -> None: ...

    def recorded(self, performed: Performed, why_not: str) -> None:
        self.recordings.append(performed.job.target.name)

    def lost(self, job: Job, why: str) -> None:
        self.losses.append(job.target.name)

    def waiting(self, job: Job, what_for: str) -> None: ...

    def tick(self) -> None: ...
