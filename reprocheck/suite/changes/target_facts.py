"""What is known of one target in one night, before it is said what changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from reprocheck.suite.baselines import Allowed, compare
from reprocheck.suite.changes.limits import Exceeded, exceeded
from reprocheck.suite.changes.reasons import Moved
from reprocheck.suite.changes.verdicts import ComesAndGoes, Verdict, comes_and_goes, stays
from reprocheck.suite.curves import unpack
from reprocheck.suite.model import Baseline, Difference, Night, TargetCheck, TargetState
from reprocheck.suite.target import Target

COMMIT = "commit"
"""The commit of the training among the facts of a check."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """One target in one night.

    now       the target's last check attempt in this night; None if it was not checked
    earlier   the target's last attempt in each earlier night with a check, oldest first
    baseline  the accepted curves that it is held against: of its key, else the newest of another
              key; None if none was accepted
    drift     the series that differ from the baseline, as `baselines.compare` returns them
    allowed   how far the curves may be from the baseline; None if there is no baseline
    states    the target's states in the earlier nights, oldest first
    levels    of a target that is known to vary: night -> the level of its losses, oldest first
    settings  the target as the settings file has it now; None if the file no longer names it
    failure   the last attempt of this night that was not good before one that is; None if there is
              none
    last_good  if there is no baseline, the last pass before this night, with its curves; None if
               there is none
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
    failure: TargetCheck | None = None
    last_good: TargetCheck | None = None

    @cached_property
    def checks(self) -> tuple[TargetCheck, ...]:
        """Return the last attempt of each night, oldest first.

        This night's is among them if there is one.
        """
        if self.now is None:
            return tuple(self.earlier)
        return (*self.earlier, self.now)

    @property
    def before(self) -> TargetState | None:
        """Return the target's newest recorded state before this night; None if there is none."""
        return self.states[-1] if self.states else None

    @property
    def other_key(self) -> bool:
        """Return whether the baseline is of another environment key."""
        if self.now is None or self.baseline is None:
            return False
        return self.baseline.key.digest != self.now.key.digest

    @property
    def last(self) -> TargetCheck | None:
        """Return the last check in an earlier night; None if there is none."""
        return self.earlier[-1] if self.earlier else None

    @property
    def last_failure(self) -> TargetCheck | None:
        """Return the newest check in an earlier night that did not pass; None if all passed."""
        return next((check for check in reversed(self.earlier) if not passed(check)), None)

    @property
    def expected(self) -> str:
        """Return the verdict that counts as good for this target."""
        return "reproducible" if self.settings is None else self.settings.expect

    @property
    def varies(self) -> bool:
        """Return whether the training is known to differ bitwise from run to run.

        The accepted check decides if there is a baseline, else the verdict that the settings
        expect.
        """
        if self.baseline is None:
            return self.expected == "not_reproducible"
        return not self.baseline.bitwise

    @cached_property
    def moved(self) -> tuple[Difference, ...]:
        """Return the series that differ from the baseline, without those that mean nothing."""
        return meaning(self.drift)

    @cached_property
    def moved_since(self) -> Moved | None:
        """Return how the curves differ from those of the last good night.

        None if a baseline says what they should be, if they do not differ, or if the training is
        known to vary.
        """
        now, then = self.now, self.last_good
        if now is None or then is None or self.varies or not (now.curves and then.curves):
            return None
        drift = compare(unpack(now.curves), unpack(then.curves), now.rtol, now.atol)
        return Moved(meaning(drift), then.night) if meaning(drift) else None

    @property
    def fails(self) -> bool:
        """Return whether this night's check failed, or its curves drifted too far.

        What is too far is measured from the baseline.
        """
        return self.now is not None and (not passed(self.now) or bool(self.too_far))

    @cached_property
    def exceeded(self) -> Exceeded | None:
        """Return what the check took more of than the target allows; None if it did not."""
        if self.settings is None or self.now is None or not self.settings.limits:
            return None
        key = self.now.key.digest
        passes = [one for one in self.earlier if one.key.digest == key and passed(one)]
        accepted: Mapping[str, float] = {}
        if self.baseline is not None and not self.other_key:
            nights = {one.night: one.measures for one in passes}
            accepted = nights.get(self.baseline.night, {})
        if self.before is not None and self.before.failed:
            # what failed since then is not what it was
            began = self.before.since or self.before.night
            passes = [one for one in passes if one.night < began]
        earlier = [one.measures for one in passes]
        return exceeded(self.settings.limits, self.now.measures, earlier, accepted)

    @cached_property
    def chance(self) -> ComesAndGoes | None:
        """Return the evidence that the target fails by chance, over all nights.

        Such a target is intermittent; None if there is no evidence.
        """
        if not self.varies and all(map(passed, self.checks)):
            return None  # of most targets: nothing ever failed
        return comes_and_goes(self._verdicts, varies=self._draws)

    @cached_property
    def chance_before(self) -> ComesAndGoes | None:
        """Return the evidence of chance over the nights before this one.

        It shows that the target fails by chance; None if there is none.
        """
        return comes_and_goes(self._verdicts[: len(self.earlier)], varies=self._draws)

    @property
    def stays(self) -> bool:
        """Return whether the target fails for longer than what comes and goes."""
        return stays(self._verdicts)

    @property
    def _draws(self) -> bool:
        """Return whether it is known that chance decides the verdicts."""
        return self.varies or (self.settings is not None and bool(self.settings.quarantine))

    @cached_property
    def _verdicts(self) -> Sequence[Verdict]:
        """Return one verdict per night, from which `chance` is judged.

        A night fails by its verdict and, if the training is known to vary, by its drift as well.
        (Any other drift ends when a baseline is accepted, which is no chance.)
        """
        failed: set[str] = set()
        if self.varies:
            failed.update(state.night for state in self.states if state.failed)
        if self.varies and self.too_far:
            failed.add(self.night.id)
        # of the passes before the first failure nothing is asked
        passes = (passed(check) and not self.varies for check in self.checks)
        quiet = next((index for index, good in enumerate(passes) if not good), len(self.checks))
        found = [Verdict(good=True)] * quiet
        before = (None, *self.checks)[quiet:]
        for then, check in zip(before, self.checks[quiet:], strict=False):
            good = passed(check)
            verdict = Verdict(
                good=good and check.night not in failed,
                moved=_has_moved(then, check),
                both=check.good and not good,
            )
            found.append(verdict)
        return found

    @cached_property
    def too_far(self) -> tuple[Difference, ...]:
        """Return the series that are farther from the baseline than is allowed."""
        if self.allowed is None:
            return ()
        return self.allowed.exceeded(self.drift)


def meaning(drift: Iterable[Difference]) -> tuple[Difference, ...]:
    """Return the differences without those that mean nothing.

    These are series new to the check, and series that differ between runs of one check if they stay
    within the tolerance.
    """
    return tuple(
        difference
        for difference in drift
        if not difference.new and (not difference.loose or difference.beyond is not None)
    )


def passed(check: TargetCheck) -> bool:
    """Return whether a check counts as a pass: a retry never does."""
    return check.good and check.attempt == 1


def _has_moved(then: TargetCheck | None, now: TargetCheck) -> bool:
    """Return whether the code or the environment of a check is not that of the check before."""
    if then is None or not (then.key.facts and now.key.facts):
        return False
    # a commit that touches none of the target's files explains nothing
    code, code_then = now.files or now.commit, then.files or then.commit
    return (code, now.key.facts, now.beside) != (code_then, then.key.facts, then.beside)


def facts(check: TargetCheck) -> dict[str, str]:
    """Return all recorded environment facts of a check: environment key, other facts, commit.

    Empty where the check left no report.
    """
    if not check.key.facts:
        return {}
    return _with_commit({**check.beside, **check.key.facts}, check.commit)


def facts_of_baseline(baseline: Baseline) -> dict[str, str]:
    """Return the recorded environment facts of a baseline's check.

    Of imported curves they are what is known.
    """
    return _with_commit({**baseline.environment, **baseline.key.facts}, baseline.commit)


def changed_since(
    baseline: Baseline, check: TargetCheck, commit: str = ""
) -> dict[str, tuple[str, str]]:
    """Return the facts that differ between a baseline's check and another one.

    A baseline from a file has those of its key alone where the history does not know the check.

    commit  a later one that is known to be good, in place of the baseline's
    """
    now = facts(check)
    if not baseline.environment:
        now = _with_commit(dict(check.key.facts), check.commit)
    then = _with_commit(facts_of_baseline(baseline), commit)
    return changed(then, now)


def _with_commit(known: dict[str, str], commit: str) -> dict[str, str]:
    if commit:
        known[COMMIT] = commit
    return known


def changed(then: Mapping[str, str], now: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the facts that differ: name -> (old value, new value); "" for a fact that is absent.

    Return nothing if either side has no facts at all, because then nothing is known.
    """
    if not then or not now:
        return {}
    names = sorted(then.keys() | now.keys())
    pairs = {name: (then.get(name, ""), now.get(name, "")) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def between(then: TargetCheck | None, now: TargetCheck | None) -> dict[str, tuple[str, str]]:
    """Return the facts that differ between two checks; nothing if either check is None."""
    if then is None or now is None:
        return {}
    return changed(facts(then), facts(now))
