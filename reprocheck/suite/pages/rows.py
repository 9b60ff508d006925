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
from reprocheck.suite.pages.timeline import EnvironmentChange


class Past:
    """Hold nights, oldest first, and each target's result in each night."""

    def __init__(self, nights: Sequence[Night], rows: Iterable[OverviewRow]) -> None:
        self.nights = tuple(nights)
        self._by_target: dict[str, dict[str, OverviewRow]] = defaultdict(dict)
        self._by_night: dict[str, list[OverviewRow]] = defaultdict(list)
        for row in rows:
            self._by_target[row.target][row.night] = row
            self._by_night[row.night].append(row)

    @property
    def targets(self) -> tuple[str, ...]:
        """Return the names of all targets of these nights, sorted."""
        return tuple(sorted(self._by_target))

    def of(self, target: str) -> tuple[OverviewRow | None, ...]:
        """Return a target's result in each night; None for a night without the target."""
        found = self._by_target.get(target, {})
        return tuple(found.get(night.id) for night in self.nights)

    def known(self, target: str) -> tuple[OverviewRow, ...]:
        """Return a target's results in the nights that have the target."""
        return tuple(row for row in self.of(target) if row is not None)

    def during(self, night: Night) -> tuple[OverviewRow, ...]:
        """Return the results of all targets in a night."""
        return tuple(self._by_night.get(night.id, ()))

    def beside(self, night: Night) -> tuple[Night | None, Night | None]:
        """Return the nights before and after a night; None if there is none."""
        place = [shown.id for shown in self.nights].index(night.id)
        around = (None, *self.nights, None)
        return around[place], around[place + 2]


_CALM = ("unchanged", "fixed", "new target")


def tone(target: TargetReport) -> str:
    """Return the tone (colour class) of a target in a night.

    It is `good`, `unsure`, `failed` or `bad`.
    """
    if target.failed:
        return "bad"
    if target.check is None and not target.last_checked:
        return "failed"
    if target.word in _CALM:
        return "good"
    return "unsure"


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetRow:
    """Hold a target's row in the table of a night or of the overview.

    page, report  links; "" if there is none
    spark         the target's last nights as bars; "" if they are not shown
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
    """Return a row for each target of a night.

    It has bars of the earlier nights if `past` is given.
    """
    return [_target(target, root, past) for target in report.targets]


def _target(target: TargetReport, root: str, past: Past | None) -> TargetRow:
    page = report = ""
    if target.state is not None or target.check is not None:
        page = links.to(links.target_file(target.name), root)
    if target.decisive is not None:
        report = links.report(target.decisive.folder, root)
    spark = Markup()
    if past is not None:
        spark = Markup(sparkline.svg(past.of(target.name)))
    return TargetRow(
        name=line(target.name),
        tags=" ".join(map(line, target.tags)),
        state=target.word,
        tone=tone(target),
        said=words.sentence(target),
        since=words.since(target),
        drift=_drift(target.state),
        time=words.duration(target),
        page=page,
        report=report,
        spark=spark,
    )


def _drift(state: TargetState | None) -> str:
    """Return the largest relative difference from the baseline."""
    if state is None or not state.drift:
        return UNKNOWN
    return number(max(difference.relative for difference in state.drift))


@dataclass(frozen=True, kw_only=True, slots=True)
class NightRow:
    """Hold a night's row in the table of the overview."""

    id: str
    page: str
    started: str
    said: str
    failed: str
    commit: str


def of_nights(past: Past, root: str) -> list[NightRow]:
    """Return a row for each night, the newest first."""
    rows = []
    for night in reversed(past.nights):
        targets = past.during(night)
        failed = sum(target.failed for target in targets)
        counts = Counter(target.state for target in targets)
        rows.append(
            NightRow(
                id=line(night.id),
                page=links.to(links.night_file(night.id), root),
                started=words.moment(night.started),
                said=", ".join(f"{counts[word]:,} {word}" for word in ORDER if counts[word]),
                failed=f"{failed:,} of {count(len(targets), 'target')}",
                commit=line(short(night.commit)),
            )
        )
    return rows


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckRow:
    """Hold a check's row in the history of a target.

    `mark`: the number of an environment change.
    """

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
    """Return a row for each attempt at a target, newest first.

    A night with a state but no attempt has a row, too.
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
        report=links.report(check.folder, root),
    )


_BITS = {None: UNKNOWN, True: "equal", False: "differ"}


def _unchecked(night: Night, state: TargetState, root: str) -> CheckRow:
    """Return the row of a night that has a state of a target but no check."""
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
