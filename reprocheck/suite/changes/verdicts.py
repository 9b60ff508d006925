"""Whether the verdicts of a target come and go by chance, by its history.

A target that is deterministic changes its verdict where something changed that the training
depends on, and keeps the new verdict until something changes again. A target that is intermittent
draws a verdict every night. Which of the two explains the verdicts better is a test of likelihoods
that may be looked at every night (Wasserman, Ramdas and Balakrishnan, *Universal inference*, PNAS
2020; Ville's inequality): under the first explanation, whatever its rates within the limits below,
the evidence ever exceeds 1 / ALPHA with a probability of ALPHA at most, however many nights pass.

first    the verdict changes with one probability in nights since which nothing recorded changed
         (at most STILL), and with another in nights with another commit or environment (at most
         MOVED). The most likely rates within the limits are taken, which is most favourable to it
second   each night fails with one unknown probability (Krichevsky and Trofimov's mixture)

The second may begin at any failure after a pass; the evidence of the n-th such beginning counts
1 / (n (n + 1)), which sums to 1.

A retry that passes shows chance by itself, in one night. Of a target that is known not to repeat
its bits nothing has to be shown: the first explanation is ruled out.

An intermittent target stays so until a run of equal verdicts that its own nights do not explain,
two-sided: a run of passes or of failures so long that, by the nights before it, the longest of all
runs of its kind would be as long with a probability below ALPHA / 2 (a beta-binomial prediction,
times the number of such runs). Then its history begins anew with that run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

ALPHA = 0.01
"""The share of deterministic targets that may ever be called intermittent, and of runs of verdicts
that may end it by chance: the words of the nightly.
"""
STILL = 0.05
"""A deterministic target changes its verdict at most in one of 20 nights in which nothing changed
that is recorded: data that was replaced, a disk that was full.
"""
MOVED = 0.2
"""The same with another commit or environment: one of five such changes breaks or repairs it."""
_HALF = 0.5
"""What Krichevsky and Trofimov add to both counts."""


class Verdict(NamedTuple):
    """One night of a target: a tuple, since a night looks at a quarter of a million of them.

    good   whether the target passed in its first attempt
    moved  whether the commit or the environment differs from the night before
    both   whether the target failed and then passed a retry in this night, which proves chance
    """

    good: bool
    moved: bool = False
    both: bool = False


@dataclass(frozen=True, slots=True)
class ComesAndGoes:
    """Say that a target is intermittent by its history.

    first     index of the first failure that belongs to it
    failures  how many nights failed, of the `nights` that count
    """

    first: int
    failures: int
    nights: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Shown:
    """Hold where chance was shown.

    That is the night in which it became known, the failure it began with, and the night from which
    on verdicts are counted.
    """

    counted: int
    first: int
    night: int


@dataclass(slots=True)
class _Counts:
    """Count how often the verdict changed, over the nights of one kind.

    A kind is the nights with or those without a recorded change.
    """

    limit: float
    nights: int = 0
    changes: int = 0

    def add(self, change: bool) -> None:
        self.nights += 1
        self.changes += change

    def log_likelihood(self) -> float:
        """Return the log-likelihood of the most likely rate within the limit."""
        if not self.changes:
            return 0.0
        rate = min(self.limit, self.changes / self.nights)
        kept = self.nights - self.changes
        return self.changes * math.log(rate) + kept * math.log1p(-rate)


@dataclass(slots=True)
class _Beginning:
    """Weigh both explanations (a change, or chance) of all nights after one failure."""

    first: int
    weight: float
    log_drawn: float = 0.0
    failures: int = 0
    nights: int = 0
    still: _Counts = field(default_factory=lambda: _Counts(STILL))
    moved: _Counts = field(default_factory=lambda: _Counts(MOVED))

    def add(self, verdict: Verdict, change: bool) -> None:
        """Add one more night."""
        as_now = self.nights - self.failures if verdict.good else self.failures
        self.log_drawn += math.log((as_now + _HALF) / (self.nights + 2 * _HALF))
        self.nights += 1
        self.failures += not verdict.good
        counts = self.moved if verdict.moved else self.still
        counts.add(change)

    def evidence(self) -> float:
        """Return the evidence for chance, weighted."""
        log_kept = self.still.log_likelihood() + self.moved.log_likelihood()
        return self.weight * math.exp(min(self.log_drawn - log_kept, 700.0))


@dataclass(slots=True)
class _Runs:
    """Track the runs of equal verdicts of an intermittent target."""

    nights: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})
    runs: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})
    good: bool = False
    length: int = 0

    def add(self, good: bool) -> None:
        """Add one more night."""
        if not self.length or good is not self.good:
            self.good = good
            self.length = 0
            self.runs[good] += 1
        self.nights[good] += 1
        self.length += 1

    def unexplained(self) -> bool:
        """Return whether the current run is too long to be explained by chance.

        It is a run of equal verdicts, judged by the nights before it.
        """
        same = self.nights[self.good] - self.length + _HALF
        other = self.nights[not self.good] + _HALF
        log_as_long = _log_beta(same + self.length, other) - _log_beta(same, other)
        return self.runs[self.good] * math.exp(log_as_long) < ALPHA / 2

    def summary(self, first: int) -> ComesAndGoes:
        """Return the counts, and the first failure."""
        failures = self.nights[False]
        return ComesAndGoes(first, failures, failures + self.nights[True])


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def comes_and_goes(verdicts: Sequence[Verdict], *, varies: bool = False) -> ComesAndGoes | None:
    """Return what the history says after its last night; None if the target is not intermittent.

    varies  it is known that the training does not repeat its bits
    """
    becomes = _first_change if varies else _becomes_intermittent
    start = 0
    while True:
        known = becomes(verdicts, start)
        if known is None:
            return None
        runs = _Runs()
        ended = _ends(verdicts, runs, known)
        if ended is None:
            return runs.summary(known.first)
        start = ended


def stays(verdicts: Sequence[Verdict]) -> bool:
    """Return whether a target fails for longer than what comes and goes.

    It does if it never passed, or if its last nights are two or more failures that all nights
    before do not explain.
    """
    runs = _Runs()
    for verdict in verdicts:
        runs.add(verdict.good)
    if not any(verdict.good or verdict.both for verdict in verdicts):
        return True
    return not runs.good and runs.length > 1 and runs.unexplained()


def _first_change(verdicts: Sequence[Verdict], start: int) -> _Shown | None:
    """Return the first change of a target that draws its verdicts every night.

    All nights count, once both verdicts were seen.
    """
    for night in range(start, len(verdicts)):
        if verdicts[night].good is not verdicts[start].good:
            first = night if verdicts[start].good else start
            return _Shown(counted=start, first=first, night=night)
    return None


def _becomes_intermittent(verdicts: Sequence[Verdict], start: int) -> _Shown | None:
    """Return where chance is first shown to decide the verdicts; None if it is not."""
    beginnings: list[_Beginning] = []
    for night in range(start, len(verdicts)):
        now = verdicts[night]
        if now.both:
            return _Shown(counted=night, first=night, night=night)
        if night == start:
            continue
        change = now.good is not verdicts[night - 1].good
        for one in beginnings:
            one.add(now, change)
        if change and not now.good:
            number = len(beginnings) + 1
            beginnings.append(_Beginning(night, 1 / (number * (number + 1))))
        evidence = [beginning.evidence() for beginning in beginnings]
        if sum(evidence) >= 1 / ALPHA:
            first = beginnings[evidence.index(max(evidence))].first
            return _Shown(counted=first, first=first, night=night)
    return None


def _ends(verdicts: Sequence[Verdict], runs: _Runs, known: _Shown) -> int | None:
    """Return the index of the first night of a run that chance does not explain.

    None if there is none.
    """
    for night in range(known.counted, len(verdicts)):
        runs.add(verdicts[night].good)
        if night >= known.night and runs.unexplained():
            return night + 1 - runs.length
    return None
