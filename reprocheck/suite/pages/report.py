"""A night as the pages and files show it: every target with its state, check and baseline."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from reprocheck.suite.model import Baseline, Key, Night, State, Target, TargetCheck, TargetState

ORDER: tuple[State, ...] = (
    "new failure",
    "drift",
    "still failing",
    "intermittent",
    "slower",
    "gone",
    "not run",
    "fixed",
    "expected drift",
    "new target",
    "unchanged",
)
"""The states, those first that a reader of the morning looks for."""
NOT_CHECKED = ("gone", "not run")
"""States of targets without a check of this night."""


class Recorded(Protocol):
    """What is read of a history."""

    def night(self, id: str) -> Night:
        """A night."""

    def checks(
        self,
        night: str | None = None,
        target: str | None = None,
        last: int | None = None,
        *,
        curves: bool = False,
    ) -> tuple[TargetCheck, ...]:
        """Checks, oldest first."""

    def states(
        self, night: str | None = None, target: str | None = None, last: int | None = None
    ) -> tuple[TargetState, ...]:
        """States of nights."""

    def baseline(self, target: str, key: Key) -> Baseline | None:
        """The newest baseline of a key."""


class Listed(Protocol):
    """What is read of a suite: its targets and its folder."""

    @property
    def targets(self) -> Sequence[Target]:
        """All targets."""

    @property
    def folder(self) -> Path:
        """Where the nights lie."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetReport:
    """A target in a night.

    target    as the suite has it now; None where the suite has it no more
    state     what the night says of it; None where the night has not come to its end
    attempts  its checks of this night, in order; empty where it was not run
    baseline  the accepted curves of the key of its last attempt
    """

    name: str
    target: Target | None = None
    state: TargetState | None = None
    attempts: tuple[TargetCheck, ...] = ()
    baseline: Baseline | None = None

    @property
    def check(self) -> TargetCheck | None:
        """Its last attempt."""
        if not self.attempts:
            return None
        return self.attempts[-1]

    @property
    def failed(self) -> bool:
        """Whether it fails the night."""
        return self.state is not None and self.state.failed

    @property
    def word(self) -> str:
        """Its state; what stands for it while the night is under way."""
        if self.state is None:
            return "no state yet"
        return self.state.state

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""
        if self.target is None:
            return ()
        return self.target.tags


@dataclass(frozen=True, kw_only=True, slots=True)
class NightReport:
    """A night with all its targets: those that fail first, then in the order of `ORDER`.

    folder  of the suite
    """

    night: Night
    targets: tuple[TargetReport, ...] = ()
    folder: Path = field(default_factory=Path)

    @property
    def failed(self) -> tuple[TargetReport, ...]:
        """Those that fail the night."""
        return tuple(one for one in self.targets if one.failed)

    @property
    def counts(self) -> dict[str, int]:
        """How many targets are in each state that occurs, in the order of `ORDER`."""
        found = Counter(one.word for one in self.targets)
        return {word: found[word] for word in (*ORDER, "no state yet") if found[word]}

    @property
    def seconds(self) -> float:
        """The time of all checks, retries included."""
        return sum(check.seconds for one in self.targets for check in one.attempts)

    def named(self, name: str) -> TargetReport | None:
        """The target of that name; None where the night has none."""
        return next((one for one in self.targets if one.name == name), None)


def read(history: Recorded, night: str, suite: Listed) -> NightReport:
    """A night of a history. Curves are not read."""
    attempts = defaultdict(list)
    for check in history.checks(night=night):
        attempts[check.target].append(check)
    states = {state.target: state for state in history.states(night=night)}
    found = history.night(night)
    known = {target.name: target for target in suite.targets}
    targets = [
        TargetReport(
            name=name,
            target=known.get(name),
            state=states.get(name),
            attempts=tuple(sorted(attempts[name], key=lambda check: check.attempt)),
            baseline=_baseline(history, name, attempts[name]),
        )
        for name in _names(found, states, attempts)
    ]
    return NightReport(night=found, targets=ordered(targets), folder=suite.folder)


def ordered(targets: Iterable[TargetReport]) -> tuple[TargetReport, ...]:
    """Those that fail first, then by state; else as they came."""
    places: dict[str, int] = {word: place for place, word in enumerate(ORDER)}
    return tuple(
        sorted(targets, key=lambda one: (not one.failed, places.get(one.word, len(places))))
    )


def _names(night: Night, *others: Mapping[str, object]) -> list[str]:
    """The targets of a night in the order of the suite; then those that only a state names."""
    named = dict.fromkeys((*night.targets, *night.selected))
    for other in others:
        named |= dict.fromkeys(other)
    return list(named)


def _baseline(history: Recorded, name: str, attempts: Sequence[TargetCheck]) -> Baseline | None:
    if not attempts:
        return None
    return history.baseline(name, attempts[-1].key)
