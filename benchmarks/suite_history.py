"""What a history of 1,000 targets and 365 nights costs, in SQLite and in PostgreSQL.

One target in ten is noisy: its curves are others every night. Those of the others stay the same.
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psutil

from benchmarks.table import Row, median
from reprocheck.suite.history import History, open_history
from reprocheck.suite.history.engine import url_of_file
from reprocheck.suite.history.timeline import timeline
from reprocheck.suite.model import Key, Night, TargetCheck, TargetState
from tests.suite.history import postgres

TARGETS = tuple(f"target-{number:04}" for number in range(1_000))
NIGHTS = 365
CURVES = 5_000
"""Bytes of packed curves a check."""
QUERY = 0.2
"""Seconds that a query of one target may take."""
OF_ALL = 1.0
"""Seconds that the query of an overview may take, which has 10 s for its page."""
OVERVIEW = 60
"""Nights of an overview."""
DAY = 24 * 3600.0
SQLITE = "SQLite"


def measure(folder: Path) -> list[Row]:
    """The rows of the table."""
    rows = list(_measured(SQLITE, url_of_file(folder / "history.sqlite")))
    size = (folder / "history.sqlite").stat().st_size
    rows.append(_row(SQLITE, "size of the file", size / 2**20, "MB"))
    with postgres.server() as server:
        used = partial(_with_server, server)
        rows.extend(_measured("PostgreSQL", server.new_database(), used))
    return rows


def _measured(
    engine: str, url: str, used: Callable[[], float] = time.process_time
) -> Iterator[Row]:
    """`used`: seconds of the processor by now, of all that takes part in a query."""
    with open_history(url) as history:
        started = time.perf_counter()
        _fill(history)
        rate = len(TARGETS) * NIGHTS / (time.perf_counter() - started)
        yield _row(engine, "checks a second, a night at once", rate, "/s", how="with its states")
        yield _row(engine, "one check, on the disk", 1000 * _adding(history), "ms")
    if engine == SQLITE:
        yield _row(engine, "integrity check", _check(url), "s")
    asked = random.Random(1).sample(TARGETS, 9)
    with open_history(url) as history:
        timed = partial(_timed, engine, used)
        yield timed("a target, 365 nights", lambda n: timeline(history, asked[n]), QUERY)
        yield timed(
            "a target with its curves, 60 nights",
            lambda n: history.checks(target=asked[n], last=OVERVIEW, curves=True),
            QUERY,
        )
        yield timed("a night with curves", lambda n: history.final(_name(n * 30)))
        yield timed("all nights", lambda _n: history.nights())
        yield timed("overview of 60 nights", lambda _n: history.overview(OVERVIEW), OF_ALL)


def _fill(history: History) -> None:
    draw = random.Random(0)
    for number in range(NIGHTS):
        started = 1.76e9 + number * DAY
        history.begin_night(
            Night(id=_name(number), started=started, ended=started, targets=TARGETS)
        )
        checks = (_check_of(number, index, draw) for index in range(len(TARGETS)))
        history.add_all(checks)
        history.put_states(
            TargetState(night=_name(number), target=target, state="unchanged") for target in TARGETS
        )


def _name(night: int) -> str:
    return f"2026-{night:04}"


def _check_of(night: int, index: int, draw: random.Random) -> TargetCheck:
    noisy = index % 10 == 0
    bytes_of = draw if noisy else random.Random(index)
    return TargetCheck(
        night=_name(night),
        target=TARGETS[index],
        started=1.76e9 + night * DAY,
        seconds=draw.uniform(1, 100),
        verdict="reproducible",
        exit_code=0,
        reason="All losses of both checks agree in every bit.",
        good=True,
        bitwise=not noisy,
        key=Key(facts={"torch": f"2.{night // 60}", "device": "CPU", "options": str(index % 5)}),
        beside={"kernel": f"6.{night // 30}", "hostname": f"node{index % 8}"},
        commit=f"{night // 2:040x}",
        folder=f"nights/{_name(night)}/{TARGETS[index]}/attempt-1",
        curves=bytes_of.randbytes(CURVES),
    )


def _adding(history: History) -> float:
    """The median seconds of checks that are added one by one."""
    history.begin_night(Night(id=_name(NIGHTS), started=0.0))
    draw = random.Random(2)
    seconds = []
    for index in range(50):
        check = _check_of(NIGHTS, index, draw)
        started = time.perf_counter()
        history.add(check)
        seconds.append(time.perf_counter() - started)
    return median(seconds)


def _check(url: str) -> float:
    started = time.perf_counter()
    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
    connection.close()
    return time.perf_counter() - started


def _with_server(server: postgres.Server) -> float:
    """Seconds of the processor of this process and of a server with all that it has started."""
    number = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
    first = psutil.Process(number)
    ended = first.cpu_times()
    alive = (one.cpu_times() for one in (first, *first.children(recursive=True)))
    of_server = sum(one.user + one.system for one in alive)
    return time.process_time() + of_server + ended.children_user + ended.children_system


def _timed(
    engine: str,
    used: Callable[[], float],
    what: str,
    ask: Callable[[int], object],
    allowed: float | None = None,
) -> Row:
    """What nine queries take of the processor, so that it does not count what else the machine
    does.
    """
    clock: list[float] = []
    processor: list[float] = []
    for number in range(9):
        started, cpu = time.perf_counter(), used()
        ask(number)
        clock.append(time.perf_counter() - started)
        processor.append(used() - cpu)
    how = f"CPU time, median of 9; {min(clock):.2f} to {max(clock):.2f} s by the clock"
    return _row(engine, what, median(processor), "s", allowed, how)


def _row(
    engine: str, what: str, value: float, unit: str, allowed: float | None = None, how: str = ""
) -> Row:
    return Row(
        what=f"history in {engine}: {what}", value=value, allowed=allowed, unit=unit, how=how
    )
