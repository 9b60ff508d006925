"""What a step costs that is recorded at levels `module` and `op`, and one behind the iterations
that level `auto` records deeply, against a plain step and other tools that look into a step.

Each way runs in a process of its own; the processes take turns, one step each. What a way costs is
the 20 % quantile of the CPU times of its steps, divided by that of the plain steps: on a machine
with other work the slower steps measure that work. msprobe is measured where MSPROBE_PATH names a
folder that it is installed in (`pip install --target FOLDER mindstudio-probe==26.2.0`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.processes import ROOT, Asked, hooked
from benchmarks.table import Row

MODELS = {
    "mlp": ("MLP of three layers", 40, 1.12),
    "resnet": ("ResNet-18 on 64×64", 11, 1.09),
    "gpt": ("GPT of 11 M parameters", 9, 1.05),
}
"""Name, rounds, and what a step recorded at level `module` may cost."""
WARM = 4
"""Steps before those that are measured: more than level `auto` records deeply."""
LEVELS = ("loss", "auto", "module", "op")
PEERS = {
    "debugmode": "torch DebugMode with tensor hashes",
    "msprobe-L0-statistics": "msprobe, L0, statistics",
    "msprobe-L0-md5": "msprobe, L0, md5",
    "msprobe-mix-statistics": "msprobe, mix, statistics",
    "msprobe-mix-md5": "msprobe, mix, md5",
}


class Stepper(Asked):
    """A process that takes a step when it is asked to."""

    def __init__(self, model: str, mode: str, folder: Path, leave_out: Sequence[str] = ()) -> None:
        name = mode
        environment = {"OMP_NUM_THREADS": "1", "LEAVE_OUT": " ".join(leave_out)}
        if mode in LEVELS:
            name = "recorded"
            environment |= hooked(folder, level=mode)
        elif mode.startswith("msprobe"):
            environment["PYTHONPATH"] = f"{ROOT}{os.pathsep}{os.environ['MSPROBE_PATH']}"
        super().__init__(
            "levels_step.py", model, name, str(folder), folder=folder, environment=environment
        )

    def step(self) -> float:
        """Seconds of CPU of one step."""
        return float(self.asked(""))

    def peak(self) -> float:
        """Megabytes of memory that the process has held at most."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) / 1024


def levels(folder: Path) -> list[Row]:
    """A step of three models, plain, recorded at both levels, and under the other tools."""
    return [row for model in MODELS for row in _model(model, folder / model)]


def _model(model: str, folder: Path) -> list[Row]:
    name, rounds, allowed = MODELS[model]
    absent: dict[str, str] = (
        {}
        if "MSPROBE_PATH" in os.environ
        else dict.fromkeys((peer for peer in PEERS if "msprobe" in peer), "not installed")
    )
    with ExitStack() as stack:
        steppers = {}
        for mode in ("plain", *LEVELS, *(peer for peer in PEERS if peer not in absent)):
            try:
                stepper = stack.enter_context(Stepper(model, mode, folder / mode))
                for _ in range(WARM):
                    stepper.step()
                steppers[mode] = stepper
            except RuntimeError as error:
                if mode not in PEERS:
                    raise
                absent[mode] = str(error).strip().splitlines()[-1][:80]
        times = [
            {mode: stepper.step() for mode, stepper in steppers.items()} for _ in range(rounds)
        ]
        peaks = {mode: stepper.peak() for mode, stepper in steppers.items()}
    took = {mode: low([taken[mode] for taken in times]) for mode in steppers}
    plain = f"{1e3 * took['plain']:.1f} ms"
    how = f"CPU time, one thread, 20 % quantile of {rounds} steps"
    ratio = {mode: seconds / took["plain"] for mode, seconds in took.items()}
    rows = [
        Row(
            what=f"{name}: level `loss`",
            value=ratio["loss"],
            allowed=None,
            unit="×",
            plain=plain,
            how=how,
        ),
        Row(
            what=f"{name}: level `auto`, behind the checks",
            value=ratio["auto"] / ratio["loss"],
            allowed=1.05,
            unit="×",
            plain=f"{1e3 * took['loss']:.1f} ms",
            how="against a step at level `loss`: the deeper hooks are gone",
        ),
        Row(
            what=f"{name}: peak memory at level `auto`",
            value=peaks["auto"] / peaks["plain"],
            allowed=1.05,
            unit="×",
            plain=f"{peaks['plain']:.0f} MB",
            how="resident memory of the process at most",
        ),
        Row(what=f"{name}: level `module`", value=ratio["module"], allowed=allowed, unit="×"),
        Row(what=f"{name}: level `op`, all operators", value=ratio["op"], allowed=None, unit="×"),
        Row(
            what=f"{name}: peak memory at level `module`",
            value=peaks["module"] - peaks["plain"],
            allowed=None,
            unit="MB",
            plain=f"{peaks['plain']:.0f} MB",
            how="resident memory of the process, beyond that of the plain steps",
        ),
    ]
    rows += [
        Row(what=f"{name}: {PEERS[peer]}", value=ratio[peer], allowed=None, unit="×")
        for peer in PEERS
        if peer in ratio
    ]
    return rows + [
        Row(
            what=f"{name}: {PEERS[peer]}",
            value=float("nan"),
            allowed=None,
            unit="×",
            how=f"absent: {why}",
        )
        for peer, why in absent.items()
    ]


def low(seconds: list[float]) -> float:
    return sorted(seconds)[len(seconds) // 5]
