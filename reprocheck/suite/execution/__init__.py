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
    """Where checks run."""

    name: str

    @property
    def busy(self) -> bool:
        """Return whether any check is under way."""

    def impossible(self, resources: Resources) -> str:
        """Return why a target can never run there, as a sentence; "" where it can."""

    def start(self, job: Job) -> str:
        """Start a job; else says what it has to wait for, "" where it was started."""

    def wait(self, seconds: float) -> list[Performed]:
        """Return the jobs that have ended, after so many seconds at most."""
