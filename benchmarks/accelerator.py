"""What level `module` costs on an accelerator: time, memory, copies to the host and waits.

Each way runs in a process of its own, one after the other. Without an accelerator a small model
runs on the CPU: the same code, but nothing that is allowed is asked of it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.processes import Asked, hooked
from benchmarks.table import Row, median

WARM = 4
"""Steps before those that are timed: level `auto` has left the deeper level after them."""
WAYS = ("plain", "loss", "module", "auto")


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """A training, and how many steps of it are timed."""

    device: str
    width: int
    layers: int
    vocabulary: int
    batch: int
    steps: int


LARGE = Size(device="cuda", width=2048, layers=18, vocabulary=32_000, batch=16, steps=10)
"""1.04 billion parameters."""
SMALL = Size(device="cpu", width=64, layers=2, vocabulary=256, batch=1, steps=5)


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """What one way of running the training has cost."""

    parameters: int
    wall: float
    cpu: float
    memory: int
    copies: int
    waits: int


class Stepper(Asked):
    """A process that trains, and answers."""

    def __init__(self, size: Size, way: str, folder: Path) -> None:
        environment: dict[str, str] = {}
        if size.device == "cpu":
            environment["OMP_NUM_THREADS"] = "1"  # threads that wait for each other use CPU time
        if way != "plain":
            environment |= hooked(folder, level=way)
        sizes = map(str, (size.width, size.layers, size.vocabulary, size.batch))
        super().__init__(
            "accelerator_step.py", size.device, *sizes, folder=folder, environment=environment
        )

    @property
    def parameters(self) -> int:
        """How many the model has."""
        return int(json.loads(self.greeting)["parameters"])

    def ask(self, what: str) -> dict[str, Any]:
        """The answer to `step`, `count` or `memory`."""
        answer: dict[str, Any] = json.loads(self.asked(what))
        return answer


def accelerator(folder: Path) -> list[Row]:
    """One billion parameters on a GPU; a small model where there is none."""
    import torch

    return measure(LARGE if torch.cuda.is_available() else SMALL, folder)


def measure(size: Size, folder: Path) -> list[Row]:
    """The rows for one training."""
    found = {way: _measured(size, folder / way, way) for way in WAYS}
    return _rows(size, found)


def _measured(size: Size, folder: Path, way: str) -> Measured:
    # one process at a time: several models of this size do not fit beside each other, and a device
    # that is shared measures the others, too
    with Stepper(size, way, folder) as stepper:
        for _ in range(WARM):
            stepper.ask("step")
        steps = [stepper.ask("step") for _ in range(size.steps)]
        memory = stepper.ask("memory")["bytes"]
        counted = stepper.ask("count")
        return Measured(
            parameters=stepper.parameters,
            wall=median([step["wall"] for step in steps]),
            cpu=median([step["cpu"] for step in steps]),
            memory=memory,
            copies=counted["copies"],
            waits=counted["waits"],
        )


def _rows(size: Size, found: dict[str, Measured]) -> list[Row]:
    plain, loss, module, auto = (found[way] for way in WAYS)
    name = f"{plain.parameters / 1e6:.0f} million parameters on {size.device}"
    asked = size.device != "cpu"  # what is allowed is said of accelerators
    how = f"median of {size.steps} steps, bfloat16; each way by itself"

    def row(what: str, value: float, allowed: float, unit: str, **more: str) -> Row:
        return Row(
            what=f"{name}: {what}",
            value=value,
            allowed=allowed if asked else None,
            unit=unit,
            **more,
        )

    return [
        row(
            "level `module`",
            module.wall / plain.wall,
            1.05,
            "×",
            plain=f"{1e3 * plain.wall:.1f} ms",
            how=how,
        ),
        row(
            "the same in CPU time", module.cpu / plain.cpu, 1.05, "×", how="of the training process"
        ),
        row("level `auto`, after the checked iterations", auto.wall / plain.wall, 1.0, "×"),
        row(
            "copies to the host a step",
            module.copies - loss.copies,
            1,
            "",
            plain=str(plain.copies),
            how="by torch.profiler; beyond those of level `loss`",
        ),
        row(
            "waits for the device a step",
            module.waits - loss.waits,
            0,
            "",
            plain=str(plain.waits),
            how="by torch.profiler; beyond those of level `loss`",
        ),
        row(
            "peak memory",
            module.memory / plain.memory,
            1.02,
            "×",
            plain=f"{plain.memory / 2**30:.2f} GiB",
            how="of the device" if asked else "of the process",
        ),
    ]
