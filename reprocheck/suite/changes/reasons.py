"""Why a target has its state, as data: what the sentences are made of."""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.suite.changes.limits import Exceeded
from reprocheck.suite.model import Difference, KnownIssue, State, TargetCheck


@dataclass(frozen=True, slots=True)
class Gone:
    """Say that the suite no longer has the target.

    `last`: the night of its last check, "" if none.
    """

    last: str


@dataclass(frozen=True, slots=True)
class NotRun:
    """Say that the target was to be checked, and was not.

    `last`: the night of its last check, "" if there is none.
    """

    last: str


@dataclass(frozen=True, slots=True)
class Intermittent:
    """Say that the target failed in some of the last nights, by chance.

    failure  the attempt of this night that failed before one that passed; None if there is none
    too_far  the series that are farther from the baseline than is allowed
    """

    check: TargetCheck
    failures: int
    nights: int
    failure: TargetCheck | None = None
    too_far: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class Failing:
    """Say that the target fails.

    `expected`: the verdict that counts as good. `last_good`: the last night with a good check, ""
    if there is none.
    """

    check: TargetCheck
    expected: str
    last_good: str


@dataclass(frozen=True, slots=True)
class Drifted:
    """Say how far the target's curves are from the baseline.

    bits     whether no bit may differ; else the tolerance is what is allowed
    allowed  a sentence on what is allowed, where there is something to say
    """

    drift: tuple[Difference, ...]
    failed: bool
    bits: bool
    allowed: str


@dataclass(frozen=True, slots=True)
class Shifted:
    """Say that the losses have shifted to another level.

    The shift is given in standard deviations of the earlier nights, and relative to the earlier
    level.
    """

    check: TargetCheck
    deviations: float
    relative: float


@dataclass(frozen=True, slots=True)
class Moved:
    """Say that the curves are not those of the last good night, and that there is no baseline.

    drift  the series that differ
    night  the last good night
    """

    drift: tuple[Difference, ...]
    night: str


@dataclass(frozen=True, slots=True)
class Slower:
    """Say that the target takes longer: seconds in the earlier nights, and in the last nights."""

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Fixed:
    """Say that the target passes again.

    `bad`: the last check that failed. `began`: the night since which the target had failed. `was`:
    its state then. `moved`: how its curves differ from those of the night before it failed, if
    there is no baseline.
    """

    bad: TargetCheck
    began: str
    was: State = "drift"
    moved: Moved | None = None


@dataclass(frozen=True, slots=True)
class Larger:
    """Say that the target takes more memory: bytes in the earlier nights, and in the last nights.

    growth  bytes by which it rises an iteration, where it did not the time before; else 0
    """

    before: float = 0.0
    after: float = 0.0
    growth: float = 0.0


@dataclass(frozen=True, slots=True)
class New:
    """Say that this is the target's first check."""

    check: TargetCheck


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Say that nothing about the target changed.

    baseline   whether a baseline was accepted; `other_key`: only one of another environment key
    varies     whether the accepted check differed bitwise between its runs
    """

    check: TargetCheck
    baseline: bool
    other_key: bool
    varies: bool
    drift: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class WithKnownIssue:
    """Say that the target has a known issue. `reason`: what is said without it.

    over    whether its date is over
    passes  whether the target passes
    """

    reason: Reason
    issue: KnownIssue
    over: bool
    passes: bool


@dataclass(frozen=True, slots=True)
class InQuarantine:
    """Say that the target is in quarantine.

    `reason`: what is said without it. `stays`: whether it fails for longer than what comes and
    goes.
    """

    reason: Reason
    why: str
    stays: bool


Reason = (
    Gone
    | NotRun
    | Intermittent
    | Failing
    | Drifted
    | Shifted
    | Moved
    | Slower
    | Larger
    | Exceeded
    | Fixed
    | New
    | Unchanged
    | WithKnownIssue
    | InQuarantine
)
