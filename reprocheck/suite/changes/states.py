"""The state of a target in a night: one rule a state, tried in the order of RULES."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from statistics import median

from reprocheck.redaction import Redaction, redacted
from reprocheck.suite.changes import reasons
from reprocheck.suite.changes.reasons import Reason
from reprocheck.suite.changes.shifts import shift
from reprocheck.suite.changes.target_facts import (
    Known,
    between,
    changed_since,
    passed,
)
from reprocheck.suite.changes.words import sentence
from reprocheck.suite.measures import DEVICE_MEMORY, GROWTH, MEMORY, SECONDS
from reprocheck.suite.model import (
    Difference,
    KnownIssue,
    State,
    TargetCheck,
    TargetState,
)

OF_TIMES = 0.01
"""How often a night may be marked as of another time, two-sided; half of it are slower ones."""
OF_LOSSES = 0.0075
"""How often a night may be marked as of another level of losses, two-sided. Less than of times: the
words of such a target come from its verdicts as well, and all of them are to be right in 99 of 100
nights.
"""
SLOWER = 1.1
"""A training that takes less than this many times what it took is not slower: nobody is woken for
less, and machines that are used by others vary by some percent.
"""
LEAST_SPREAD_OF_TIMES = 0.01
"""Relative: times that are closer than a percent are the same."""
COME_AND_GO: tuple[State, ...] = ("new failure", "still failing", "intermittent", "fixed")
"""States that quarantine is for: a drift of a check that passes is none of them."""
_OF_MEASURES: Mapping[str, State] = {
    SECONDS: "slower",
    MEMORY: "larger",
    DEVICE_MEMORY: "larger",
}
"""Which state a measure has that is beyond its limit."""
LEAST_SPREAD = 1e-9
"""Relative: losses that are closer, in the mean of a curve, are the same."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """Hold what a rule found.

    `reason`: the data of the sentence; other fields as in TargetState.
    """

    state: State
    reason: Reason
    failed: bool = False
    since: str = ""
    changed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    drift: tuple[Difference, ...] = ()


def classify(known: Known) -> TargetState:
    """Return the state of a target in a night, from the first rule in RULES that applies."""
    # the last rule always has something to say
    found = _marked(known, next(found for rule in RULES if (found := rule(known)) is not None))
    since = "" if found.since == known.night.id else found.since
    state = TargetState(
        night=known.night.id,
        target=known.target,
        state=found.state,
        failed=found.failed,
        since=since,
        sentence=sentence(found.reason, found.changed, since),
        changed=found.changed,
        drift=found.drift or known.drift,
    )
    changed_to_paste = _to_paste(tuple(found.changed.items()))
    to_paste = sentence(_without_log(found.reason), changed_to_paste, since)
    return replace(state, sentence_to_paste=to_paste)


def _marked(known: Known, found: Found) -> Found:
    """Return what a rule found as people have marked the target: a known issue, or quarantine."""
    target = known.settings
    if target is None or known.now is None:
        return found
    if target.known_issue is not None:
        return _known_issue(known, found, target.known_issue)
    if not target.quarantine or found.state not in COME_AND_GO:
        return found
    failed = found.failed and known.stays
    reason = reasons.InQuarantine(found.reason, target.quarantine, stays=failed)
    if found.failed and not failed:
        since = _as_before(known, "intermittent") or found.since
        return replace(found, state="intermittent", failed=False, since=since, reason=reason)
    if failed and (known.before is None or not known.before.failed):
        return replace(found, since="", reason=reason)
    return replace(found, reason=reason)


def _known_issue(known: Known, found: Found, issue: KnownIssue) -> Found:
    """Return the state of a target with a known issue.

    It fails the night once its date is over, and when it passes.
    """
    today = f"{datetime.fromtimestamp(known.night.started, UTC):%Y-%m-%d}"
    over, passes = today > issue.until, not found.failed
    reason = reasons.WithKnownIssue(found.reason, issue, over=over, passes=passes)
    failed = over or passes
    fails_anew = known.before is None or known.before.failed is not failed
    passes_anew = passes and known.last is not None and not passed(known.last)
    since = "" if fails_anew or passes_anew else _as_before(known, "known issue")
    return replace(found, state="known issue", failed=failed, since=since, reason=reason)


def _without_log(reason: Reason) -> Reason:
    """Return a reason without what its checks quote of a log."""
    if isinstance(reason, (reasons.WithKnownIssue, reasons.InQuarantine)):
        return replace(reason, reason=_without_log(reason.reason))
    if not isinstance(reason, (reasons.Failing, reasons.Intermittent, reasons.Shifted)):
        return reason
    check = replace(reason.check, reason=reason.check.reason_to_paste)
    if not isinstance(reason, reasons.Intermittent) or reason.failure is None:
        return replace(reason, check=check)
    failure = replace(reason.failure, reason=reason.failure.reason_to_paste)
    return replace(reason, check=check, failure=failure)


@lru_cache(maxsize=1_000)
def _to_paste(changed: tuple[tuple[str, tuple[str, str]], ...]) -> Mapping[str, tuple[str, str]]:
    """Return changed facts as they may be pasted. What changed at one target changed at most."""
    state = TargetState(night="", target="", state="unchanged", changed=dict(changed))
    return redacted(state, Redaction("paste")).changed


def _gone(known: Known) -> Found | None:
    """Return the state of a target that the suite no longer has."""
    if known.now is not None or known.target in known.night.targets:
        return None
    return Found(state="gone", reason=reasons.Gone(_night_of(known.last)))


def _not_run(known: Known) -> Found | None:
    """Return the state of a target that this night was to check, and has no check of."""
    if known.now is not None:
        return None
    return Found(
        state="not run",
        failed=True,
        since=_as_before(known, "not run"),
        reason=reasons.NotRun(last=_night_of(known.last)),
    )


def _failing(known: Known) -> Found | None:
    """Return the state of a target whose failure chance does not explain.

    Its verdict is not the expected one.
    """
    now = _checked(known)
    if passed(now) or known.chance is not None:
        return None
    first, last_good = _first_failure(known.checks)
    newly = first is now or known.chance_before is not None
    return Found(
        state="new failure" if newly else "still failing",
        failed=True,
        since=first.night,
        changed=between(last_good, first),
        reason=reasons.Failing(check=now, expected=known.expected, last_good=_night_of(last_good)),
    )


def _drifted_too_far(known: Known) -> Found | None:
    """Return the state of a target whose curves drifted farther than is allowed.

    Chance does not explain their distance from the baseline.
    """
    by_chance = known.varies and known.chance is not None
    if not known.too_far or by_chance:
        return None
    return _drifted(known, "drift", failed=True)


def _shifted(known: Known) -> Found | None:
    """Return the state of a target that is known to vary, if the level of its losses has shifted.

    This holds even in a night that fails by chance, because the failures of a target that often
    fails would otherwise hide the shift.
    """
    found = shift(tuple(known.levels.values()), alpha=OF_LOSSES, spread=LEAST_SPREAD)
    if found is None or known.night.id not in known.levels:
        return None
    since = _as_before(known, "drift") or tuple(known.levels)[found.first]
    return Found(
        state="drift",
        failed=known.fails,
        since=since,
        changed=_changed_at(known.checks, since),
        reason=reasons.Shifted(
            check=_checked(known), deviations=found.deviations, relative=found.after - found.before
        ),
    )


def _intermittent_and_fails(known: Known) -> Found | None:
    """Return the state of an intermittent target that fails in this night."""
    return _intermittent(known) if known.fails else None


def _fixed(known: Known) -> Found | None:
    """Return the state of a target that failed the night before and passes now.

    It failed by its verdict or its drift. An intermittent target counts as fixed only after so many
    passes that chance does not explain them.
    """
    if known.chance is not None:
        return None
    bad = _repaired(known)
    if bad is None:
        return None
    last = known.last
    if last is None or passed(last):
        states: tuple[State, ...] = ("drift", "intermittent", "slower", "larger")
        began = next(filter(None, (_as_before(known, state) for state in states)), "")
    else:
        began = _first_failure(known.earlier)[0].night
    return Found(
        state="fixed",
        changed=between(bad, known.now),
        reason=reasons.Fixed(
            bad=bad,
            began=began,
            was=known.before.state if known.before else "drift",
            moved=known.moved_since,
        ),
    )


def _drifted_within(known: Known) -> Found | None:
    """Return the state of a target whose curves drifted no more than is allowed.

    They differ from the baseline of its own environment key.
    """
    if not known.moved or known.other_key or known.varies:
        return None
    return _drifted(known, "drift")


def _expected_drift(known: Known) -> Found | None:
    """Return the state of a target that drifted in another environment.

    Its curves differ from a baseline of another environment key.
    """
    if not known.moved or not known.other_key:
        return None
    return _drifted(known, "expected drift")


def _moved(known: Known) -> Found | None:
    """Return the state of a target without a baseline whose curves moved.

    They are not those of the last good night.
    """
    if known.moved_since is None:
        return None
    return Found(
        state="moved",
        changed=between(known.last_good, known.now),
        drift=known.moved_since.drift,
        reason=known.moved_since,
    )


def _guarded(known: Known) -> Found | None:
    """Return the state of a target that takes more time or memory than it allows."""
    found = known.exceeded
    if found is None:
        return None
    state = _OF_MEASURES.get(found.name, "drift")
    since = _as_before(known, state) if known.before and known.before.failed else ""
    return Found(
        state=state,
        failed=True,
        since=since,
        changed=between(known.last, known.now),
        reason=found,
    )


def _slower(known: Known) -> Found | None:
    """Return the state of a target whose last nights took longer than those before.

    Only checks that pass count, because failed checks end early.
    """
    passes = [check for check in known.checks if check.good and check.seconds > 0]
    found = _risen(known, passes, [check.seconds for check in passes])
    if found is None:
        return None
    before, after, since = found
    return Found(
        state="slower",
        since=_as_before(known, "slower") or since,
        changed=_changed_at(known.checks, since),
        reason=reasons.Slower(before=before, after=after),
    )


def _larger(known: Known) -> Found | None:
    """Return the state of a target whose last nights took more memory than before.

    Its memory may also rise from iteration to iteration as it did not the time before.
    """
    passes = [check for check in known.checks if check.good and check.measures.get(MEMORY)]
    found = _risen(known, passes, [check.measures[MEMORY] for check in passes])
    if found is not None:
        before, after, since = found
        return Found(
            state="larger",
            since=_as_before(known, "larger") or since,
            changed=_changed_at(known.checks, since),
            reason=reasons.Larger(before=before, after=after),
        )
    growth = _checked(known).measures.get(GROWTH, 0.0)
    if not growth or known.last is None or known.last.measures.get(GROWTH):
        return None
    changed = between(known.last, known.now)
    return Found(state="larger", changed=changed, reason=reasons.Larger(growth=growth))


def _risen(
    known: Known, passes: Sequence[TargetCheck], values: Sequence[float]
) -> tuple[float, float, str] | None:
    """Return from where to where a number of the last passes has risen.

    The first night stands beside it; None if it has not risen by SLOWER.
    """
    if not passes or passes[-1] is not known.now:
        return None
    least = math.log(SLOWER)
    found = shift(
        list(map(math.log, values)), alpha=OF_TIMES, spread=LEAST_SPREAD_OF_TIMES, least=2 * least
    )
    if found is None or found.after - found.before < least:
        return None
    return math.exp(found.before), median(values[found.first :]), passes[found.first].night


def _intermittent(known: Known) -> Found | None:
    """Return the state of a target that is intermittent: chance decides whether it fails."""
    if known.chance is None:
        return None
    return Found(
        state="intermittent",
        failed=known.fails,
        since=known.checks[known.chance.first].night,
        reason=reasons.Intermittent(
            check=_checked(known),
            failures=known.chance.failures,
            nights=known.chance.nights,
            failure=known.failure,
            too_far=known.too_far,
        ),
    )


def _new_target(known: Known) -> Found | None:
    """Return the state of a target that was never checked before.

    One with a baseline was, though a shard does not know when.
    """
    if known.earlier or known.baseline is not None:
        return None
    return Found(state="new target", reason=reasons.New(_checked(known)))


def _unchanged(known: Known) -> Found | None:
    """Return the state of a target to which no other rule applies."""
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
    _failing,
    _drifted_too_far,
    _guarded,
    _shifted,
    _intermittent_and_fails,
    _fixed,
    _drifted_within,
    _expected_drift,
    _moved,
    _slower,
    _larger,
    _intermittent,
    _new_target,
    _unchanged,
)
"""In the order of precedence: what comes first is said, whatever else is true."""


def _checked(known: Known) -> TargetCheck:
    assert known.now is not None, "the rules before have said what is not checked"
    return known.now


def _night_of(check: TargetCheck | None) -> str:
    return "" if check is None else check.night


def _changed_at(checks: Sequence[TargetCheck], night: str) -> Mapping[str, tuple[str, str]]:
    """Return what changed between the check of a night and the one before it."""
    for before, check in pairwise(checks):
        if check.night == night:
            return between(before, check)
    return {}


def _as_before(known: Known, state: State) -> str:
    """Return the night in which `state` began, if the state is not new.

    It is not new if the target had it the night before; else the result is "".
    """
    if known.before is None or known.before.state != state:
        return ""
    return known.before.since or known.before.night


def _first_failure(checks: Sequence[TargetCheck]) -> tuple[TargetCheck, TargetCheck | None]:
    """Return the first of the failures at the end of these checks.

    They are an unbroken run; the pass before it is returned beside it.
    """
    first = checks[-1]
    for check in reversed(checks):
        if passed(check):
            return first, check
        first = check
    return first, None


def _drifted(known: Known, state: State, *, failed: bool = False) -> Found:
    assert known.baseline is not None, "there is nothing else to drift from"
    assert known.allowed is not None, "what is allowed is known of every baseline"
    since = ""
    if known.before is not None and known.before.drift == known.drift:
        since = _as_before(known, state)
    return Found(
        state=state,
        failed=failed,
        since=since,
        changed=changed_since(known.baseline, _checked(known), _commit_before(known, since)),
        reason=reasons.Drifted(
            drift=known.too_far or known.moved,
            failed=failed,
            bits=known.allowed.allow == "bits",
            allowed=known.allowed.sentence,
        ),
    )


def _commit_before(known: Known, since: str) -> str:
    """Return the commit of the last good night before a drift; "" if it is not known.

    It is later than that of the baseline.

    since  the night in which the drift began; "" if it is this one
    """
    began = since or known.night.id
    before = [check for check in known.earlier if check.night < began]
    is_new = since or known.before is None or not known.before.failed
    if not is_new or not before or not passed(before[-1]):
        return ""
    return before[-1].commit


def _repaired(known: Known) -> TargetCheck | None:
    """Return the last check that failed, if the target passes again.

    This night's check is the first one since that passes.
    """
    last = known.last
    if last is None:
        return None
    if not passed(last) or known.chance_before is not None:
        return known.last_failure
    before, baseline = known.before, known.baseline
    if before is not None and before.failed and before.state in ("slower", "larger"):
        return last
    if before is None or baseline is None:
        return None
    failed_by_drift = before.state == "drift" and before.failed
    is_same_baseline = baseline.when <= last.started
    return last if failed_by_drift and is_same_baseline else None
