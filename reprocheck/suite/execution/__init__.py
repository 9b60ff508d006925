"""One check of one target: started in a process tree of its own, waited for, read.

job          what is to be done, and what became of it; the command line
perform      the process tree, and the report at its place
read         from the report folder to a row of the history
local        several checks on this machine
machine      its cores and devices
claims       what a check has for itself: devices and working directories
ray_cluster  checks on the nodes of a Ray cluster
"""

from __future__ import annotations

from typing import Protocol

from reprocheck.suite.execution.job import Job, Performed
from reprocheck.suite.execution.perform import left_by, perform
from reprocheck.suite.execution.read import is_good, read
from reprocheck.suite.model import Resources

__all__ = ["Executor", "Job", "Performed", "is_good", "left_by", "perform", "read"]


class Executor(Protocol):
    """Run checks: on this machine or on a cluster."""

    name: str

    @property
    def busy(self) -> bool:
        """Return whether any check is under way."""

    def impossible(self, resources: Resources) -> str:
        """Return why a target's resources can never be met here, as a sentence; "" if they can."""

    def start(self, job: Job) -> str:
        """Start a job, and return ""; if it cannot start yet, return what it has to wait for."""

    def wait(self, seconds: float) -> list[Performed]:
        """Wait at most this many seconds, and return the jobs that have ended."""
