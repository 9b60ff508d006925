"""What the pages of a large suite cost: a history is filled with 1,000 targets and 365 nights, and
its site is drawn.
"""

from __future__ import annotations

import random
import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from benchmarks.table import Row
from reprocheck.model import LossSeries, Series
from reprocheck.suite import site
from reprocheck.suite.curves import pack
from reprocheck.suite.history import History, open_history
from reprocheck.suite.model import (
    Baseline,
    Key,
    Night,
    RankSeries,
    State,
    TargetCheck,
    TargetState,
)
from reprocheck.suite.pages import FORMATS
from reprocheck.suite.reports import read
from reprocheck.suite.target import Target
from reprocheck.suite.targets import Suite

T = TypeVar("T")
TARGETS, NIGHTS = 1_000, 365
MOST_SECONDS, MOST_MEGABYTES = 10.0, 5.0
"""Allowed for the overview."""
MOST_KILOBYTES = 5.0
"""Allowed for the curves of a baseline."""
_ITERATIONS = 100
_SERIES = ("loss", "lr", "grad_norm")
_KEYS = [Key(facts={"torch": f"2.{minor}.0", "device": "CPU", "ranks": "1"}) for minor in range(4)]
_ONE_IN = 100
"""One check in so many is not good."""


def pages(folder: Path) -> Iterator[Row]:
    """Rows: a baseline, the overview alone, the whole site, and what a further night costs."""
    yield from _baselines()
    suite = _suite(folder)
    with open_history(suite.history) as history:
        for number in range(NIGHTS):
            _fill(history, number)
        overview, took = _timed(lambda: site._Site(history, suite).overview().render())
        of = f"{TARGETS:,} targets, {NIGHTS} nights"
        yield took.row("page of the overview", of, MOST_SECONDS)
        megabytes = len(overview) / 1e6
        yield _row("page of the overview, its size", megabytes, MOST_MEGABYTES, "MB", of)
        written, took = _timed(lambda: site.write(history, suite))
        yield took.row("whole site, first drawn", f"{written.written:,} files")
        _fill(history, NIGHTS)
        written, took = _timed(lambda: site.write(history, suite))
        yield took.row("site after one more night", f"{written.written:,} files")
        written, took = _timed(lambda: site.write(history, suite))
        yield took.row("site, nothing new", f"{written.written:,} files")
        report, took = _timed(lambda: read(history, _night(NIGHTS).id, suite))
        yield took.row("a night read from the history", f"{TARGETS:,} targets")
        for name, form in FORMATS.items():
            data, took = _timed(lambda form=form: form.render(report))  # type: ignore[misc]
            yield took.row(f"{name} of a night", f"{len(data) / 1e3:.0f} kB")


def _baselines() -> Iterator[Row]:
    """Curves that are nothing but noise: no others take more."""
    draw = random.Random(0)
    for dtype in ("float32", "float64"):
        packed = pack(_series(name, draw, dtype) for name in _SERIES)
        how = f"{', '.join(_SERIES)} of {_ITERATIONS} iterations, all of them noise"
        yield _row(f"baseline of a target, {dtype}", len(packed) / 1e3, MOST_KILOBYTES, "kB", how)


def _row(what: str, value: float, allowed: float | None, unit: str, how: str) -> Row:
    return Row(what=what, value=value, allowed=allowed, unit=unit, how=how)


@dataclass(frozen=True, kw_only=True, slots=True)
class Took:
    """Seconds of the clock and of the processor: on a busy machine they are far apart."""

    wall: float
    cpu: float

    def row(self, what: str, how: str, allowed: float | None = None) -> Row:
        """The row of what took so long."""
        return _row(what, self.wall, allowed, "s", f"{how}; {self.cpu:.2f} s of CPU")


def _timed(call: Callable[[], T]) -> tuple[T, Took]:
    began, cpu = time.perf_counter(), time.process_time()
    result = call()
    return result, Took(wall=time.perf_counter() - began, cpu=time.process_time() - cpu)


def _suite(folder: Path) -> Suite:
    targets = [
        Target(name=name, words=("train.py",), workdir=folder, tags=(f"team-{number % 7}",))
        for number, name in enumerate(_names())
    ]
    return Suite(
        targets=tuple(targets),
        folder=folder,
        history=f"sqlite:///{folder / 'history.sqlite'}",
        file=folder / "reprocheck.toml",
    )


def _names() -> list[str]:
    return [f"model-{number:04}" for number in range(TARGETS)]


def _night(number: int) -> Night:
    began = 1_795_399_200.0 + number * 86_400
    names = tuple(_names())
    name = time.strftime("%Y-%m-%dT02-00-00Z", time.gmtime(began))
    return Night(
        id=f"{name}-{number:04x}", started=began, ended=began + 3600, targets=names, selected=names
    )


def _fill(history: History, number: int) -> None:
    """Writes a night; in the first one all curves are accepted."""
    draw = random.Random(number)
    night = _night(number)
    history.begin_night(night)
    checks = [_check(night, number, name, draw) for name in night.targets]
    history.add_all(checks)
    history.put_states(_state(night, check) for check in checks)
    if number == 0:
        for check in checks:
            history.accept(
                Baseline(
                    target=check.target,
                    key=check.key,
                    curves=check.curves,
                    why="first night",
                    who="a person",
                    when=night.started,
                )
            )


def _check(night: Night, number: int, name: str, draw: random.Random) -> TargetCheck:
    good = draw.randrange(_ONE_IN) > 0
    return TargetCheck(
        night=night.id,
        target=name,
        started=night.started,
        seconds=10 + draw.random(),
        verdict="reproducible" if good else "not_reproducible",
        exit_code=0 if good else 1,
        reason="2 runs of 100 iterations agree in every bit",
        good=good,
        bitwise=good,
        key=_KEYS[number * len(_KEYS) // (NIGHTS + 1)],
        beside={"host": "node-1", "pillow": f"11.{number // 40}"},
        commit=f"{number:012x}",
        folder=f"nights/{night.id}/{name}/attempt-1",
        curves=_curves(name, number // 100),
    )


_packed: dict[tuple[str, int], bytes] = {}


def _curves(name: str, version: int) -> bytes:
    """Curves of a target, which are others every 100 nights."""
    if (name, version) not in _packed:
        draw = random.Random(f"{name} {version}")
        _packed[name, version] = pack(_series(one, draw) for one in _SERIES)
    return _packed[name, version]


_TYPE_CODES = {"float32": "f", "float64": "d"}


def _series(name: str, draw: random.Random, dtype: str = "float32") -> RankSeries:
    values = array(
        _TYPE_CODES[dtype], (draw.random() + 1 / (step + 1) for step in range(_ITERATIONS))
    )
    counted = array("q", range(1, _ITERATIONS + 1))
    numbers = LossSeries(
        values=array("d", values),
        dtype_of=array("B", bytes(_ITERATIONS)),
        dtypes=(dtype,),
        ends=counted,
    )
    steps = array("d", [float("nan")] * _ITERATIONS)
    series = Series(name=name, numbers=numbers, iterations=counted, steps=steps)
    return RankSeries(rank=0, series=series)


_STATES: dict[bool, State] = {True: "unchanged", False: "new failure"}


def _state(night: Night, check: TargetCheck) -> TargetState:
    return TargetState(
        night=night.id,
        target=check.target,
        state=_STATES[check.good],
        failed=not check.good,
        sentence=check.reason,
    )
