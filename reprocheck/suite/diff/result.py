"""What two revisions were found to compute, target by target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from reprocheck.suite.model import Difference, Suspect

Outcome = Literal[
    "differs", "failed", "inconclusive", "not at both", "within the tolerance", "equal"
]
EXIT_CODES: Mapping[Outcome, int] = {
    "differs": 1,
    "failed": 4,
    "inconclusive": 3,
    "not at both": 0,
    "within the tolerance": 0,
    "equal": 0,
}
"""As of `reprocheck compare`; what stands first decides the exit code of all targets."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """Describe one side.

    name     as it was asked for; `.` is the working tree
    commit   the full hash; of a modified working tree that of a commit made for the comparison
    options  what was added to the command of each target, as typed
    """

    name: str
    commit: str
    options: str = ""

    @property
    def shown(self) -> str:
        """Return the name for people: `main (3f2a9c1d4)`, `the working tree`."""
        short = self.commit[:9]
        name = f"{self.name} ({short})"
        if self.name == ".":
            name = "the working tree"
        elif self.commit.startswith(self.name):
            name = short
        return f"{name} with `{self.options}`" if self.options else name


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetDiff:
    """Hold the result of one target.

    reason     why it has no comparison; "" if it has one
    drift      the series in which the second side differs from the first
    operation  the first operation that differs, as a sentence; "" if none was looked for
    suspect    the changed line behind it; `report`: the folder of the whole comparison
    script     the script of the target, relative to the repository; "" if none is known
    folder     the folder in which it starts, likewise
    """

    target: str
    outcome: Outcome
    reason: str = ""
    drift: tuple[Difference, ...] = ()
    operation: str = ""
    suspect: Suspect = field(default_factory=Suspect)
    script: str = ""
    folder: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """Hold the comparison of two revisions."""

    first: Revision
    second: Revision
    targets: tuple[TargetDiff, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Return how many targets have each outcome that occurs."""
        outcomes = [target.outcome for target in self.targets]
        return {name: outcomes.count(name) for name in EXIT_CODES if name in outcomes}

    @property
    def exit_code(self) -> int:
        """Return the exit code of the command."""
        return next(code for name, code in EXIT_CODES.items() if name in self.counts)
