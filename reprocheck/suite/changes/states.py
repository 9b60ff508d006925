"""The state of a target in a night: one rule a state, tried in the order of RULES."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from reprocheck.suite.changes import reasons
from reprocheck.suite.changes.known import (
    Known,
    between,
    changed,
    facts,
    facts_of_baseline,
    passed,
)
from reprocheck.suite.changes.reasons import Reason
from reprocheck.suite.changes.verdicts import ComesAndGoes, Verdict, comes_and_goes
from reprocheck.suite.changes.words import sentence
from reprocheck.suite.model import State, TargetCheck, TargetState


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a rule found. `reason` is what the sentence is made of; the others as in TargetState."""

    state: State
    reason: Reason
    failed: bool = False
    since: str = ""
    changed: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def classify(known: Known) -> TargetState:
    """The state of a target in a night, by the first rule that has something to say."""
    found = _first(known)
    since = found.since
    if since == known.night.id:
        since = ""
    return TargetState(
        night=known.night.id,
        target=known.target,
        state=found.state,
        failed=found.failed,
        since=since,
        sentence=sentence(found.reason, found.changed, since),
        changed=found.changed,
        drift=known.drift,
    )


def _first(known: Known) -> Found:
    for rule in RULES:
        found = rule(known)
        if found is not None:
            return found
    raise AssertionError("the last rule always has something to say")


def _gone(known: Known) -> Found | None:
    """The suite does not have it any more."""
    if known.now is not None or known.target in known.night.targets:
        return None
    return Found(state="gone", reason=reasons.Gone(_night_of(known.last)))


def _not_run(known: Known) -> Found | None:
    """It has no check in this night. A failure where the night was to check it."""
    if known.now is not None:
        return None
    selected = known.target in known.night.selected
    return Found(
        state="not run",
        failed=selected,
        since=_as_before(known, "not run"),
        reason=reasons.NotRun(selected=selected, last=_night_of(known.last)),
    )


def _intermittent(known: Known) -> Found | None:
    """A retry passed, or the verdicts of the nights come and go by chance."""
    now = _checked(known)
    by_history = comes_and_goes(_verdicts(known.checks))
    if by_history is None:
        return None
    failed = not passed(now)
    return Found(
        state="intermittent",
        failed=failed or bool(known.too_far),
        since=known.checks[by_history.first].night,
        reason=reasons.Intermittent(
            check=now,
            retried=now.good and failed,
            failures=by_history.failures,
            nights=by_history.nights,
            too_far=known.too_far,
        ),
    )


def _failing(known: Known) -> Found | None:
    """The check is not what is expected of the target."""
    now = _checked(known)
    if passed(now):
        return None
    first, last_good = _first_failure(known.checks)
    newly = first is now or _was_intermittent(known) is not None
    return Found(
        state="new failure" if newly else "still failing",
        failed=True,
        since=first.night,
        changed=between(last_good, first),
        reason=reasons.Failing(check=now, expected=known.expected, last_good=_night_of(last_good)),
    )


def _drifted_too_far(known: Known) -> Found | None:
    """Its curves are farther from the baseline than is allowed."""
    if not known.too_far:
        return None
    return _drifted(known, "drift", failed=True)


def _fixed(known: Known) -> Found | None:
    """It failed the night before, by its verdict or by its drift, and does not fail any more."""
    bad = _repaired(known)
    if bad is None:
        return None
    return Found(
        state="fixed",
        changed=between(bad, known.now),
        reason=reasons.Fixed(bad=bad, began=_began_to_fail(known)),
    )


def _drifted_within(known: Known) -> Found | None:
    """Its curves are not those of the baseline of its key, and as close as is allowed."""
    if not known.moved or known.other_key or known.varies:
        return None
    return _drifted(known, "drift")


def _expected_drift(known: Known) -> Found | None:
    """Its curves are not those of the baseline of another key."""
    if not known.moved or not known.other_key:
        return None
    return _drifted(known, "expected drift")


def _new_target(known: Known) -> Found | None:
    """It was never checked before."""
    if known.earlier:
        return None
    return Found(state="new target", reason=reasons.New(_checked(known)))


def _unchanged(known: Known) -> Found | None:
    """Nothing of the above."""
    now = _checked(known)
    return Found(
        state="unchanged",
        changed=between(known.last, now),
        reason=reasons.Unchanged(
            check=now,
            baseline=known.baseline is not None,
            other_key=known.other_key,
            varies=known.varies,
            drift=known.drift,
        ),
    )


Rule = Callable[[Known], Found | None]
RULES: tuple[Rule, ...] = (
    _gone,
    _not_run,
    _intermittent,
    _failing,
    _drifted_too_far,
    _fixed,
    _drifted_within,
    _expected_drift,
    _new_target,
    _unchanged,
)
"""In the order of precedence: what comes first is said, whatever else is true."""


def _checked(known: Known) -> TargetCheck:
    assert known.now is not None, "the rules before have said what is not checked"
    return known.now


def _night_of(check: TargetCheck | None) -> str:
    return "" if check is None else check.night


def _as_before(known: Known, state: State) -> str:
    """The night in which a state began that is that of the night before, too."""
    if known.before is None or known.before.state != state:
        return ""
    return known.before.since or known.before.night


def _verdicts(checks: Sequence[TargetCheck]) -> list[Verdict]:
    """The nights of a target as its intermittency is judged by."""
    found = []
    before: TargetCheck | None = None
    for check in checks:
        both = check.good and not passed(check)
        moved = bool(between(before, check))
        found.append(Verdict(good=passed(check), moved=moved, both=both))
        before = check
    return found


def _was_intermittent(known: Known) -> ComesAndGoes | None:
    """Whether it was intermittent by its history up to the night before."""
    return comes_and_goes(_verdicts(known.earlier))


def _first_failure(checks: Sequence[TargetCheck]) -> tuple[TargetCheck, TargetCheck | None]:
    """The first of the failures that end these checks, and the pass before it."""
    first = checks[-1]
    for check in reversed(checks):
        if passed(check):
            return first, check
        first = check
    return first, None


def _drifted(known: Known, state: State, *, failed: bool = False) -> Found:
    assert known.baseline is not None, "there is nothing else to drift from"
    assert known.allowed is not None, "what is allowed is known of every baseline"
    return Found(
        state=state,
        failed=failed,
        since=_drift_began(known, state),
        changed=changed(facts_of_baseline(known.baseline), facts(_checked(known))),
        reason=reasons.Drifted(
            drift=known.too_far or known.moved,
            failed=failed,
            bits=known.allowed.allow == "bits",
            allowed=known.allowed.sentence,
        ),
    )


def _drift_began(known: Known, state: State) -> str:
    """The night since which it differs from the baseline in this way."""
    if known.before is None or known.before.drift != known.drift:
        return ""
    return _as_before(known, state)


def _repaired(known: Known) -> TargetCheck | None:
    """The last check that failed, where this one is the first that does not."""
    last = known.last
    if last is None:
        return None
    if not passed(last) or _was_intermittent(known) is not None:
        return known.last_failure
    if _drift_is_over(known, last):
        return last
    return None


def _drift_is_over(known: Known, last: TargetCheck) -> bool:
    """Whether it failed by its drift, and the baseline is the one that it had drifted from."""
    before, baseline = known.before, known.baseline
    if before is None or baseline is None:
        return False
    failed = before.state == "drift" and before.failed
    return failed and baseline.when <= last.started


def _began_to_fail(known: Known) -> str:
    last = known.last
    if last is None or passed(last):
        return _as_before(known, "drift") or _as_before(known, "intermittent")
    return _first_failure(known.earlier)[0].night
