"""Rows of the tables of the site: a target in the newest night, a target in a night, a night."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reprocheck.language import count
from reprocheck.report.text import UNKNOWN, line, number, seconds
from reprocheck.suite.model import (
    ORDER,
    Night,
    NightReport,
    OverviewRow,
    TargetCheck,
    TargetReport,
    TargetState,
    short,
)
from reprocheck.suite.pages import links, sparkline, words
from reprocheck.suite.pages.recent_nights import Past
from reprocheck.suite.pages.timeline import EnvironmentChange

_CALM = ("unchanged", "fixed", "new target")


def tone(one: TargetReport) -> str:
    """Return the tone of a target in a night."""
    if one.failed:
        return "bad"
    if one.check is None:
        return "failed"
    if one.word in _CALM:
        return "good"
    return "unsure"


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetRow:
    """A target in the table of a night or of the overview.

    page, report  links; `report` is "" where there is none
    spark         its last nights; "" where they are not shown
    """

    name: str
    tags: str
    state: str
    tone: str
    said: str
    since: str
    drift: str
    time: str
    page: str
    report: str
    spark: Markup


def of_targets(report: NightReport, root: str, past: Past | None = None) -> list[TargetRow]:
    """Return a row for each target of a night; with the nights before where `past` is given."""
    return [_target(one, root, past) for one in report.targets]


def _target(one: TargetReport, root: str, past: Past | None) -> TargetRow:
    report = ""
    if one.check is not None:
        report = links.report(one.check, root)
    spark = Markup()
    if past is not None:
        spark = Markup(sparkline.svg(past.of(one.name)))
    return TargetRow(
        name=line(one.name),
        tags=" ".join(map(line, one.tags)),
        state=one.word,
        tone=tone(one),
        said=words.sentence(one),
        since=words.since(one),
        drift=_drift(one.state),
        time=words.duration(one),
        page=links.to(links.target_file(one.name), root),
        report=report,
        spark=spark,
    )


def _drift(state: TargetState | None) -> str:
    """Return the largest relative difference from the baseline."""
    if state is None or not state.drift:
        return UNKNOWN
    return number(max(one.relative for one in state.drift))


@dataclass(frozen=True, kw_only=True, slots=True)
class NightRow:
    """A night in the table of the overview."""

    id: str
    page: str
    started: str
    said: str
    failed: str
    commit: str


def of_nights(past: Past, root: str) -> list[NightRow]:
    """Return a row for each night, the newest first."""
    return [_night(night, past.during(night), root) for night in reversed(past.nights)]


def _night(night: Night, rows: Sequence[OverviewRow], root: str) -> NightRow:
    failed = sum(row.failed for row in rows)
    return NightRow(
        id=line(night.id),
        page=links.to(links.night_file(night.id), root),
        started=words.moment(night.started),
        said=_states(rows),
        failed=f"{failed:,} of {count(len(rows), 'target')}",
        commit=line(short(night.commit)),
    )


def _states(rows: Iterable[OverviewRow]) -> str:
    """`1 new failure, 12 unchanged`."""
    found = Counter(row.state for row in rows)
    return ", ".join(f"{found[word]:,} {word}" for word in ORDER if found[word])


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckRow:
    """A check in the history of a target. `mark`: the number of a change of the environment."""

    night: str
    page: str
    state: str
    tone: str
    verdict: str
    bits: str
    drift: str
    time: str
    commit: str
    mark: str
    report: str


def of_checks(
    past: Past,
    checks: Iterable[TargetCheck],
    states: Iterable[TargetState],
    changes: Iterable[EnvironmentChange],
    root: str,
) -> list[CheckRow]:
    """Return a row for each attempt, and for each night that says something without one, newest
    first.
    """
    state_of = {state.night: state for state in states}
    marks = {change.night: str(change.number) for change in changes}
    of_night = defaultdict(list)
    for check in checks:
        of_night[check.night].append(check)
    rows = []
    for night in reversed(past.nights):
        state, attempts = state_of.get(night.id), of_night[night.id]
        mark = marks.get(night.id, "")
        rows += [_check(night, check, state, mark, root) for check in attempts]
        if state is not None and not attempts:
            rows.append(_unchecked(night, state, root))
    return rows


def _check(
    night: Night, check: TargetCheck, state: TargetState | None, mark: str, root: str
) -> CheckRow:
    one = TargetReport(name=check.target, state=state, attempts=(check,))
    attempt = ""
    if check.attempt > 1:
        attempt = f", attempt {check.attempt}"
    return CheckRow(
        night=words.moment(night.started),
        page=links.to(links.night_file(night.id), root),
        state=f"{one.word}{attempt}",
        tone=tone(one),
        verdict=words.title(check),
        bits=_BITS[check.bitwise],
        drift=_drift(state),
        time=seconds(check.seconds),
        commit=line(short(check.commit)),
        mark=mark,
        report=links.report(check, root),
    )


_BITS = {None: UNKNOWN, True: "equal", False: "differ"}


def _unchecked(night: Night, state: TargetState, root: str) -> CheckRow:
    """Return a night that says something of a target without a check."""
    return CheckRow(
        night=words.moment(night.started),
        page=links.to(links.night_file(night.id), root),
        state=state.state,
        tone="failed",
        verdict="not checked",
        bits=UNKNOWN,
        drift=UNKNOWN,
        time=UNKNOWN,
        commit="",
        mark="",
        report="",
    )
