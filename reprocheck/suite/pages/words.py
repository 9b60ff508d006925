"""Sentences of a night, made last and in one place: for the files, the pages and the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime

from reprocheck import rules
from reprocheck.language import count
from reprocheck.report.text import UNKNOWN, joined, line, number, printable, seconds, ulps
from reprocheck.suite.baselines import accept_command
from reprocheck.suite.changes.words import MEASURES, amount, night
from reprocheck.suite.model import (
    Difference,
    Night,
    NightReport,
    ShownTarget,
    TargetCheck,
    TargetReport,
    TargetState,
    short,
)

Fact = tuple[str, str]
"""What it is called, and what it is; in the second, code stands between backticks."""
MOST_DRIFT = 8
"""Series of a target whose differences are said one by one."""


MOST_COMMITS = 5
"""Commits that change a suspected file which are named."""


def moment(when: float) -> str:
    """Format a time as `2026-11-23 02:00 UTC`. `when`: seconds since 1970."""
    return f"{datetime.fromtimestamp(when, UTC):%Y-%m-%d %H:%M} UTC"


def iso(when: float) -> str:
    """Format a time as `2026-11-23T02:00:00+00:00`. `when`: seconds since 1970."""
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")


def headline(report: NightReport) -> str:
    """Say how many targets fail: `2 of 7 targets fail`."""
    failed, of = len(report.failed), count(len(report.targets), "target")
    if report.night.ended is None:
        return f"The night has not come to its end: {failed:,} of {of} fail so far"
    if not failed:
        return f"None of {of} fails"
    verb = "fails" if failed == 1 else "fail"
    return f"{failed:,} of {of} {verb}"


def without_baseline(report: NightReport) -> str:
    """Say how many targets no baseline holds.

    `2 of 7 targets have no baseline`; "" if each has one.
    """
    number = len(report.without_baseline)
    if not number:
        return ""
    verb = "has" if number == 1 else "have"
    return f"{number:,} of {count(len(report.targets), 'target')} {verb} no baseline"


def counts(report: NightReport) -> str:
    """Count the targets in each state: `1 new failure · 1 drift · 5 unchanged`."""
    return " · ".join(f"{number:,} {word}" for word, number in report.counts.items())


def about(night: Night) -> Iterator[Fact]:
    """Yield the facts of a night: its name, its times, its commit, its shard and its executor."""
    yield "night", f"`{night.id}`"
    yield "started", moment(night.started)
    if night.ended is not None:
        yield "ended", moment(night.ended)
    if night.commit:
        yield "commit", f"`{line(short(night.commit))}`"
    if night.shard:
        yield "shard", line(night.shard)
    yield "executor", line(night.executor)


def title(check: TargetCheck | None) -> str:
    """Return the verdict of a check: `NOT REPRODUCIBLE (forward)`.

    It is `not checked` if there is none.
    """
    if check is None:
        return "not checked"
    return line(check.title)


def since(target: TargetReport) -> str:
    """Return the night in which the target's current state began."""
    if target.state is None:
        return ""
    return target.state.since or target.state.night


def sentence(target: TargetReport) -> str:
    """Say in one sentence what changed at a target."""
    state, check = target.state, target.check
    if state is not None and (said := state.sentence or state.sentence_to_paste):
        if target.last_checked:
            said = f"{said}; last checked on {night(target.last_checked)}"
        return line(said)
    if check is None:
        return "It was not checked in this night."
    return _with_reason(check)


def _with_reason(check: TargetCheck) -> str:
    """Return the verdict of a check with its reason.

    In a text to paste the reason is without quotes from the log.
    """
    return joined(": ", title(check), line(check.reason or check.reason_to_paste))


def seconds_of(target: TargetReport) -> float:
    """Return the time of a target's checks in seconds, retries included."""
    return sum(check.seconds for check in target.attempts)


def duration(target: TargetReport) -> str:
    """Format the time of a target's checks; an en dash if there is none."""
    if target.check is None:
        return UNKNOWN
    return seconds(seconds_of(target))


def facts(target: TargetReport) -> list[Fact]:
    """Yield all that is known of a target in a night, what changed first."""
    found: list[Fact] = []
    if target.state is not None:
        found += _of_state(target.state)
    if target.target is not None:
        found += _of_people(target.target)
    if target.decisive is not None:
        found += _of_check(target, target.decisive)
    baseline = target.baseline
    if baseline is not None:
        when = moment(baseline.when)
        found.append(("accepted", f"by {line(baseline.who)} on {when}: {line(baseline.why)}"))
    return found


def _of_state(state: TargetState) -> Iterator[Fact]:
    if state.since and state.since != state.night:
        yield "since", f"night `{state.since}`"
    if state.operation:
        yield "operation", line(state.operation)
    if state.suspect.source:
        yield "changed line", _code(state.suspect.source)
    for commit in state.suspect.commits[:MOST_COMMITS]:
        yield "changed by", line(commit)
    further = len(state.suspect.commits) - MOST_COMMITS
    if further > 0:
        yield "changed by", f"{count(further, 'more commit')} since the last good night"
    for name, (then, now) in state.changed.items():
        yield "environment", f"{line(name)}: {shown(then)} → {shown(now)}"
    other = "last good night" if state.state == "moved" else "baseline"
    for difference in state.drift[:MOST_DRIFT]:
        yield other, drift(difference, other)
    more = len(state.drift) - MOST_DRIFT
    if more > 0:
        yield other, f"{more:,} more series differ"


def _of_people(target: ShownTarget) -> Iterator[Fact]:
    if target.owner:
        yield "owner", line(target.owner)
    if issue := target.known_issue:
        said = f"{line(issue.why)}; until {issue.until}"
        yield "known issue", joined("; ", said, line(issue.link))
    if target.quarantine:
        yield "quarantine", line(target.quarantine)


def diff(target: TargetReport) -> str:
    """Return the lines of the source around the changed line that is suspected.

    It is "" if there are none.
    """
    if target.state is None:
        return ""
    return printable(target.state.suspect.diff)


def shown(value: str) -> str:
    """Format an environment fact; an absent fact has a placeholder."""
    return line(short(value)) or "none"


def drift(difference: Difference, other: str = "baseline") -> str:
    """Say in one sentence how far a series is from that of the baseline, or of `other`."""
    name = f"`{line(difference.series)}`"
    if difference.rank:
        name += f" of rank {difference.rank}"
    if difference.missing:
        return f"{name} is in the {other}, and was not reported"
    if difference.new:
        return f"{name} is new: the {other} has no such series"
    parts = [f"{name} {_differs(difference)}"]
    if difference.beyond is not None:
        parts.append(f"beyond the tolerance from value {difference.beyond:,} on")
    if difference.loose:
        parts.append("the runs of a check did not repeat it bit for bit")
    return "; ".join((*parts, f"largest relative difference {number(difference.relative)}"))


def _differs(difference: Difference) -> str:
    """Say where a series differs: `differs from step 3 on: 0.5000001 against 0.5 (1 ULP)`."""
    if difference.first_bit is None:
        return "differs"
    place = f"value {difference.first_bit}"
    if difference.step is not None:
        place = f"step {difference.step:g}"
    values = f"{exact(difference.value)} against {exact(difference.other)}"
    if difference.ulp is not None:
        values += f" ({ulps(difference.ulp)} ULP)"
    return f"differs from {place} on: {values}"


def exact(value: float | None) -> str:
    """Format a value with as many digits as distinguish it from neighbouring doubles."""
    if value is None:
        return UNKNOWN
    return repr(value)


def _of_check(target: TargetReport, check: TargetCheck) -> Iterator[Fact]:
    verdict = _with_reason(check)
    if target.state is None or not check.good:
        verdict = title(check)  # the sentence about the target has said the reason
    yield "verdict", verdict
    # those first that every training may have
    for name in sorted(check.measures, key=[*MEASURES, *sorted(check.measures)].index):
        yield MEASURES.get(name, line(name)), amount(name, check.measures[name])
    if check.first_divergence is not None:
        yield "first divergence", f"iteration {check.first_divergence:,}"
    yield "bits", _bits(check)
    if check.rung:
        yield "first rung that differs", joined(": ", line(check.rung), _code(check.place))
    if check.causes:
        yield "causes", "; ".join(map(_cause, check.causes))
    if check.source:
        yield "line", _code(check.source)
    if len(target.attempts) > 1:
        yield "attempts", ", then ".join(map(title, target.attempts))
    if check.commit:
        yield "commit", f"`{line(short(check.commit))}`"


def _cause(code: str) -> str:
    """Format a cause: its code, and the name that the catalogue gives it."""
    known = rules.find(code)
    name = ""
    if known is not None:
        name = known.name
    return joined(": ", f"`{line(code)}`", name)


def _bits(check: TargetCheck) -> str:
    if check.bitwise is None:
        return "not known"
    if check.bitwise:
        return "the runs are equal in every bit"
    if check.first_bitwise is None:
        return "the runs are not equal in every bit"
    return f"the runs are not equal in every bit from iteration {check.first_bitwise:,} on"


def _code(text: str) -> str:
    if not text:
        return ""
    return f"`{line(text)}`"


def commands(target: TargetReport) -> list[Fact]:
    """Return the commands to type next for a target, as (purpose, command)."""
    name = shlex.quote(line(target.name))
    again = ("Check it again:", f"reprocheck suite run {name}")
    if target.state is None:
        return [again]
    steps = [again]
    decisive = target.decisive
    bad = decisive if decisive is not None and not decisive.good else None
    differs = bad is not None and (bad.verdict == "not_reproducible" or bad.is_of_resume)
    if target.target is not None and differs:
        steps.append(("Confirm the cause, and get a fix that was tried:", target.target.explain))
    if target.state.drift and bad is None:
        accept = accept_command(line(target.name), night=target.state.night)
        steps.append(("Where the new values are right, accept them:", accept))
    if target.green and target.word not in ("slower", "larger"):
        nights = f"--good {shlex.quote(target.green)} --bad {shlex.quote(since(target))}"
        # where the verdict is what changed, it tells good from bad
        by = " --by verdict" if bad is not None else ""
        find = f"reprocheck suite bisect {name} {nights}{by}"
        steps.append(("Find the commit or package since which it is so:", find))
    return steps
