"""The check of one candidate: its worktree and environment are made, it is run, and judged."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from reprocheck.errors import ReportError, UsageError
from reprocheck.report.text import ulps
from reprocheck.suite import curves
from reprocheck.suite.baselines import compare
from reprocheck.suite.bisect import packages
from reprocheck.suite.bisect.checkout import in_worktree, temporary_folder
from reprocheck.suite.bisect.commits import root_of
from reprocheck.suite.bisect.environments import Environments, Refused, digest_of
from reprocheck.suite.bisect.packages import Requirements
from reprocheck.suite.bisect.plan import Candidate, Plan
from reprocheck.suite.bisect.result import By, Remembered
from reprocheck.suite.execution import Job, read
from reprocheck.suite.execution.job import Kind, resume_words
from reprocheck.suite.execution.local_executor import LocalExecutor
from reprocheck.suite.model import NO_REPORT, Difference, RankSeries, TargetCheck
from reprocheck.suite.surface import worktree
from reprocheck.suite.target import Target

WAIT = 1.0
"""Seconds between two looks at whether a check has ended, or what it needs is free."""
FAILED = ("script_failed", "timed_out", NO_REPORT)
"""Verdicts of a training that did not come to its end."""
KINDS: Mapping[By, Kind] = {"bitwise": "run", "verdict": "check"}
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Checker:
    """Checks candidates of a plan.

    target   the target, with the absolute path of its interpreter unless its command names one
    python   the target's interpreter
    root     the folder of the suite
    place    where the reports of the checks lie, relative to `root`
    good     the check of the good night, with its curves
    bad      the check of the bad night
    by       the criterion that decides whether a candidate is bad
    repeat   how often each candidate is checked: it is bad as soon as one check is
    """

    target: Target
    python: str
    root: Path
    place: str
    plan: Plan
    good: TargetCheck
    bad: TargetCheck
    by: By
    repeat: int
    environments: Environments
    say: Say

    @property
    def inside(self) -> Path:
        """Return the folder for temporary files in which this search makes its worktrees."""
        return temporary_folder(self.root, self.place)

    def requirements(self, candidate: Candidate) -> Requirements | Refused | None:
        """Return the packages to install for a candidate.

        None if it uses the target's interpreter.
        """
        if candidate.environment is None or self.plan.uv is None:
            return None
        return packages.resolved(self.plan.uv, candidate.environment, self.plan.local)

    def identity(self, candidate: Candidate, requirements: Requirements | None) -> str:
        """Return a digest that identifies the check of a candidate.

        It stands for its commit, its packages, the command and how often it is run.
        """
        installed = requirements.lines if requirements else ()
        target = self.target
        run = (*target.words, *sorted(map(str, (target.options, target.environment))))
        if target.resume is not None:
            run = (*run, "resume", *resume_words(target.resume))
        return digest_of((candidate.commit, "installed", *installed, "run", *run, f"{self.repeat}"))

    def check(self, candidate: Candidate, requirements: Requirements | None) -> Remembered:
        """Run the candidate, and judge it.

        Raises ReportError if the folder of the suite, or that of environments, cannot be
        written.
        """
        name = self.identity(candidate, requirements)
        try:
            with self._prepared(candidate, requirements) as target:
                for number in range(1, self.repeat + 1):
                    found = self._judged(self._row(target, f"{self.place}/{name}-{number}"))
                    if found.answer != "good":
                        return found
                return found
        except ReportError:
            raise
        except UsageError as error:
            return Remembered(answer="skip", reason=error.message)

    def curves(self, candidate: Candidate, requirements: Requirements | None) -> bytes:
        """Return the packed curves of one run of a candidate.

        Which series repeat bitwise is taken from the good night, because one run cannot show it.

        Raises UsageError if the candidate cannot be run.
        """
        name = self.identity(candidate, requirements)
        with self._prepared(candidate, requirements) as target:
            row = self._row(target, f"{self.place}/{name}-1")
        if row.verdict in FAILED or not row.curves:
            raise UsageError(row.reason or "No loss was recorded.")
        loose = {
            series.identity for series in curves.unpack(self.good.curves) if not series.repeats
        }
        return curves.pack(
            replace(series, repeats=series.identity not in loose)
            for series in curves.unpack(row.curves)
        )

    @contextmanager
    def _prepared(
        self, candidate: Candidate, requirements: Requirements | None
    ) -> Iterator[Target]:
        """Yield the target in a worktree of the commit, and an interpreter with the packages.

        Raises UsageError if one of them cannot be made.
        """
        target, python = self.target, self.python
        with ExitStack() as stack:
            if requirements is not None and self.plan.uv is not None:
                making = partial(self.say, f"making the environment: {candidate.label}")
                used = self.environments.used(requirements.lines, self.plan.uv, making)
                made = stack.enter_context(used)
                if isinstance(made, Refused):
                    raise UsageError(f"its environment cannot be made: {made.reason}")
                target, python = _with_python(target, made), str(made)
            if candidate.commit:
                target = stack.enter_context(self._at(candidate, target, python))
            yield target

    @contextmanager
    def _at(self, candidate: Candidate, target: Target, python: str) -> Iterator[Target]:
        """Yield the target in a worktree of the candidate's commit."""
        root = root_of(target.workdir)
        with worktree(candidate.commit, root, self.root, self.say, inside=self.inside) as top:
            yield in_worktree(target, python, root, top)

    def _row(self, target: Target, place: str) -> TargetCheck:
        """Run a check on this machine, and return its row.

        It waits for the devices and the folder that the check needs.
        """
        shutil.rmtree(self.root / place, ignore_errors=True)  # left by an interrupted check
        job = Job(target=target, night="bisect", root=self.root, place=place, kind=KINDS[self.by])
        with LocalExecutor() as executor:
            while waits_for := executor.start(job):
                self.say(f"waiting: {waits_for}")
                time.sleep(WAIT)
            while True:
                for performed in executor.wait(WAIT):
                    return read(performed)

    def _judged(self, row: TargetCheck) -> Remembered:
        # any other failure than that of the bad night keeps a candidate from being judged
        as_in_bad_night = row.verdict != NO_REPORT and row.verdict == self.bad.verdict
        failure_is_bad = self.by == "verdict" and as_in_bad_night
        if row.verdict in FAILED and not failure_is_bad:
            return Remembered(answer="skip", reason=row.reason)
        if self.by == "verdict" and row.good:
            return Remembered(answer="good")
        if self.by == "verdict":
            return Remembered(answer="bad", reason=row.reason)
        now = curves.unpack(row.curves)
        if not now:
            return Remembered(answer="skip", reason="No loss was recorded.")
        different = apart(now, curves.unpack(self.good.curves), row.rtol, row.atol)
        if not different:
            return Remembered(answer="good")
        return Remembered(answer="bad", reason=in_words(different[0]))


def apart(
    now: tuple[RankSeries, ...], then: tuple[RankSeries, ...], rtol: float, atol: float
) -> tuple[Difference, ...]:
    """Return the series that now differ bitwise from the good night.

    New series are ignored, and so are series on which the runs of the good night did not agree.
    """
    settled = tuple(replace(one, repeats=True) for one in now)
    return tuple(one for one in compare(settled, then, rtol, atol) if not one.loose and not one.new)


def in_words(difference: Difference) -> str:
    """Format a difference: `loss differs at step 3 by 1 ULP`."""
    name = difference.series
    if difference.rank:
        name = f"{name} of rank {difference.rank}"
    if difference.missing:
        return f"{name} is missing"
    step = "" if difference.step is None else f" at step {difference.step:g}"
    if difference.ulp is not None:
        return f"{name} differs{step} by {ulps(difference.ulp)} ULP"
    return f"{name} differs{step}"


def _with_python(target: Target, python: Path) -> Target:
    """Return the target, set to run with another interpreter, which is also first on PATH."""
    found = target.environment.get("PATH", os.environ.get("PATH", os.defpath))
    environment = {
        **target.environment,
        "PATH": f"{python.parent}{os.pathsep}{found}",
        "VIRTUAL_ENV": str(python.parent.parent),
    }
    if target.words[0] == "--":
        return replace(target, environment=environment)
    return replace(
        target, environment=environment, options={**target.options, "python": str(python)}
    )
