"""What a history says of one target, night by night."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import groupby

from reprocheck.suite.history.errors import HistoryError
from reprocheck.suite.history.store import History
from reprocheck.suite.model import TargetCheck, TargetState

NOT_THERE = "none"
"""What a fact of the environment was in a night in which it was not recorded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetNight:
    """Hold a target's checks and state in one night.

    attempts  the attempts at the target's check, in order; empty if it was not run
    state     the target's state; None if none was recorded
    changed   facts of the environment key that differ from the check before: name -> (old, new)
    """

    night: str
    attempts: tuple[TargetCheck, ...] = ()
    state: TargetState | None = None
    changed: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def check(self) -> TargetCheck | None:
        """Return the last attempt; None if the target was not checked."""
        return self.attempts[-1] if self.attempts else None


def timeline(history: History, target: str) -> tuple[TargetNight, ...]:
    """Return every night that has a check or a state of a target, oldest first.

    Raises HistoryError if no night knows it.
    """
    by_night = groupby(history.checks(target=target), key=lambda check: check.night)
    attempts = {night: tuple(checks) for night, checks in by_night}
    states = {state.night: state for state in history.states(target=target)}
    if not attempts and not states:
        known = sorted({name for night in history.nights() for name in night.targets})
        near = get_close_matches(target, known, n=1)
        question = f"Did you mean {near[0]}? " if near else ""
        raise HistoryError(
            f"The history at {history.where} has no target {target!r}.",
            f"{question}reprocheck suite list names those of the suite.",
        )
    found = []
    before: Mapping[str, str] | None = None
    for night in sorted({*attempts, *states}):
        checks = attempts.get(night, ())
        facts = checks[-1].key.facts if checks else before
        changed: dict[str, tuple[str, str]] = {}
        if before is not None:
            changed = changes(before, facts or {})
        found.append(
            TargetNight(night=night, attempts=checks, state=states.get(night), changed=changed)
        )
        before = facts
    return tuple(found)


def changes(then: Mapping[str, str], now: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the facts that differ, by name: name -> (old value, new value)."""
    names = sorted({*then, *now})
    both = {name: (then.get(name, NOT_THERE), now.get(name, NOT_THERE)) for name in names}
    return {name: (old, new) for name, (old, new) in both.items() if old != new}
