"""The states of all targets in a night, from the history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from reprocheck.suite.baselines import Accepted, allowed_between, baseline_for, compare
from reprocheck.suite.changes.shifts import REFERENCE, WINDOW, level
from reprocheck.suite.changes.states import classify
from reprocheck.suite.changes.target_facts import Known, passed
from reprocheck.suite.curves import unpack
from reprocheck.suite.model import Baseline, Difference, Night, TargetCheck, TargetState
from reprocheck.suite.target import Target

LOOK_BACK = 260
"""So many checks of a target before a night are looked at: what is older says little of today."""


class Reads(Accepted, Protocol):
    """List the queries of a history that are used here; see `reprocheck.suite.history.History`."""

    def nights(self, last: int | None = None) -> tuple[Night, ...]: ...

    def checks(
        self,
        night: str | None = None,
        target: str | None = None,
        last: int | None = None,
        *,
        curves: bool = False,
    ) -> tuple[TargetCheck, ...]: ...

    def final(self, night: str) -> tuple[TargetCheck, ...]: ...

    def states(
        self, night: str | None = None, target: str | None = None, last: int | None = None
    ) -> tuple[TargetState, ...]: ...


@dataclass(frozen=True, slots=True)
class _Read:
    """Hold a history and one night in it.

    before  the nights before it, oldest first
    since   how many nights are not before it: itself and later ones
    finals  the last attempts of nights that were read with their curves, by night and target
    """

    history: Reads
    night: Night
    before: Mapping[str, Night]
    since: int
    finals: dict[str, Mapping[str, TargetCheck]] = field(default_factory=dict)


def states_of_night(
    history: Reads, night: Night, targets: Iterable[Target]
) -> tuple[TargetState, ...]:
    """Return the states of the targets that the night selected, and of those that the suite had the
    night before and has no more, by name. Nothing is written.
    """
    settings = {target.name: target for target in targets}
    attempts: dict[str, list[TargetCheck]] = defaultdict(list)
    for check in history.checks(night=night.id, curves=True):
        attempts[check.target].append(check)
    nights = history.nights()
    ids = [known.id for known in nights]
    count = ids.index(night.id) if night.id in ids else len(nights)
    before = dict(zip(ids[:count], nights, strict=False))
    read = _Read(history, night, before, since=len(nights) - count)
    names = {*night.selected, *attempts}
    # those that the suite had in the last night whose states are known, and since
    for earlier in reversed(nights[:count]):
        names.update(set(earlier.targets).difference(night.targets))
        if history.states(night=earlier.id):
            break
    gone = names.difference(night.targets, attempts)
    names -= {name for name in gone if _is_told_gone(history, name, night)}
    return tuple(
        classify(_known(read, name, settings.get(name), attempts[name])) for name in sorted(names)
    )


def _is_told_gone(history: Reads, name: str, night: Night) -> bool:
    """Return whether another night, which ended meanwhile, has said that a target is gone."""
    last = history.states(target=name, last=1)
    return bool(last) and last[0].state == "gone" and last[0].night != night.id


def _known(
    read: _Read, name: str, settings: Target | None, attempts: Sequence[TargetCheck]
) -> Known:
    known = Known(
        night=read.night,
        target=name,
        earlier=_earlier(read, name, LOOK_BACK),
        states=_states(read, name, 1),
        settings=settings,
    )
    if not attempts:
        return known
    now = attempts[-1]
    if now.good:
        known = replace(known, failure=next((one for one in attempts[::-1] if not one.good), None))
    baseline = baseline_for(read.history, name, now.key)
    if baseline is None:
        return replace(known, now=now, last_good=_last_good(read, known))
    asked = None if settings is None else settings.allow
    drift: tuple[Difference, ...] = ()
    if now.curves:
        drift = compare(unpack(now.curves), unpack(baseline.curves), now.rtol, now.atol)
    known = replace(
        known,
        now=now,
        baseline=baseline,
        drift=drift,
        allowed=allowed_between(asked, baseline, now.key),
    )
    if not known.varies:
        return known
    return replace(
        known, states=_states(read, name, LOOK_BACK), levels=_levels(read, known, baseline)
    )


def _last_good(read: _Read, known: Known) -> TargetCheck | None:
    """Return the last check of a target before this night that passed, with its curves."""
    last = next((check for check in reversed(known.earlier) if passed(check)), None)
    if last is None:
        return None
    if last.night not in read.finals:
        checks = read.history.final(last.night)
        read.finals[last.night] = {check.target: check for check in checks}
    return read.finals[last.night][known.target]


def _earlier(read: _Read, name: str, last: int, *, curves: bool = False) -> tuple[TargetCheck, ...]:
    """Return the last attempt at a target in each night before this night, oldest first."""
    attempts = read.history.checks(target=name, last=read.since + last, curves=curves)
    return tuple({check.night: check for check in attempts if check.night in read.before}.values())


def _states(read: _Read, name: str, last: int) -> tuple[TargetState, ...]:
    """Return the last `last` states of a target before this night, oldest first."""
    states = read.history.states(target=name, last=read.since + last)
    return tuple(state for state in states if state.night in read.before)[-last:]


def _levels(read: _Read, known: Known, baseline: Baseline) -> dict[str, float]:
    """Return the levels of the losses, relative to the baseline, of all nights with its key."""
    reference = unpack(baseline.curves)
    checks = list(_earlier(read, known.target, WINDOW + REFERENCE, curves=True))
    if known.now is not None:
        checks.append(known.now)
    found = {
        check.night: level(unpack(check.curves), reference)
        for check in checks
        if check.key.digest == baseline.key.digest
    }
    return {night: value for night, value in found.items() if value is not None}
