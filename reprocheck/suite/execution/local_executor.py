"""Checks on this machine: several side by side, one a device, one a working directory."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, replace

from reprocheck.suite.execution import claims
from reprocheck.suite.execution.job import Job, Performed
from reprocheck.suite.execution.machine import NAMES, Machine, asked, more_than, this_machine
from reprocheck.suite.execution.perform import UnderWay
from reprocheck.suite.model import Resources


@dataclass(frozen=True, slots=True)
class _Running:
    """Hold a check under way, with its claim and devices."""

    under_way: UnderWay
    claim: claims.Claim
    devices: frozenset[tuple[str, str]]


class LocalExecutor:
    """Run at most `jobs` checks at a time, each with the cores and devices that its target asks
    for.

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
        resources = job.target.resources
        taken = sum(check.under_way.job.target.resources.cpus for check in self._running)
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
    """Return the job with the variables that select these devices; unchanged if `devices` is
    empty.
    """
    given: dict[str, str] = {}
    for variable, name in devices:
        before = f"{given[variable]}," if variable in given else ""
        given[variable] = f"{before}{name}"
    return replace(job, environment={**job.environment, **given})
