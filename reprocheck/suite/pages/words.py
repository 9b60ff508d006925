"""Sentences of a night, made last and in one place: for the files, the pages and the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime

from reprocheck import rules
from reprocheck.language import count
from reprocheck.report.text import UNKNOWN, joined, line, number, seconds, ulps
from reprocheck.suite.baselines import accept_command
from reprocheck.suite.model import (
    Baseline,
    Difference,
    Night,
    NightReport,
    TargetCheck,
    TargetReport,
    short,
)

Fact = tuple[str, str]
"""What it is called, and what it is; in the second, code stands between backticks."""
MOST_DRIFT = 8
"""Series of a target whose differences are said one by one."""


def moment(when: float) -> str:
    """`2026-11-23 02:00 UTC`."""
    return f"{datetime.fromtimestamp(when, UTC):%Y-%m-%d %H:%M} UTC"


def iso(when: float) -> str:
    """`2026-11-23T02:00:00+00:00`."""
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")


def headline(report: NightReport) -> str:
    """`2 of 7 targets fail`."""
    failed, of = len(report.failed), count(len(report.targets), "target")
    if report.night.ended is None:
        return f"The night has not come to its end: {failed:,} of {of} fail so far"
    if not failed:
        return f"None of {of} fails"
    return f"{failed:,} of {of} {_FAIL.get(failed, 'fail')}"


_FAIL = {1: "fails"}


def counts(report: NightReport) -> str:
    """`1 new failure · 1 drift · 5 unchanged`."""
    return " · ".join(f"{number:,} {word}" for word, number in report.counts.items())


def about(night: Night) -> Iterator[Fact]:
    """Yield when, where and of which commit a night was."""
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
    """Return the verdict of a check: `NOT REPRODUCIBLE (forward)`; `not checked` where there is
    none.
    """
    if check is None:
        return "not checked"
    return line(check.title)


def since(one: TargetReport) -> str:
    """Return the night in which the state began."""
    if one.state is None:
        return ""
    return one.state.since or one.state.night


def sentence(one: TargetReport) -> str:
    """Return what changed, in one sentence."""
    state, check = one.state, one.check
    if state is not None and (said := state.sentence or state.sentence_to_paste):
        return line(said)
    if check is None:
        return "It was not checked in this night."
    return _with_reason(check)


def _with_reason(check: TargetCheck) -> str:
    """Return the verdict with its reason, which a text to paste has without what it quotes."""
    return joined(": ", title(check), line(check.reason or check.reason_to_paste))


def seconds_of(one: TargetReport) -> float:
    """Return the time of its checks, retries included."""
    return sum(check.seconds for check in one.attempts)


def duration(one: TargetReport) -> str:
    """Return the time of its checks; an en dash where there is none."""
    if one.check is None:
        return UNKNOWN
    return seconds(seconds_of(one))


def facts(one: TargetReport) -> list[Fact]:
    """Return all that is known of a target in a night, what changed first."""
    return [*_changed(one), *_drift(one), *_of_check(one), *_of_baseline(one.baseline)]


def _changed(one: TargetReport) -> Iterator[Fact]:
    state = one.state
    if state is None:
        return
    if state.since and state.since != state.night:
        yield "since", f"night `{state.since}`"
    if state.operation:
        yield "operation", line(state.operation)
    for name, (then, now) in state.changed.items():
        yield "environment", f"{line(name)}: {shown(then)} → {shown(now)}"


def shown(value: str) -> str:
    """Return a fact of the environment; what stands for one that is not there."""
    return line(short(value)) or "none"


def _drift(one: TargetReport) -> Iterator[Fact]:
    if one.state is None:
        return
    differences = one.state.drift
    for difference in differences[:MOST_DRIFT]:
        yield "baseline", drift(difference)
    more = len(differences) - MOST_DRIFT
    if more > 0:
        yield "baseline", f"{more:,} more series differ"


def drift(difference: Difference) -> str:
    """Return how far a series is from the baseline, in one sentence."""
    name = f"`{line(difference.series)}`"
    if difference.rank:
        name += f" of rank {difference.rank}"
    if difference.missing:
        return f"{name} is in the baseline, and was not reported"
    if difference.new:
        return f"{name} is new: the baseline has no such series"
    parts = [f"{name} {_differs(difference)}", *_beyond(difference)]
    if difference.loose:
        parts.append("the runs of a check did not repeat it bit for bit")
    return "; ".join((*parts, f"largest relative difference {number(difference.relative)}"))


def _differs(difference: Difference) -> str:
    if difference.first_bit is None:
        return "differs"
    return f"differs from {_place(difference)} on: {_values(difference)}"


def _beyond(difference: Difference) -> Iterator[str]:
    if difference.beyond is not None:
        yield f"beyond the tolerance from value {difference.beyond:,} on"


def _place(difference: Difference) -> str:
    if difference.step is None:
        return f"value {difference.first_bit}"
    return f"step {difference.step:g}"


def _values(difference: Difference) -> str:
    """`0.5000001 against 0.5 (1 ULP)`."""
    said = f"{exact(difference.value)} against {exact(difference.other)}"
    if difference.ulp is None:
        return said
    return f"{said} ({ulps(difference.ulp)} ULP)"


def exact(value: float | None) -> str:
    """Return a value with as many digits as tell it from its neighbours."""
    if value is None:
        return UNKNOWN
    return repr(value)


def _of_check(one: TargetReport) -> Iterator[Fact]:
    check = one.check
    if check is None:
        return
    yield "verdict", _verdict(one, check)
    if check.first_divergence is not None:
        yield "first divergence", f"iteration {check.first_divergence:,}"
    yield "bits", _bits(check)
    if check.rung:
        yield "first rung that differs", joined(": ", line(check.rung), _code(check.place))
    if check.causes:
        yield "causes", "; ".join(map(_cause, check.causes))
    if check.source:
        yield "line", _code(check.source)
    if len(one.attempts) > 1:
        yield "attempts", ", then ".join(map(title, one.attempts))
    if check.commit:
        yield "commit", f"`{line(short(check.commit))}`"


def _verdict(one: TargetReport, check: TargetCheck) -> str:
    """Return the verdict, with its reason where the sentence about the target has not said it
    before.
    """
    if one.state is None or not check.good:
        return title(check)
    return _with_reason(check)


def _cause(code: str) -> str:
    """`RC604`: the name that the catalogue has for it."""
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


def _of_baseline(baseline: Baseline | None) -> Iterator[Fact]:
    if baseline is None:
        return
    yield "accepted", f"by {line(baseline.who)} on {moment(baseline.when)}: {line(baseline.why)}"


def _code(text: str) -> str:
    if not text:
        return ""
    return f"`{line(text)}`"


def commands(one: TargetReport) -> list[Fact]:
    """(why, command) to type next for a target."""
    name = shlex.quote(line(one.name))
    again = ("Check it again:", f"reprocheck suite run {name}")
    if one.state is None:
        return [again]
    steps = [again]
    if one.target is not None and _differs_from_itself(one):
        steps.append(("Confirm the cause, and get a fix that was tried:", one.target.explain))
    if one.state.drift:
        accept = accept_command(line(one.name))
        steps.append(("Where the new values are right, accept them:", accept))
    if one.failed and one.green:
        nights = f"--good {shlex.quote(one.green)} --bad {shlex.quote(since(one))}"
        find = f"reprocheck suite bisect {name} {nights}{_by(one)}"
        steps.append(("Find the commit or package since which it is so:", find))
    return steps


def _differs_from_itself(one: TargetReport) -> bool:
    """Return whether its runs differ, or a resumed one from the run that wrote its checkpoint."""
    if one.check is None or one.check.good:
        return False
    return one.check.verdict == "not_reproducible" or one.check.is_of_resume


def _by(one: TargetReport) -> str:
    """Return how the search tells good from bad: by the verdict where that is what changed."""
    if one.check is None or one.check.good:
        return ""
    return " --by verdict"
