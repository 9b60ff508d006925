"""The sentence of a state: for people alone, made last."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import singledispatch

from reprocheck.language import count
from reprocheck.report.text import ulps
from reprocheck.suite.changes import reasons
from reprocheck.suite.changes.limits import Exceeded
from reprocheck.suite.measures import DEVICE_MEMORY, GROWTH, MEMORY, SECONDS
from reprocheck.suite.model import Difference, TargetCheck, short

FACTS = 3
"""So many facts that changed stand in a sentence; of the others it has the number."""
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})T")
_LOSS = "loss"
MEASURES: Mapping[str, str] = {
    SECONDS: "seconds an iteration",
    MEMORY: "memory",
    DEVICE_MEMORY: "memory of the device",
    GROWTH: "growth of memory an iteration",
}
"""What the measures are called that every training may have."""
_WAS: Mapping[str, str] = {
    "slower": "it took longer than is allowed",
    "larger": "it took more memory than is allowed",
}
_UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def sentence(reason: reasons.Reason, changed: Mapping[str, tuple[str, str]], since: str) -> str:
    """Return what is to be said of a target: the reason, what changed, and since when."""
    parts = [_said(reason)]
    if changed:
        parts.append(facts(changed))
    if since:
        parts.append(f"since {night(since)}")
    return "; ".join(parts)


def night(name: str) -> str:
    """Format a night's name for a sentence: its date, if the name begins with one."""
    date = _DATE.match(name)
    return date[1] if date else name


def facts(changed: Mapping[str, tuple[str, str]]) -> str:
    """Format changed facts: `torch 2.12 → 2.13, threads 8 → 4 and 2 more facts`."""
    parts = []
    for name, (then, now) in list(changed.items())[:FACTS]:
        if not then:
            parts.append(f"{name} {short(now)} is new")
        elif not now:
            parts.append(f"{name} {short(then)} is gone")
        else:
            parts.append(f"{name} {short(then)} → {short(now)}")
    words = ", ".join(parts)
    if len(changed) <= FACTS:
        return words
    return f"{words} and {count(len(changed) - FACTS, 'more fact')}"


@singledispatch
def _said(reason: object) -> str:
    raise TypeError(f"there are no words for {type(reason).__name__}")


@_said.register
def _(reason: reasons.Gone) -> str:
    if not reason.last:
        return "the suite does not have it any more"
    return f"the suite does not have it any more; last checked on {night(reason.last)}"


@_said.register
def _(reason: reasons.NotRun) -> str:
    what = "was to be checked, and has no check"
    if not reason.last:
        return f"{what}; never checked before"
    return f"{what}; last checked on {night(reason.last)}"


@_said.register
def _(reason: reasons.Intermittent) -> str:
    parts = [_tonight(reason)]
    if reason.nights > 1:
        parts.append(f"{reason.failures} of the last {reason.nights} nights failed")
    if reason.too_far:
        parts.append(differences(reason.too_far))
    return "; ".join(parts)


def _tonight(reason: reasons.Intermittent) -> str:
    if not reason.check.good:
        return f"{_verdict(reason.check)}; its verdicts come and go by chance"
    if reason.check.attempt > 1:
        passes = f"{_retried(reason.check)}, which is no pass"
        return f"{_verdict(reason.failure)}; {passes}" if reason.failure else passes
    if reason.too_far:
        return "is too far from the baseline in some nights, by chance"
    return "passes, but its verdicts come and go by chance"


def _retried(check: TargetCheck) -> str:
    return f"passes on retry {check.attempt - 1}"


@_said.register
def _(reason: reasons.Shifted) -> str:
    size = abs(reason.deviations)
    parts = [
        f"loss has moved {'up' if reason.deviations > 0 else 'down'} by"
        f" {abs(reason.relative):.2g} relative, {size:.1f} standard deviations of its nights"
    ]
    if not reason.check.good:
        parts.append(_verdict(reason.check))
    elif reason.check.attempt > 1:
        parts.append(_retried(reason.check))
    return "; ".join(parts)


@_said.register
def _(reason: reasons.Moved) -> str:
    return f"{_moved(reason)}; no baseline is accepted"


def _moved(reason: reasons.Moved) -> str:
    return differences(reason.drift, f"the last good night ({night(reason.night)})")


@_said.register
def _(reason: reasons.Slower) -> str:
    return f"takes {_seconds(reason.after)}, {_seconds(reason.before)} before"


@_said.register
def _(reason: reasons.Larger) -> str:
    if reason.growth:
        return f"memory rises by {amount(MEMORY, reason.growth)} an iteration"
    return f"takes {amount(MEMORY, reason.after)}, {amount(MEMORY, reason.before)} before"


@_said.register
def _(reason: Exceeded) -> str:
    now, then = (amount(reason.name, value) for value in (reason.after, reason.before))
    what = MEASURES.get(reason.name, reason.name)
    more = " more" if reason.name in MEASURES else ""
    return f"{what}: {now}, {then} before; {100 * reason.limit:.3g} %{more} is allowed"


def amount(name: str, value: float) -> str:
    """Format the value of a measure: `1.20 GB`, `0.042 s`, `812`."""
    if name == SECONDS:
        return _seconds(value)
    if name not in MEASURES:
        return f"{value:.4g}"
    unit, size = next((one for one in _UNITS if value >= 0.9995 * one[1]), _UNITS[-1])
    return f"{value / size:.3g} {unit}"


@_said.register
def _(reason: reasons.Failing) -> str:
    parts = [_verdict(reason.check)]
    if reason.check.verdict != reason.expected == "not_reproducible":
        parts.append("NOT REPRODUCIBLE is expected")
    if reason.last_good:
        parts.append(f"last good on {night(reason.last_good)}")
    return "; ".join(parts)


@_said.register
def _(reason: reasons.Drifted) -> str:
    words = differences(reason.drift)
    if reason.bits:
        return f"{words}; no bit may differ"
    where = "beyond" if reason.failed else "within"
    allowed = f" ({reason.allowed})" if reason.allowed else ""
    return f"{words}; {where} the tolerance{allowed}"


@_said.register
def _(reason: reasons.Fixed) -> str:
    failed = reason.bad.title
    if reason.bad.good:
        failed = _WAS.get(reason.was, "the drift from the baseline")
    words = f"passes again after {failed}"
    if reason.began:
        words = f"{words} since {night(reason.began)}"
    if reason.moved is None:
        return words
    return f"{words}; {_moved(reason.moved)}"


@_said.register
def _(reason: reasons.New) -> str:
    return f"checked for the first time: {reason.check.title}"


@_said.register
def _(reason: reasons.Unchanged) -> str:
    words = reason.check.title
    if reason.check.is_of_resume:
        return words
    if not reason.baseline:
        return f"{words}; no baseline is accepted"
    if not reason.drift:
        of_another = " of another environment" if reason.other_key else ""
        return f"{words}, equal to the baseline{of_another} in every bit"
    return f"{words}, within the tolerance of the baseline; it is known to vary"


@_said.register
def _(reason: reasons.WithKnownIssue) -> str:
    issue = reason.issue
    words = f"known issue until {issue.until}"
    if reason.passes:
        words = "it passes, so its known issue can go"
    elif reason.over:
        words = f"the known issue was allowed until {issue.until}"
    return f"{_said(reason.reason)}; {words}: {issue.why}"


@_said.register
def _(reason: reasons.InQuarantine) -> str:
    words = "in quarantine"
    if reason.stays:
        words = "in quarantine, but it fails for too long to come and go"
    return f"{_said(reason.reason)}; {words}: {reason.why}"


def differences(drift: Iterable[Difference], than: str = "the baseline") -> str:
    """Return where curves differ from others, as words.

    `loss differs from the baseline from step 14 on, by 1 ULP; so does grad_norm`.
    """
    first, *others = sorted(drift, key=_importance)
    words = f"{_series(first)} is in {than}, and not in this check"
    if not first.missing:
        where = "" if first.step is None else f" from step {first.step:.15g} on"
        size = f", by up to {first.relative:.2g} relative"
        if first.ulp is not None and first.beyond is None:
            size = f", by {ulps(first.ulp)} ULP"
        words = f"{_series(first)} differs from {than}{where}{size}"
    if not others:
        return words
    if len(others) == 1:
        return f"{words}, and so does {_series(others[0])}"
    return f"{words}, and so do {len(others)} more series"


def _importance(difference: Difference) -> tuple[bool, bool, float, int]:
    """Return a sort key for a difference.

    The loss comes first, then series by where they first differ.
    """
    where = float("inf") if difference.step is None else difference.step
    return (difference.series != _LOSS, difference.missing, where, difference.rank)


def _series(difference: Difference) -> str:
    return (
        f"{difference.series} of rank {difference.rank}" if difference.rank else difference.series
    )


def _verdict(check: TargetCheck) -> str:
    if not check.reason:
        return check.title
    return f"{check.title}: {check.reason.rstrip('.')}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 100 else f"{seconds:.0f} s"
