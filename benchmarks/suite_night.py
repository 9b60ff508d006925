"""What the bookkeeping of a night costs, beside the row of each check: 1,000 targets after 365
nights, in SQLite and in PostgreSQL. One target in 20 varies: its curves are others every night.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from sqlalchemy import Engine, event

from benchmarks import suite_pages
from benchmarks.suite_history import _with_server
from benchmarks.table import Row
from reprocheck.suite.changes import states_of_night
from reprocheck.suite.curves import pack
from reprocheck.suite.history import History, open_history
from reprocheck.suite.history.engine import url_of_file
from reprocheck.suite.model import Baseline, TargetCheck
from reprocheck.suite.night import deeper
from reprocheck.suite.night.plan import job_of, longest_first
from reprocheck.suite.reports import read
from reprocheck.suite.targets import Suite
from tests.suite.history import postgres

MOST = 3.0
"""Seconds of the processor that all of it may take."""
VARIES = 20
"""One target in so many varies."""


def measure(folder: Path) -> Iterator[Row]:
    """The rows of the table."""
    suite = suite_pages._suite(folder)
    yield from _measured("SQLite", url_of_file(folder / "history.sqlite"), suite, time.process_time)
    with postgres.server() as server:
        yield from _measured(
            "PostgreSQL", server.new_database(), suite, partial(_with_server, server)
        )


def _measured(engine: str, url: str, suite: Suite, used: Callable[[], float]) -> Iterator[Row]:
    """`used`: seconds of the processor by now, of all that takes part in a query."""
    with open_history(url) as history:
        for number in range(suite_pages.NIGHTS):
            _fill(history, number)
        history.accept(*map(_baseline, history.final(_night(suite_pages.NIGHTS - 1))))
        _fill(history, suite_pages.NIGHTS)
        statements: list[object] = []
        count = partial(_count, statements)
        event.listen(Engine, "before_cursor_execute", count)
        began, cpu = time.perf_counter(), used()
        _keep_books(history, suite)
        wall, cpu = time.perf_counter() - began, used() - cpu
        event.remove(Engine, "before_cursor_execute", count)
    how = f"CPU time; {len(statements)} statements; {wall:.1f} s by the clock"
    what = f"bookkeeping of a night in {engine}"
    yield Row(what=what, value=cpu, allowed=MOST, unit="s", how=how)


def _keep_books(history: History, suite: Suite) -> None:
    """What a night asks and writes beside its checks, but for its files and pages."""
    night = history.night(_night(suite_pages.NIGHTS))
    longest_first([job_of(target, night.id, suite, 1) for target in suite.targets], history, night)
    states = states_of_night(history, night, suite.targets)
    history.put_states(states)
    by_target = {state.target: state for state in states}
    deeper.wanted(suite, history, night, history.final(night.id), by_target)
    read(history, night.id, suite)


def _count(statements: list[object], *arguments: object) -> None:
    if arguments[2] != "BEGIN":
        statements.append(arguments[2])


def _night(number: int) -> str:
    return suite_pages._night(number).id


def _fill(history: History, number: int) -> None:
    """Write a night."""
    night = suite_pages._night(number)
    history.begin_night(night)
    draw = random.Random(number)
    plain = (suite_pages._check(night, number, name, draw) for name in night.targets)
    checks = [_varied(check, number) for check in plain]
    history.add_all(checks)
    if number < suite_pages.NIGHTS:
        history.put_states(suite_pages._state(night, check) for check in checks)


def _varied(check: TargetCheck, number: int) -> TargetCheck:
    if _repeats(check.target):
        return check
    draw = random.Random(f"{check.target} {number}")
    curves = pack(suite_pages._series(name, draw) for name in suite_pages._SERIES)
    return replace(check, curves=curves, bitwise=False)


def _repeats(target: str) -> bool:
    return int(target.rpartition("-")[2]) % VARIES != 0


def _baseline(check: TargetCheck) -> Baseline:
    return Baseline(
        target=check.target,
        key=check.key,
        curves=check.curves,
        why="as it should be",
        who="a person",
        when=check.started,
        bitwise=_repeats(check.target),
        night=check.night,
        commit=check.commit,
        environment={**check.beside, **check.key.facts},
    )
