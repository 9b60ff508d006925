"""The states of all targets in a night, from the history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from reprocheck.model import LOSS_SERIES
from reprocheck.suite.baselines import allowed_between, baseline_for, compare
from reprocheck.suite.changes.shifts import REFERENCE, WINDOW, level
from reprocheck.suite.changes.states import classify
from reprocheck.suite.changes.target_facts import Known
from reprocheck.suite.curves import unpack
from reprocheck.suite.history import History
from reprocheck.suite.history.look_back import LookBack
from reprocheck.suite.model import Baseline, Difference, Night, TargetCheck, TargetState
from reprocheck.suite.target import Target

LOOK_BACK = 260
"""So many checks of a target before a night are looked at: what is older says little of today."""


@dataclass(frozen=True, slots=True)
class _Read:
    """Hold a history and one night in it.

    before  the nights before it, oldest first
    since   how many nights are not before it: itself and later ones
    """

    history: LookBack
    night: Night
    before: Mapping[str, Night]
    since: int


def states_of_night(
    history: History, night: Night, targets: Iterable[Target]
) -> tuple[TargetState, ...]:
    """Return the states of the targets of a night, by name.

    They are the targets that the night selected, and those that the suite had the night before and
    has no more. Nothing is written.
    """
    past = LookBack(history, night, LOOK_BACK)
    settings = {target.name: target for target in targets}
    attempts: dict[str, list[TargetCheck]] = defaultdict(list)
    for check in past.checks(night=night.id, curves=True):
        attempts[check.target].append(check)
    nights = past.nights()
    ids = [known.id for known in nights]
    count = ids.index(night.id) if night.id in ids else len(nights)
    before = dict(zip(ids[:count], nights, strict=False))
    read = _Read(past, night, before, since=len(nights) - count)
    names = {*night.selected, *attempts}
    # those that the suite had in the last night whose states are known, and since
    for earlier in reversed(nights[:count]):
        names.update(set(earlier.targets).difference(night.targets))
        if past.states(night=earlier.id):
            break
    gone = names.difference(night.targets, attempts)
    names -= _told_gone(history, night) if gone else set()
    return tuple(
        classify(_known(read, name, settings.get(name), attempts[name])) for name in sorted(names)
    )


def _told_gone(history: History, night: Night) -> set[str]:
    """Return the targets that another night, which may have ended meanwhile, has told as gone."""
    last = history.last_states()
    return {name for name, one in last.items() if one.state == "gone" and one.night != night.id}


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
        return replace(known, now=now, last_good=read.history.last_pass(name))
    asked = None if settings is None else settings.allow
    limits = {} if settings is None else settings.limits
    drift: tuple[Difference, ...] = ()
    if now.curves and now.curves != baseline.curves:
        drift = compare(unpack(now.curves), unpack(baseline.curves), now.rtol, now.atol)
    known = replace(
        known,
        now=now,
        baseline=baseline,
        drift=drift,
        allowed=allowed_between(asked, baseline, now.key, limits),
    )
    if not known.varies:
        return known
    return replace(
        known, states=_states(read, name, LOOK_BACK), levels=_levels(read, known, baseline)
    )


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
    losses = (LOSS_SERIES, "")
    reference = unpack(baseline.curves, losses)
    checks = list(_earlier(read, known.target, WINDOW + REFERENCE, curves=True))
    if known.now is not None:
        checks.append(known.now)
    found = {
        check.night: level(unpack(check.curves, losses), reference)
        for check in checks
        if check.key.digest == baseline.key.digest
    }
    return {night: value for night, value in found.items() if value is not None}
