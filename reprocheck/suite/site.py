"""The site of a suite: an overview, a page a night, a page a target. Offline, in plain files.

    site/index.html            all targets of the newest night
    site/nights/NIGHT.html     a night
    site/targets/TARGET.html   a target: its curves, history, baselines
    site/assets/               style sheet and scripts

A page is a pure function of the history and the settings: it has the same bytes whenever it is
drawn. `drawn.json` holds a digest of what each page was drawn from, so that only pages that change
are drawn and written again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck._version import __version__
from reprocheck.errors import ReportError, UsageError
from reprocheck.files.atomic import replacing
from reprocheck.report import html
from reprocheck.suite import texts
from reprocheck.suite.baselines.accepted import AcceptedBaselines
from reprocheck.suite.history.by_target import ByTarget
from reprocheck.suite.model import Night, NightReport, TargetCheck, TargetReport, TargetState
from reprocheck.suite.pages import links, night_page, overview_page, target_page
from reprocheck.suite.pages.rows import Past
from reprocheck.suite.reports import (
    folder_level,
    read,
    shown,
    target_report,
    with_green,
)

if TYPE_CHECKING:
    from jinja2 import Environment

    from reprocheck.suite.history import History
    from reprocheck.suite.targets import Suite

LAST = 60
"""Nights that the pages show. Pages of older nights stay as they are."""
_DRAWN = "drawn.json"
_OF_REPORTS = "reprocheck.report"
_OWN = "reprocheck.suite.pages"
_ASSETS = {
    "assets/site.css": (
        (_OF_REPORTS, "vendor/uplot/uPlot.min.css"),
        (_OF_REPORTS, "templates/report.css"),
        (_OWN, "templates/site.css"),
    ),
    "assets/uplot.js": ((_OF_REPORTS, "vendor/uplot/uPlot.iife.min.js"),),
    "assets/site.js": ((_OWN, "templates/site.js"), (_OF_REPORTS, "templates/copy.js")),
}
"""A file of the site -> the files that it is made of."""
_TEMPLATES = ("base.html", "index.html", "night.html", "target.html")


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """Hold the result of drawing a site. `index`: the file to open."""

    index: Path
    pages: int
    written: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Page:
    """Describe a file of the site: its path, the digest of its input, and its renderer."""

    file: str
    digest: str
    render: Callable[[], bytes]


def write(history: History, suite: Suite) -> Written:
    """Draw the site of a suite into its folder: only pages that are missing or out of date.

    Raises UsageError if the history has no night yet, ReportError if the folder cannot be
    written or the disk is full.
    """
    folder, pages = suite.folder / links.SITE, _Site(history, suite).pages()
    drawn: dict[str, str] = {}
    with suppress(OSError, ValueError):
        before = json.loads((folder / _DRAWN).read_text("utf-8"))
        if isinstance(before, dict):
            drawn = before
    now: dict[str, str] = {}
    written = 0
    try:
        for page in pages:
            file = folder / page.file
            if drawn.get(page.file) != page.digest or not file.exists():
                _replace(file, page.render())
                written += 1
            now[page.file] = page.digest
        _replace(folder / _DRAWN, json.dumps(drawn | now, indent=0, sort_keys=True).encode())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ReportError(f"The pages cannot be written to {folder}: {reason}.", _FIX) from None
    return Written(index=folder / links.INDEX, pages=len(now), written=written)


_FIX = "Free some space; `reprocheck suite report` draws them again, without running."


def _replace(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as draft:
        draft.write(content)


class _Site:
    """Hold the pages of a suite, each drawn only on request."""

    def __init__(self, history: History, suite: Suite) -> None:
        self._history = history
        self._suite = suite
        nights = history.nights(LAST)
        if not nights:
            raise UsageError("The history has no night yet.", "reprocheck suite run makes one.")
        self._past = Past(nights, history.overview(LAST))
        self._targets = {target.name: target for target in suite.targets}
        self._shown = {name: shown(target) for name, target in self._targets.items()}

    def pages(self) -> Iterator[_Page]:
        """Yield all files of the site, the overview last.

        The pages it links to exist by then.
        """
        for file, parts in _ASSETS.items():
            content = "".join(_source(*part) for part in parts).encode()
            yield _Page(file=file, digest=_digest(content), render=lambda made=content: made)  # type: ignore[misc]
        for name in self._past.targets:
            yield self._of_target(name)
        for night in self._past.nights:
            yield self._of_night(night)
        yield self.overview()

    @cached_property
    def _accepted(self) -> AcceptedBaselines:
        return AcceptedBaselines(self._history.baselines())

    @cached_property
    def _nights(self) -> str:
        """Return a digest of the nights, whose names of all targets are the same for each page."""
        return _digest(self._past.nights)

    @cached_property
    def _checks(self) -> ByTarget[TargetCheck]:
        return ByTarget(self._history.checks_since(self._past.nights[0].id))

    @cached_property
    def _states(self) -> ByTarget[TargetState]:
        return ByTarget(self._history.states_since(self._past.nights[0].id))

    def _read(self, night: Night) -> NightReport:
        found = read(self._history, night.id, self._suite, self._accepted)
        return replace(found, targets=tuple(map(self._with_reports, found.targets)))

    def _kept(self, night: str) -> bool:
        """Return whether the report folders of a night still exist.

        If they do, pages may link to them.
        """
        keep = self._suite.keep_nights
        return keep is None or night in [kept.id for kept in self._past.nights[-keep:]]

    def _stays(self, night: str, target: str) -> bool:
        """Return whether the report folders of a target in a night still exist."""
        return self._kept(night) or (night, target) in self._last_places

    def _with_report(self, check: TargetCheck) -> TargetCheck:
        """Return a check without its report folder if that is removed."""
        if self._stays(check.night, check.target):
            return check
        return replace(check, folder="")

    def _with_reports(self, target: TargetReport) -> TargetReport:
        """Return a target without its report folders that are removed."""
        attempts = tuple(map(self._with_report, target.attempts))
        state = target.state
        if state is not None and not self._stays(state.night, state.target):
            state = replace(state, suspect=replace(state.suspect, report=""))
        return replace(target, state=state, attempts=attempts)

    @cached_property
    def _last_places(self) -> set[tuple[str, str]]:
        from reprocheck.suite.history.maintenance import last_places

        return last_places(self._history)

    @cached_property
    def _newest(self) -> NightReport:
        return self._read(self._past.nights[-1])

    def overview(self) -> _Page:
        """Describe index.html."""
        return _Page(
            file=links.INDEX,
            digest=_digest(
                _design(), self._newest, [self._past.during(night) for night in self._past.nights]
            ),
            render=lambda: overview_page.render(environment(), self._newest, self._past),
        )

    def _of_night(self, night: Night) -> _Page:
        """Describe the page of a night.

        The digest of the newest night's page covers all that is known.

        Pages of older nights change only with their neighbours or with their row in the overview.
        """
        known: tuple[object, ...] = (self._past.during(night), self._past.beside(night))
        if night == self._past.nights[-1]:
            known = (*known, self._newest)
        tags = [(target.name, target.tags) for target in self._suite.targets]
        reports: object = self._kept(night.id)
        if not reports:
            reports = sorted(target for of, target in self._last_places if of == night.id)
        return _Page(
            file=links.night_file(night.id),
            digest=_digest(_design(), night, *known, tags, reports),
            render=lambda: night_page.render(environment(), self._read(night), self._past),
        )

    def _of_target(self, name: str) -> _Page:
        baselines = [
            (one.key.digest, one.when, one.why, one.who) for one in self._accepted.of(name)
        ]
        known = (
            self._nights,
            self._past.of(name),
            baselines,
            self._shown.get(name),
            self._suite.keep_nights,
        )
        return _Page(
            file=links.target_file(name),
            digest=_digest(_design(), *known),
            render=lambda: target_page.render(environment(), self._told(name), self._past),
        )

    def _told(self, name: str) -> target_page.Told:
        """Read the content of a target's page from the history."""
        checks = [self._with_report(check) for check in self._checks.of(name)]
        states = self._states.of(name)
        rows = self._past.known(name)
        newest = next(night for night in self._past.nights if night.id == rows[-1].night)
        report = target_report(
            name,
            self._targets.get(name),
            next((state for state in states if state.night == newest.id), None),
            [check for check in checks if check.night == newest.id],
            self._accepted,
        )
        found = with_green(self._with_reports(report), states)
        told = target_page.Told(
            # the names of all targets would be masked anew for each page, and none shows them
            night=replace(newest, targets=(), selected=()),
            report=found,
            checks=checks,
            states=states,
            baselines=self._accepted.of(name),
        )
        return replace(folder_level(told), issue=texts.issue(told.night, found))


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()[:24]


@cache
def _design() -> str:
    """Return a digest of the templates and the version.

    If it changes, all pages are drawn again.
    """
    return _digest(__version__, *(_source(_OWN, f"templates/{name}") for name in _TEMPLATES))


@cache
def environment() -> Environment:
    """Return the Jinja environment with the site's templates and the filters of the reports."""
    from jinja2 import FunctionLoader

    return html.environment().overlay(
        loader=FunctionLoader(lambda name: _source(_OWN, f"templates/{name}"))
    )


@cache
def _source(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text("utf-8")
