"""A night as the pages and files show it: every target with its state, check and baseline."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reprocheck.suite.model import Baseline, Night, State, Target, TargetCheck, TargetState

if TYPE_CHECKING:
    from reprocheck.suite.history import History
    from reprocheck.suite.targets import Suite

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


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetReport:
    """A target in a night.

    target    as the suite has it now; None where the suite has it no more
    state     what the night says of it; None where the night has not come to its end
    attempts  its checks of this night, in order; empty where it was not run
    baseline  the accepted curves of the key of its last attempt
    green     the last night before it failed; "" where none is known, or it does not fail
    """

    name: str
    target: Target | None = None
    state: TargetState | None = None
    attempts: tuple[TargetCheck, ...] = ()
    baseline: Baseline | None = None
    green: str = ""

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
    """A night with all its targets: those that fail first, then in the order of `ORDER`."""

    night: Night
    targets: tuple[TargetReport, ...] = ()

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


class Accepted:
    """The baselines of a suite, by target, those accepted last first."""

    def __init__(self, baselines: Iterable[Baseline]) -> None:
        self._by_target: dict[str, list[Baseline]] = defaultdict(list)
        for baseline in baselines:
            self._by_target[baseline.target].append(baseline)

    def of(self, target: str) -> tuple[Baseline, ...]:
        """All of a target."""
        return tuple(self._by_target.get(target, ()))

    def counting(self, check: TargetCheck | None) -> Baseline | None:
        """The one that counts for the target and key of a check."""
        if check is None:
            return None
        digest = check.key.digest
        return next((one for one in self.of(check.target) if one.key.digest == digest), None)


def read(
    history: History, night: str, suite: Suite, accepted: Accepted | None = None
) -> NightReport:
    """A night of a history. Curves of checks are not read.

    accepted  the baselines, where they were read before
    """
    if accepted is None:
        accepted = Accepted(history.baselines())
    attempts = defaultdict(list)
    for check in history.checks(night=night):
        attempts[check.target].append(check)
    states = {state.target: state for state in history.states(night=night)}
    found = history.night(night)
    known = {target.name: target for target in suite.targets}
    targets = [
        target_report(name, known.get(name), states.get(name), attempts[name], accepted)
        for name in _names(found, states, attempts)
    ]
    told = (with_green(one, _earlier(history, one)) for one in targets)
    return NightReport(night=found, targets=ordered(told))


def target_report(
    name: str,
    target: Target | None,
    state: TargetState | None,
    attempts: Iterable[TargetCheck],
    accepted: Accepted,
) -> TargetReport:
    """A target in a night, with the baseline of the key of its last attempt."""
    in_order = tuple(sorted(attempts, key=lambda check: check.attempt))
    made = TargetReport(name=name, target=target, state=state, attempts=in_order)
    return replace(made, baseline=accepted.counting(made.check))


_LOOKED_BACK = 60
"""Nights in which the last green one of a target that fails is looked for."""


def _earlier(history: History, one: TargetReport) -> tuple[TargetState, ...]:
    """The states of a target in the last nights; of one that does not fail none is asked for."""
    if not one.failed:
        return ()
    return history.states(target=one.name, last=_LOOKED_BACK)


def with_green(one: TargetReport, states: Iterable[TargetState]) -> TargetReport:
    """The target with the last green night before it failed, of these nights, oldest first."""
    if one.state is None or not one.failed:
        return one
    began = one.state.since or one.state.night
    green = [
        state.night
        for state in states
        if state.night < began and not state.failed and state.state not in NOT_CHECKED
    ]
    return replace(one, green=next(reversed(green), ""))


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
