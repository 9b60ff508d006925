"""What a step costs that is recorded at levels `module` and `op`, against a plain step and against
other tools that look into a step.

Each way runs in a process of its own; the processes take turns, one step each. What a way costs is
the 20 % quantile of the CPU times of its steps, divided by that of the plain steps: on a machine
with other work the slower steps measure that work. msprobe is measured where MSPROBE_PATH names a
folder that it is installed in (`pip install --target FOLDER mindstudio-probe==26.2.0`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from benchmarks.processes import CHILD, ROOT, SCRIPTS
from benchmarks.table import Row

MODELS = {
    "mlp": ("MLP of three layers", 40, 1.20),
    "resnet": ("ResNet-18 on 64×64", 11, 1.12),
    "gpt": ("GPT of 11 M parameters", 9, 1.04),
}
"""Name, rounds, and what a step recorded at level `module` may cost."""
WARM = 2
LEVELS = ("loss", "module", "op")
PEERS = {
    "debugmode": "torch DebugMode with tensor hashes",
    "msprobe-L0-statistics": "msprobe, L0, statistics",
    "msprobe-L0-md5": "msprobe, L0, md5",
    "msprobe-mix-statistics": "msprobe, mix, statistics",
    "msprobe-mix-md5": "msprobe, mix, md5",
}


class Stepper:
    """A process that takes a step when it is asked to."""

    def __init__(self, model: str, mode: str, folder: Path) -> None:
        folder.mkdir(parents=True)
        name = "recorded" if mode in LEVELS else mode
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("REPROCHECK_", "PYTHONPATH"))
        }
        environment |= {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
        if name == "recorded":
            settings = {
                "steps": None,
                "level": mode,
                "inside": "",
                "workdir": str(folder),
                "stop_wait": 60,
                "mask": {},
            }
            (folder / "recorder.json").write_text(json.dumps(settings), encoding="utf-8")
            environment |= {
                "REPROCHECK_CHILD": str(folder),
                "PYTHONPATH": f"{CHILD}{os.pathsep}{ROOT}",
            }
        elif name.startswith("msprobe"):
            environment["PYTHONPATH"] += os.pathsep + os.environ["MSPROBE_PATH"]
        self.complaints = (folder / "stderr.log").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, str(SCRIPTS / "levels_step.py"), model, name, str(folder)],
            env=environment,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            text=True,
        )

    def __enter__(self) -> Stepper:
        self.answer()
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

    def step(self) -> float:
        """Seconds of CPU of one step."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.answer())


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
    took = {mode: _low([taken[mode] for taken in times]) for mode in steppers}
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
        Row(what=f"{name}: level `module`", value=ratio["module"], allowed=allowed, unit="×"),
        Row(what=f"{name}: level `op`, all operators", value=ratio["op"], allowed=None, unit="×"),
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


def _low(seconds: list[float]) -> float:
    return sorted(seconds)[len(seconds) // 5]
