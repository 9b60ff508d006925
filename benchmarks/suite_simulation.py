"""Nights that were never run: how often the words of `reprocheck suite` are wrong, and how soon a
shift is found. The checks come from generators with fixed seeds, the words from the code that a
suite uses.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from benchmarks.table import Row
from reprocheck.model import LossSeries, Series
from reprocheck.suite.baselines import allowed, compare
from reprocheck.suite.changes import Known, classify
from reprocheck.suite.changes.shifts import level
from reprocheck.suite.changes.night_states import LOOK_BACK
from reprocheck.suite.changes.shifts import REFERENCE, WINDOW
from reprocheck.suite.model import (
    Baseline,
    Key,
    Night,
    RankSeries,
    TargetCheck,
    TargetState,
)
from reprocheck.suite.target import Target

NIGHTS = 1000
SHIFT_AT = 260
"""The night in which something shifts."""
SHIFT = 2.0
"""By so many standard deviations."""
CURVE = (1.9, 1.4, 1.1, 0.9, 0.75, 0.65, 0.6, 0.55, 0.52, 0.5)
KEY = Key(facts={"torch": "2.13.0", "device": "CPU"})
QUIET = ("unchanged", "new target")
"""The words of a target to which nothing happens."""
OF_CHANCE = (*QUIET, "intermittent")
OF_CHANGES = (*QUIET, "new failure", "still failing", "fixed")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What the nights of a target are drawn from.

    fails     share of nights with a bad verdict, by chance
    breaks    share of nights in which a change breaks it, until another one
    repairs   repairs it: the share of broken nights
    noise     relative standard deviation of its losses, the same factor for a whole night
    times     standard deviation of the logarithm of its time
    packages  share of nights in which something beside the key changes
    """

    fails: float = 0.0
    breaks: float = 0.0
    repairs: float = 0.0
    noise: float = 0.0
    times: float = 0.03
    packages: float = 0.05


DETERMINISTIC = Kind()
BROKEN_AND_REPAIRED = Kind(breaks=0.02, repairs=0.3)
INTERMITTENT = Kind(fails=0.1)
NOISY = Kind(fails=0.1, noise=1e-3)
BUSY = Kind(times=0.1)
"""On a machine that others use, too."""


@dataclass
class Simulated:
    """One target, night by night."""

    kind: Kind
    seed: int
    number: int = 0
    changes: int = 0
    broken: bool = False
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
        known = self._known(self._drawn(losses, times))
        state = classify(known)
        self._keep(known, state)
        return state

    def nights_that_nobody_reads(self, count: int) -> None:
        """The same without words: of each night only whether it failed is kept."""
        for _ in range(count):
            known = self._known(self._drawn(0.0, 0.0))
            failed = known.fails
            self._keep(
                known,
                TargetState(
                    night=known.night.id, target="target", state="intermittent", failed=failed
                ),
            )

    def _drawn(self, losses: float, times: float) -> tuple[TargetCheck, tuple[RankSeries, ...]]:
        """The check of the next night, and its curves."""
        factor = 1 + self.kind.noise * (self.random.gauss(0, 1) + losses)
        seconds = 60 * math.exp(self.kind.times * (self.random.gauss(0, 1) + times))
        self.changes += self.random.random() < self.kind.packages
        self._change()
        good = not self.broken and self.random.random() >= self.kind.fails
        check = TargetCheck(
            night=f"{self.number:05}",
            target="target",
            started=float(self.number),
            verdict="reproducible" if good else "not_reproducible",
            good=good,
            bitwise=good and not self.kind.noise,
            key=KEY,
            beside={"package.numpy": f"2.{self.changes}"},
            seconds=seconds,
        )
        self.number += 1
        return check, (_curve([value * factor for value in CURVE]),)

    def _change(self) -> None:
        """A change that breaks or repairs the target, in some nights."""
        share = self.kind.repairs if self.broken else self.kind.breaks
        if self.random.random() < share:
            self.broken = not self.broken
            self.changes += 1

    def _known(self, drawn: tuple[TargetCheck, tuple[RankSeries, ...]]) -> Known:
        """What is known in a night. The curves of the first one become the baseline."""
        check, curves = drawn
        known = Known(
            night=Night(id=check.night, started=check.started, targets=("target",)),
            target="target",
            now=check,
            earlier=self.checks,
            baseline=self.baseline,
            states=self.states,
            settings=self.target,
        )
        if self.baseline is None:
            self._accept(check, curves)
            return known
        drift = compare(curves, self.reference, check.rtol, check.atol)
        known = replace(known, drift=drift, allowed=allowed(None, self.baseline))
        if not known.varies:
            return known
        self.levels = _last(WINDOW + REFERENCE - 1, self.levels)
        self.levels[check.night] = level(curves, self.reference) or 0.0
        return replace(known, levels=dict(self.levels))

    def _keep(self, known: Known, state: TargetState) -> None:
        self.checks = list(known.checks[-LOOK_BACK:])
        self.states = [*self.states[-LOOK_BACK + 1 :], state]

    def _accept(self, check: TargetCheck, curves: tuple[RankSeries, ...]) -> None:
        self.reference = curves
        self.baseline = Baseline(
            target="target",
            key=KEY,
            curves=b"",
            why="the first night",
            who="simulation",
            when=check.started,
            bitwise=not self.kind.noise,
            night=check.night,
        )


def _last(count: int, levels: dict[str, float]) -> dict[str, float]:
    return dict(list(levels.items())[-count:])


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


def false_words(
    kind: Kind, right: tuple[str, ...], seeds: range, nights: int, *, apart: int = 1
) -> Counter[str]:
    """Words that are not right, and how often each was said of targets of a kind.

    nights  whose words are read of each target, `apart` nights from one to the next: a shift that
            is seen falsely is seen in all nights that have a night of its window
    """
    wrong: Counter[str] = Counter()
    for seed in seeds:
        target = Simulated(kind, seed)
        for _ in range(nights):
            target.nights_that_nobody_reads(apart - 1)
            wrong[target.night().state] += 1
    return Counter({word: count for word, count in wrong.items() if word not in right})


def missed(
    kind: Kind, word: str, seeds: range, at: int, *, futures: int = 1, **shift: float
) -> float:
    """The share of shifts from night `at` on whose word is said in none of the nights within which
    it is to be found.

    futures  so many shifts follow the same nights before
    """
    without = 0
    for seed in seeds:
        before = Simulated(kind, seed)
        before.nights_that_nobody_reads(at)
        for number in range(futures):
            target = replace(before, seed=futures * seed + number)
            words = [target.night(**shift).state for _ in range(WINDOW)]
            without += word not in words
    return without / (len(seeds) * futures)


QUIET_KINDS = {
    "deterministic targets": (DETERMINISTIC, QUIET, range(10), 0.0),
    "deterministic targets that are broken and repaired": (
        BROKEN_AND_REPAIRED,
        OF_CHANGES,
        range(100, 110),
        1.0,
    ),
    "targets that fail in 10 % of the nights": (INTERMITTENT, OF_CHANCE, range(200, 210), 1.0),
    "targets that fail in 10 % of the nights, with noise of 1e-3 in their losses": (
        NOISY,
        OF_CHANCE,
        range(300, 310),
        1.0,
    ),
    "deterministic targets with noise of 10 % in their times": (BUSY, QUIET, range(400, 410), 1.0),
}
"""What happens to nothing: kind, right words, seeds, percent of nights that may have others."""


def measure(_scratch: Path) -> Iterator[Row]:
    """Words that are not right, and shifts that are not found."""
    yield from words()
    yield from shifts()
    yield from smaller_and_larger()


def words() -> Iterator[Row]:
    """How many nights have a word that is not right."""
    for name, (kind, right, seeds, allowed_share) in QUIET_KINDS.items():
        wrong = false_words(kind, right, seeds, NIGHTS)
        said = ", ".join(f"{word}: {count}" for word, count in sorted(wrong.items()))
        yield Row(
            what=f"nights with a wrong word, {name}",
            value=100 * sum(wrong.values()) / (len(seeds) * NIGHTS),
            allowed=allowed_share,
            unit="%",
            how=f"{len(seeds)} targets, {NIGHTS:,} nights each; {said or 'none'}",
        )


def shifts() -> Iterator[Row]:
    """How many shifts are not found within five nights."""
    seeds = range(1000, 2000)
    how = f"{len(seeds)} targets, each after {SHIFT_AT} nights"
    yield Row(
        what="shifts of losses by 2 σ that are not found within 5 nights, with 10 % of failures",
        value=100 * missed(NOISY, "drift", seeds, SHIFT_AT, losses=SHIFT),
        allowed=5.0,
        unit="%",
        how=how,
    )
    yield Row(
        what="shifts of times by 2 σ that are not found within 5 nights",
        value=100 * missed(BUSY, "slower", seeds, SHIFT_AT, times=SHIFT),
        allowed=5.0,
        unit="%",
        how=how,
    )


SIZES = (1.0, 1.5, 3.0)
"""Other shifts, in standard deviations: nothing is promised of them."""


def smaller_and_larger() -> Iterator[Row]:
    """How many shifts of other sizes are not found within five nights."""
    seeds, futures = range(5000, 5020), 50
    how = f"{futures} from each of {len(seeds)} targets, after {SHIFT_AT} nights"
    for size in SIZES:
        for what, share in (
            ("losses", missed(NOISY, "drift", seeds, SHIFT_AT, futures=futures, losses=size)),
            ("times", missed(BUSY, "slower", seeds, SHIFT_AT, futures=futures, times=size)),
        ):
            yield Row(
                what=f"shifts of {what} by {size:g} σ that are not found within 5 nights",
                value=100 * share,
                allowed=None,
                unit="%",
                how=how,
            )
