"""What this machine has for checks: cores and devices."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reprocheck.language import count
from reprocheck.suite.model import Resources
from reprocheck.suite.surface import DEVICE_KINDS

GPUS, NPUS = "CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"
"""The variables that give a process its devices."""
NAMES: Mapping[str, str] = {GPUS: "GPU", NPUS: "NPU"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """Hold the cores and devices of a machine; devices by the environment variable that selects
    them.
    """

    cpus: float
    devices: Mapping[str, Sequence[str]]


def this_machine(environment: Mapping[str, str] | None = None, dev: Path = Path("/dev")) -> Machine:
    """Return the cores that this process may use, and the devices that its environment does not
    hide.

    Devices are known by their files, so that no driver is asked and no context made.
    """
    given = os.environ if environment is None else environment
    devices = {
        variable: _visible(given.get(variable), len(list(dev.glob(pattern))), hides_all)
        for pattern, variable, hides_all in DEVICE_KINDS
    }
    return Machine(cpus=len(os.sched_getaffinity(0)), devices=devices)


def asked(resources: Resources) -> dict[str, int]:
    """Return how many devices are asked for, by the environment variable that selects them."""
    return {GPUS: resources.gpus, NPUS: resources.npus}


def more_than(machine: Machine, resources: Resources) -> str:
    """Return which resource of a target exceeds the machine, as a sentence; "" if none does."""
    if resources.cpus > machine.cpus:
        return f"It asks for {resources.cpus:g} cores, and this machine has {machine.cpus:g}."
    for variable, number in asked(resources).items():
        has = len(machine.devices.get(variable, ()))
        if number > has:
            return f"It asks for {count(number, NAMES[variable])}, and this machine has {has}."
    return ""


def _visible(variable: str | None, files: int, hides_all: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the visible devices of one kind.

    variable   the value of the variable that selects devices; None if it is not set
    files      how many device files there are
    hides_all  values of the variable that hide every device
    """
    if variable is None:
        return tuple(map(str, range(files)))
    if variable.strip() in hides_all or not files:
        return ()
    return tuple(name.strip() for name in variable.split(",") if name.strip())
