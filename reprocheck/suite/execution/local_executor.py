"""Checks on this machine: several side by side, one a device, one a working directory."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from reprocheck.language import count
from reprocheck.suite.execution import claims
from reprocheck.suite.execution.job import Job, Performed
from reprocheck.suite.execution.perform import UnderWay
from reprocheck.suite.model import Resources
from reprocheck.suite.surface import DEVICE_KINDS

GPUS, NPUS = "CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"
"""The variables that give a process its devices."""
NAMES: Mapping[str, str] = {GPUS: "GPU", NPUS: "NPU"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """Hold what a night has for its checks.

    devices  by the environment variable that selects them
    nodes    machines that Slurm gave to this job, of which this is one
    """

    cpus: float
    devices: Mapping[str, Sequence[str]]
    nodes: int = 1


def this_machine(environment: Mapping[str, str] | None = None, dev: Path = Path("/dev")) -> Machine:
    """Return the cores and devices that this process may use.

    Devices that its environment hides are left out.

    Devices are known by their files, so that no driver is asked and no context made.
    """
    given = os.environ if environment is None else environment
    devices = {
        variable: _visible(given.get(variable), len(list(dev.glob(pattern))), hides_all)
        for pattern, variable, hides_all in DEVICE_KINDS
    }
    nodes = int(given.get("SLURM_JOB_NUM_NODES", "1"))
    return Machine(cpus=len(os.sched_getaffinity(0)), devices=devices, nodes=nodes)


def asked(resources: Resources) -> dict[str, int]:
    """Return how many devices are asked for, by the environment variable that selects them."""
    return {GPUS: resources.gpus, NPUS: resources.npus}


def more_than(machine: Machine, resources: Resources) -> str:
    """Return which resource of a target exceeds the machine, as a sentence; "" if none does."""
    if resources.nodes > machine.nodes:
        return f"It asks for {resources.nodes} nodes, and this night has {machine.nodes}."
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


@dataclass(frozen=True, slots=True)
class _Running:
    """Hold a check under way, with its claim and devices."""

    under_way: UnderWay
    claim: claims.Claim
    devices: frozenset[tuple[str, str]]


class LocalExecutor:
    """Run at most `jobs` checks at a time on this machine.

    Each has the cores and devices that its target asks for.

    A context manager: at its end no process of any check is alive.
    """

    name = "local"

    def __init__(self, jobs: int = 1, machine: Machine | None = None) -> None:
        self.jobs = jobs
        self._machine = machine or this_machine()
        self._running: list[_Running] = []
        self._closing = ExitStack()

    @property
    def busy(self) -> bool:
        """Return whether any check is under way."""
        return bool(self._running)

    def impossible(self, resources: Resources) -> str:
        """Return why a target can never run here, as a sentence; "" if it can."""
        return more_than(self._machine, resources)

    def start(self, job: Job) -> str:
        """Start a job, and return ""; if it cannot start yet, return what it has to wait for.

        Raises ReportError if the job's folder cannot be written.
        """
        resources = job.target.needs
        taken = sum(check.under_way.job.target.needs.cpus for check in self._running)
        if len(self._running) >= self.jobs or self._machine.cpus - taken < resources.cpus:
            return "a free core"
        devices = self._free_devices(resources)
        if devices is None:
            return "a free device"
        # what the check has for itself, from those of other nights as well
        on_devices = [claims.Wanted(f"{NAMES[variable]} {name}") for variable, name in devices]
        claim = claims.claimed((*on_devices, *claims.of_folder(job)))
        if claim is None:
            return "another check in its working directory or on its device"
        under_way = self._closing.enter_context(UnderWay(_with_devices(job, devices), claim))
        self._running.append(_Running(under_way, claim, frozenset(devices)))
        return ""

    def wait(self, seconds: float) -> list[Performed]:
        """Wait at most this many seconds, and return the jobs that have ended."""
        if not self._running:
            time.sleep(seconds)
        share = seconds / max(1, len(self._running))
        ended = [check for check in self._running if check.under_way.wait(share)]
        performed = []
        for check in ended:
            performed.append(check.under_way.performed())
            check.under_way.close()
            check.claim.give_back()
            self._running.remove(check)
        return performed

    def _free_devices(self, resources: Resources) -> list[tuple[str, str]] | None:
        """Return free devices as (variable, device name); None if there are not enough free now."""
        taken = {device for check in self._running for device in check.devices}
        found: list[tuple[str, str]] = []
        for variable, number in asked(resources).items():
            here = [(variable, name) for name in self._machine.devices.get(variable, ())]
            free = [device for device in here if device not in taken]
            if len(free) < number:
                return None
            found += free[:number]
        return found

    def __enter__(self) -> LocalExecutor:
        return self

    def __exit__(self, *raised: object) -> None:
        for one in self._running:  # all at once: the graces of the ends run side by side
            one.under_way.end()
        self._closing.close()
        for one in self._running:
            one.claim.give_back()


def _with_devices(job: Job, devices: list[tuple[str, str]]) -> Job:
    """Return the job with the variables that select these devices.

    It is unchanged if `devices` is empty.
    """
    given: dict[str, str] = {}
    for variable, name in devices:
        before = f"{given[variable]}," if variable in given else ""
        given[variable] = f"{before}{name}"
    return replace(job, environment={**job.environment, **given})
