"""Why a target has its state, as data: what the sentences are made of."""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.suite.model import Difference, TargetCheck


@dataclass(frozen=True, slots=True)
class Gone:
    """`last`: the night of its last check, "" where it had none."""

    last: str


@dataclass(frozen=True, slots=True)
class NotRun:
    """`selected`: the night was to check it. `last`: the night of its last check, "" without."""

    selected: bool
    last: str


@dataclass(frozen=True, slots=True)
class Intermittent:
    """It failed in so many of the last nights.

    too_far  the series that are farther from the baseline than is allowed
    """

    check: TargetCheck
    failures: int
    nights: int
    too_far: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class Failing:
    """`expected`: the verdict that counts as good. `last_good`: a night, "" where there is none."""

    check: TargetCheck
    expected: str
    last_good: str


@dataclass(frozen=True, slots=True)
class Drifted:
    """How far its curves are from the baseline.

    bits     whether no bit may differ; else the tolerance is what is allowed
    allowed  a sentence on what is allowed, where there is something to say
    """

    drift: tuple[Difference, ...]
    failed: bool
    bits: bool
    allowed: str


@dataclass(frozen=True, slots=True)
class Shifted:
    """Its losses are at another level: by so many standard deviations of the nights before, and by
    so much relative to them.
    """

    check: TargetCheck
    deviations: float
    relative: float


@dataclass(frozen=True, slots=True)
class Slower:
    """Seconds of the nights before, and of the last ones."""

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Fixed:
    """`bad`: the last check that failed. `began`: the night since which it had failed."""

    bad: TargetCheck
    began: str


@dataclass(frozen=True, slots=True)
class New:
    """Its first check."""

    check: TargetCheck


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Nothing to say.

    baseline   whether one was accepted, `other_key`: of another key alone
    varies     the accepted check was not equal in every bit
    """

    check: TargetCheck
    baseline: bool
    other_key: bool
    varies: bool
    drift: tuple[Difference, ...]


Reason = (
    Gone | NotRun | Intermittent | Failing | Drifted | Shifted | Slower | Fixed | New | Unchanged
)
