"""What is known of one target in one night, before it is said what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from reprocheck.suite.baselines import Allowed
from reprocheck.suite.changes.verdicts import ComesAndGoes, Verdict, comes_and_goes
from reprocheck.suite.model import Baseline, Difference, Night, TargetCheck, TargetState
from reprocheck.suite.target import Target

COMMIT = "commit"
"""The commit of the training among the facts of a check."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """One target in one night.

    now       its last attempt in this night; None where it was not checked
    earlier   its last attempt in each night before, oldest first, of the nights with a check
    baseline  the accepted curves that it is held against: of its key, else the newest of another
              key; None where none was accepted
    drift     where its curves are not those of the baseline, as `baselines.compare` has it
    allowed   how far they may be from it; None where there is no baseline
    states    its states in the nights before, oldest first
    levels    of a target that is known to vary: night -> the level of its losses, oldest first
    settings  the target, as the suite has it now; None where it does not
    """

    night: Night
    target: str
    now: TargetCheck | None = None
    earlier: Sequence[TargetCheck] = ()
    baseline: Baseline | None = None
    drift: tuple[Difference, ...] = ()
    allowed: Allowed | None = None
    states: Sequence[TargetState] = ()
    levels: Mapping[str, float] = field(default_factory=dict)
    settings: Target | None = None

    @cached_property
    def checks(self) -> tuple[TargetCheck, ...]:
        """The last attempts of all nights, this one last; without it where it was not checked."""
        if self.now is None:
            return tuple(self.earlier)
        return (*self.earlier, self.now)

    @property
    def before(self) -> TargetState | None:
        """Its state in the last night that said something of it; None where none did."""
        return self.states[-1] if self.states else None

    @property
    def other_key(self) -> bool:
        """Return whether the baseline is of another environment key."""
        if self.now is None or self.baseline is None:
            return False
        return self.baseline.key.digest != self.now.key.digest

    @property
    def last(self) -> TargetCheck | None:
        """The check before this night's."""
        return self.earlier[-1] if self.earlier else None

    @property
    def last_failure(self) -> TargetCheck | None:
        """The last earlier check that did not pass."""
        return next((check for check in reversed(self.earlier) if not passed(check)), None)

    @property
    def expected(self) -> str:
        """The verdict that counts as good."""
        return "reproducible" if self.settings is None else self.settings.expect

    @property
    def varies(self) -> bool:
        """Return whether the training is known not to repeat its bits: by the accepted check, or by
        what is expected of it.
        """
        if self.baseline is None:
            return self.expected == "not_reproducible"
        return not self.baseline.bitwise

    @cached_property
    def moved(self) -> tuple[Difference, ...]:
        """The drift without what says nothing: a series that the baseline does not have, and one
        that its own runs do not repeat, as long as it is within the tolerance.
        """
        return tuple(
            difference
            for difference in self.drift
            if not difference.new and (not difference.loose or difference.beyond is not None)
        )

    @property
    def fails(self) -> bool:
        """Return whether this night's check, or its drift, is not as it should be."""
        return self.now is not None and (not passed(self.now) or bool(self.too_far))

    @cached_property
    def chance(self) -> ComesAndGoes | None:
        """Return whether chance has a part in whether it fails, by all nights."""
        return comes_and_goes(self._verdicts, varies=self.varies)

    @cached_property
    def chance_before(self) -> ComesAndGoes | None:
        """The same by the nights before this one."""
        return comes_and_goes(self._verdicts[: len(self.earlier)], varies=self.varies)

    @cached_property
    def _verdicts(self) -> Sequence[Verdict]:
        """Return the nights as `chance` is judged by.

        A night fails by its verdict, and where the training is known to vary by its drift as well.
        (The drift of any other ends when a baseline is accepted, which is no chance.)
        """
        failed: set[str] = set()
        if self.varies:
            failed.update(state.night for state in self.states if state.failed)
        if self.varies and self.too_far:
            failed.add(self.night.id)
        found = []
        before: TargetCheck | None = None
        for check in self.checks:
            good = passed(check) and check.night not in failed
            both = check.good and not passed(check)
            moved = False
            if before is not None and before.key.facts and check.key.facts:
                then, now = ((one.commit, one.key.facts, one.beside) for one in (before, check))
                moved = then != now
            found.append(Verdict(good=good, moved=moved, both=both))
            before = check
        return found

    @cached_property
    def too_far(self) -> tuple[Difference, ...]:
        """The series that are farther from the baseline than is allowed."""
        if self.allowed is None:
            return ()
        return self.allowed.exceeded(self.drift)


def passed(check: TargetCheck) -> bool:
    """Return whether a check counts as a pass: a retry never does."""
    return check.good and check.attempt == 1


def facts(check: TargetCheck) -> dict[str, str]:
    """Return all that is recorded of the environment of a check: its key, what is beside it, its
    commit.

    Empty where the check left no report.
    """
    if not check.key.facts:
        return {}
    return _with_commit({**check.beside, **check.key.facts}, check.commit)


def facts_of_baseline(baseline: Baseline) -> dict[str, str]:
    """Return the same of the check that was accepted; of imported curves what is known of them."""
    return _with_commit({**baseline.environment, **baseline.key.facts}, baseline.commit)


def _with_commit(known: dict[str, str], commit: str) -> dict[str, str]:
    if commit:
        known[COMMIT] = commit
    return known


def changed(then: Mapping[str, str], now: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the facts that differ: name -> (then, now); "" where a fact was not there.

    Nothing where either side recorded no fact at all: nothing is known then.
    """
    if not then or not now:
        return {}
    names = sorted(then.keys() | now.keys())
    pairs = {name: (then.get(name, ""), now.get(name, "")) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def between(then: TargetCheck | None, now: TargetCheck | None) -> dict[str, tuple[str, str]]:
    """Return the facts that differ between two checks; nothing where there is none to compare
    with.
    """
    if then is None or now is None:
        return {}
    return changed(facts(then), facts(now))
