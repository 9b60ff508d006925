"""The states of all targets in a night, from the history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from reprocheck.suite.baselines import Allowed, allowed, compare
from reprocheck.suite.changes.known import Known
from reprocheck.suite.changes.levels import level
from reprocheck.suite.changes.shifts import REFERENCE, WINDOW
from reprocheck.suite.changes.states import classify
from reprocheck.suite.curves import unpack
from reprocheck.suite.model import (
    Baseline,
    Difference,
    Key,
    Night,
    Target,
    TargetCheck,
    TargetState,
)

LOOK_BACK = 365
"""So many checks of a target before a night are looked at: what is older says little of today."""


class Reads(Protocol):
    """What is asked of a history; `reprocheck.suite.history.History` says more."""

    def nights(self, last: int | None = None) -> tuple[Night, ...]: ...

    def checks(
        self,
        night: str | None = None,
        target: str | None = None,
        last: int | None = None,
        *,
        curves: bool = False,
    ) -> tuple[TargetCheck, ...]: ...

    def states(
        self, night: str | None = None, target: str | None = None, last: int | None = None
    ) -> tuple[TargetState, ...]: ...

    def baseline(self, target: str, key: Key) -> Baseline | None: ...

    def baselines(self, target: str | None = None) -> tuple[Baseline, ...]: ...


@dataclass(frozen=True, slots=True)
class _Read:
    """A history, and the nights before the one that is asked about, by their place in time."""

    history: Reads
    night: Night
    before: Mapping[str, int]


def states_of_night(
    history: Reads, night: Night, targets: Iterable[Target]
) -> tuple[TargetState, ...]:
    """The states of every target that the suite has, and of those that it had the night before,
    by name. Nothing is written.
    """
    settings = {target.name: target for target in targets}
    attempts: dict[str, list[TargetCheck]] = defaultdict(list)
    for check in history.checks(night=night.id, curves=True):
        attempts[check.target].append(check)
    read = _Read(history, night, _nights_before(history, night))
    names = {*night.targets, *attempts, *_targets_before(read)}
    return tuple(
        classify(_known(read, name, settings.get(name), attempts[name])) for name in sorted(names)
    )


def _nights_before(history: Reads, night: Night) -> dict[str, int]:
    """The nights before this one, and their places in time."""
    places: dict[str, int] = {}
    for place, one in enumerate(history.nights()):
        if one.id == night.id:
            break
        places[one.id] = place
    return places


def _targets_before(read: _Read) -> tuple[str, ...]:
    """The targets that the suite had the night before."""
    earlier = [one for one in read.history.nights() if one.id in read.before]
    return earlier[-1].targets if earlier else ()


def _known(
    read: _Read, name: str, settings: Target | None, attempts: Sequence[TargetCheck]
) -> Known:
    now = attempts[-1] if attempts else None
    baseline = _baseline(read.history, now)
    known = Known(
        night=read.night,
        target=name,
        now=now,
        earlier=_earlier(read, name, LOOK_BACK),
        baseline=baseline,
        drift=_drift(now, baseline),
        allowed=_allowed(settings, now, baseline),
        states=_states(read, name),
        settings=settings,
    )
    if baseline is not None and known.varies and not known.other_key:
        return replace(known, levels=_levels(read, known))
    return known


def _earlier(read: _Read, name: str, last: int, *, curves: bool = False) -> tuple[TargetCheck, ...]:
    """The last attempt of each night before, oldest first."""
    attempts = read.history.checks(target=name, last=last, curves=curves)
    final = {check.night: check for check in attempts if check.night in read.before}
    return tuple(final.values())


def _states(read: _Read, name: str) -> tuple[TargetState, ...]:
    """The states before this night, oldest first."""
    states = read.history.states(target=name, last=LOOK_BACK)
    return tuple(one for one in states if one.night in read.before)


def _levels(read: _Read, known: Known) -> dict[str, float]:
    """The levels of the losses, relative to the baseline, of all nights with its key."""
    assert known.now is not None
    assert known.baseline is not None
    reference = unpack(known.baseline.curves)
    checks = (*_earlier(read, known.target, WINDOW + REFERENCE, curves=True), known.now)
    found = {
        check.night: level(unpack(check.curves), reference)
        for check in checks
        if check.key.digest == known.baseline.key.digest
    }
    return {night: value for night, value in found.items() if value is not None}


def _baseline(history: Reads, check: TargetCheck | None) -> Baseline | None:
    """The baseline of the key of a check, else the newest one of another key."""
    if check is None:
        return None
    same = history.baseline(check.target, check.key)
    if same is not None:
        return same
    return max(history.baselines(check.target), key=lambda one: one.when, default=None)


def _drift(now: TargetCheck | None, baseline: Baseline | None) -> tuple[Difference, ...]:
    if now is None or baseline is None or not now.curves:
        return ()
    return compare(unpack(now.curves), unpack(baseline.curves), now.rtol, now.atol)


def _allowed(
    settings: Target | None, now: TargetCheck | None, baseline: Baseline | None
) -> Allowed | None:
    """How far the curves may be from the baseline; None where there is none.

    Between two keys bits are bound to differ, whatever the target asks for: drift is told from a
    defect by the noise floor, for which the tolerance stands in as long as none is recorded.
    """
    if now is None or baseline is None:
        return None
    if baseline.key.digest != now.key.digest:
        return allowed("noise-floor", baseline)
    return allowed(None if settings is None else settings.allow, baseline)
