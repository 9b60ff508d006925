"""What `reprocheck resume` costs: the steps of both of its runs against plain ones, and its memory
with a checkpoint of 2 GB.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

from benchmarks.processes import SCRIPTS, Used, plain_environment, python
from benchmarks.table import Row

MODELS = {
    "mlp": ("MLP of three layers", 10),
    "resnet": ("ResNet-18 on 64×64", 4),
}
"""Name, and rounds."""
CHECKPOINT_AT, GO_ON = 10, 10
ALLOWED = 1.3
SIZES = (2 << 20, 2 << 30)
"""Bytes of the two checkpoints."""
MORE_MEMORY = 16
"""Megabytes that the large one may take more: less than a hundredth of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Steps:
    """Seconds of each step of two runs."""

    wall: tuple[float, ...]
    cpu: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Time:
    """Seconds of all steps."""

    wall: float
    cpu: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Round:
    """Two plain runs, and a check of the same steps: their steps, and the whole of them."""

    plain: Steps
    checked: Steps
    plain_whole: float
    checked_whole: float


def steps(folder: Path) -> list[Row]:
    """The steps of both runs of a check against those of two plain runs."""
    return [row for model in MODELS for row in _model(model, folder / model)]


def _model(model: str, folder: Path) -> list[Row]:
    name, rounds = MODELS[model]
    found = [_round(model, folder / str(number), first=number % 2) for number in range(rounds)]
    plain = _quickest([one.plain for one in found])
    checked = _quickest([one.checked for one in found])
    how = (
        f"{CHECKPOINT_AT + GO_ON} and {GO_ON} steps, the snapshot among them, the last ones left"
        f" out; each step is the quickest of {rounds} rounds that take turns, with and without"
        " reprocheck, one thread: slower ones measure other work. Left out: the starts of"
        " interpreter and framework, loading, comparing and reporting"
    )
    return [
        Row(
            what=f"{name}: steps of `reprocheck resume`, wall time",
            value=checked.wall / plain.wall,
            allowed=ALLOWED,
            unit="×",
            plain=f"{1e3 * plain.cpu / (CHECKPOINT_AT + 2 * GO_ON - 2):.1f} ms of CPU a step",
            how=how,
        ),
        Row(
            what=f"{name}: the same in CPU time",
            value=checked.cpu / plain.cpu,
            allowed=ALLOWED,
            unit="×",
            how="of the process that trains",
        ),
        Row(
            what=f"{name}: `reprocheck resume` as a whole",
            value=min(one.checked_whole for one in found) / min(one.plain_whole for one in found),
            allowed=None,
            unit="×",
            plain=f"{min(one.plain_whole for one in found):.1f} s",
            how="wall time from start to end, with all reports, against the two plain runs",
        ),
    ]


def _quickest(rounds: Sequence[Steps]) -> Time:
    """The time of all steps, each as in the round in which it was quickest."""
    walls = zip(*(one.wall for one in rounds), strict=True)
    cpus = zip(*(one.cpu for one in rounds), strict=True)
    return Time(wall=sum(map(min, walls)), cpu=sum(map(min, cpus)))


def _round(model: str, folder: Path, *, first: int) -> Round:
    folder.mkdir(parents=True)
    for script in ("resume_steps.py", "levels_step.py"):
        shutil.copy(SCRIPTS / script, folder)
    if first:
        checked, plain = _checked(model, folder), _plain(model, folder)
    else:
        plain, checked = _plain(model, folder), _checked(model, folder)
    return Round(plain=plain[0], checked=checked[0], plain_whole=plain[1], checked_whole=checked[1])


def _plain(model: str, folder: Path) -> tuple[Steps, float]:
    """A run to the last step of the continued run, and one from the checkpoint on."""
    times = folder / "plain.txt"
    last = {"STEPS": str(CHECKPOINT_AT + GO_ON)}
    used = [_python(times, last, folder, "resume_steps.py", model) for _ in range(2)]
    (folder / "checkpoint.pt").unlink()
    return _steps(times), sum(one.wall for one in used)


def _checked(model: str, folder: Path) -> tuple[Steps, float]:
    words = ("-m", "reprocheck", "resume", "--quiet", "--at", "first", "--go-on", str(GO_ON))
    times = folder / "checked.txt"
    used = _python(times, {}, folder, *words, "resume_steps.py", model)
    if "RESUMES EXACTLY" not in used.stdout:
        raise RuntimeError(f"the resume of {model} was judged {used.stdout}")
    return _steps(times), used.wall


def _python(times: Path, environment: dict[str, str], folder: Path, *words: str) -> Used:
    told = {"STEP_TIMES": str(times), "CHECKPOINT_AT": str(CHECKPOINT_AT), **environment}
    return python(*words, cwd=folder, environment=told)


def _steps(times: Path) -> Steps:
    """Seconds of each step of both runs. A run of reprocheck is ended within its last step, so that
    one is left out of each.
    """
    lines = [tuple(map(float, line.split())) for line in times.read_text().splitlines()]
    starts = [0, *(n for n, (one, other) in enumerate(pairwise(lines), 1) if other < one)]
    long, short = lines[starts[0] : starts[1]], lines[starts[1] :]
    both = [_each(long[: CHECKPOINT_AT + GO_ON - 1]), _each(short[: GO_ON - 1])]
    wall, cpu = zip(*chain(*both), strict=True)
    return Steps(wall=wall, cpu=cpu)


def _each(since_start: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Seconds of each step, from those since the start of the first."""
    return [
        tuple(one - other for one, other in zip(now, before, strict=True))
        for before, now in pairwise([(0.0, 0.0), *since_start])
    ]


def memory(folder: Path) -> list[Row]:
    """Memory of a check whose checkpoint is large, beside one whose checkpoint is small."""
    small, large = (_peak(size, folder / str(size)) for size in SIZES)
    return [
        Row(
            what="memory with a checkpoint of 2 GB, beyond that with one of 2 MB",
            value=large - small,
            allowed=MORE_MEMORY,
            unit="MB",
            how="of whichever process held most: reprocheck, its guard, the script",
            plain=f"{small:.0f} MB",
        )
    ]


def _peak(size: int, folder: Path) -> float:
    """Megabytes that the largest process of a check has held at most."""
    folder.mkdir()
    shutil.copy(SCRIPTS / "large_checkpoint.py", folder)
    words = ("resume", "--at", "first", "--go-on", "3", "--no-draw")
    command = [sys.executable, "-m", "reprocheck", *words, "large_checkpoint.py", str(size)]
    with subprocess.Popen(
        command, cwd=folder, env=plain_environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    shutil.rmtree(folder)
    if "RESUMES EXACTLY" not in said:
        raise RuntimeError(f"the resume was judged {said}")
    return usage.ru_maxrss / 1024
