"""Nights that were never run: how often the words of `reprocheck suite` are wrong, and how soon a
shift is found. The checks come from generators with fixed seeds, the words from the code that a
suite uses.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from benchmarks.table import Row
from reprocheck.model import LossSeries, Series
from reprocheck.suite.baselines import allowed, compare
from reprocheck.suite.changes import Known, classify
from reprocheck.suite.changes.levels import level
from reprocheck.suite.changes.of_night import LOOK_BACK
from reprocheck.suite.changes.shifts import REFERENCE, WINDOW
from reprocheck.suite.model import Baseline, Key, Night, RankSeries, Target, TargetCheck, TargetState

NIGHTS = 1000
SHIFT_AT = 300
"""The night in which something shifts: then there is a reference as long as it may be."""
NOISE = 1e-3
FAILS = 0.1
TIMES = 0.03
"""Times of a machine of one's own; BUSY: of one that others use, too."""
BUSY = 0.1
SHIFT = 2.0
CURVE = (1.9, 1.4, 1.1, 0.9, 0.75, 0.65, 0.6, 0.55, 0.52, 0.5)
KEY = Key(facts={"torch": "2.13.0", "device": "CPU"})
QUIET = ("unchanged", "new target")
"""The words of a target to which nothing happens."""
OF_CHANCE = (*QUIET, "intermittent")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What the nights of a target are drawn from.

    fails     share of nights with a bad verdict
    noise     relative standard deviation of its losses, the same factor for a whole night
    times     standard deviation of the logarithm of its time
    packages  share of nights in which something beside the key changes
    """

    fails: float = 0.0
    noise: float = 0.0
    times: float = TIMES
    packages: float = 0.05


DETERMINISTIC = Kind()
NOISY = Kind(fails=FAILS, noise=NOISE)
ON_A_BUSY_MACHINE = Kind(times=BUSY)


@dataclass
class Simulated:
    """One target, night by night."""

    kind: Kind
    seed: int
    nights: int = 0
    package: int = 0
    baseline: Baseline | None = None
    reference: tuple[RankSeries, ...] = ()
    checks: list[TargetCheck] = field(default_factory=list)
    states: list[TargetState] = field(default_factory=list)
    levels: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.target = Target(name="target", words=("train.py",), workdir=Path("/"))

    def night(self, *, losses: float = 0.0, times: float = 0.0) -> TargetState:
        """One more night. `losses`, `times`: how far they have shifted, in standard deviations."""
        factor = 1 + self.kind.noise * (self.random.gauss(0, 1) + losses)
        seconds = 60 * math.exp(self.kind.times * (self.random.gauss(0, 1) + times))
        self.package += self.random.random() < self.kind.packages
        good = self.random.random() >= self.kind.fails
        night = Night(id=f"{self.nights:05}", started=float(self.nights), targets=("target",))
        check = TargetCheck(
            night=night.id,
            target="target",
            verdict="reproducible" if good else "not_reproducible",
            good=good,
            bitwise=good and not self.kind.noise,
            key=KEY,
            beside={"package.numpy": f"2.{self.package}"},
            seconds=seconds,
        )
        state = self._state(night, check, (_curve([value * factor for value in CURVE]),))
        self.nights += 1
        self.checks = [*self.checks[-LOOK_BACK + 1 :], check]
        self.states = [*self.states[-LOOK_BACK + 1 :], state]
        return state

    def _state(
        self, night: Night, check: TargetCheck, curves: tuple[RankSeries, ...]
    ) -> TargetState:
        known = Known(
            night=night,
            target="target",
            now=check,
            earlier=self.checks,
            baseline=self.baseline,
            states=self.states,
            settings=self.target,
        )
        if self.baseline is None:
            self._accept(night, curves)
            return classify(known)
        self.levels[night.id] = level(curves, self.reference) or 0.0
        kept = dict(list(self.levels.items())[-(REFERENCE + WINDOW) :])
        self.levels = kept
        drift = compare(curves, self.reference, check.rtol, check.atol)
        held = replace(known, drift=drift, allowed=allowed(None, self.baseline))
        return classify(replace(held, levels=kept) if held.varies else held)

    def _accept(self, night: Night, curves: tuple[RankSeries, ...]) -> None:
        self.reference = curves
        self.baseline = Baseline(
            target="target",
            key=KEY,
            curves=b"",
            why="the first night",
            who="simulation",
            when=night.started,
            bitwise=not self.kind.noise,
            night=night.id,
        )


def _curve(values: list[float]) -> RankSeries:
    count = len(values)
    numbers = LossSeries(
        values=array("d", values),
        dtype_of=array("B", bytes(count)),
        dtypes=("float64",),
        ends=array("q", range(1, count + 1)),
    )
    series = Series(
        name="loss",
        numbers=numbers,
        iterations=array("q", range(1, count + 1)),
        steps=array("d", [math.nan] * count),
    )
    return RankSeries(rank=0, series=series)


def false_words(kind: Kind, right: tuple[str, ...], seeds: range, nights: int) -> Counter[str]:
    """The words of all nights of targets to which nothing happens, that are not among the right
    ones, and how often each was said.
    """
    wrong: Counter[str] = Counter()
    for seed in seeds:
        target = Simulated(kind, seed)
        words = Counter(target.night().state for _ in range(nights))
        wrong.update({word: count for word, count in words.items() if word not in right})
    return wrong


def found_within(kind: Kind, word: str, seeds: range, at: int, **shift: float) -> float:
    """The share of targets for which a shift in night `at` has its word in one of five nights."""
    found = 0
    for seed in seeds:
        target = Simulated(kind, seed)
        for _ in range(at):
            target.night()
        found += any([target.night(**shift).state == word for _ in range(WINDOW)])
    return found / len(seeds)


def simulation(_scratch: Path) -> Iterator[Row]:
    """The figures of *Scale and faults*, and the same on a busy machine."""
