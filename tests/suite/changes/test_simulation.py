"""Nights that were never run: how often the words are wrong, and whether shifts are found in time.

`python -m benchmarks --only suite-simulation` does the same with many more of them. The bounds are
those of `docs/reference/suite-states.md` and what the size of a sample adds to them: a share of
that size would give as many in one sample of 1,000.
"""

from __future__ import annotations

from math import comb

import pytest

from benchmarks.suite_simulation import (
    BROKEN_AND_REPAIRED,
    DETERMINISTIC,
    INTERMITTENT,
    NOISY,
    OF_CHANCE,
    OF_CHANGES,
    QUIET,
    SHIFT,
    SHIFT_AT,
    Kind,
    false_words,
    missed,
)
from reprocheck.suite.changes.shifts import WINDOW

APART = WINDOW + 2
"""Nights between two that are read: no two share a night of what is held against the others."""
NIGHTS = 100
FUTURES = 40
BUSY = Kind(times=0.2)
"""On a machine that is so busy that a tenth more time is nothing special: the test alone decides."""
FALSE, MISSED = 0.01, 0.05
"""What a suite is to keep: words of noisy targets that are not right, shifts that are not found."""


def most(share: float, of: int) -> int:
    """How many of a sample may be what a share of all is, but for one sample of 1,000."""
    left, count = 1.0, -1
    while left > 0.001:
        count += 1
        left -= comb(of, count) * share**count * (1 - share) ** (of - count)
    return count


def test_a_sample_may_have_as_many_as_chance_gives_it() -> None:
    assert [most(FALSE, 200), most(FALSE, 300), most(MISSED, 120)] == [8, 10, 14]


def test_of_a_deterministic_target_no_word_is_wrong() -> None:
    assert not false_words(DETERMINISTIC, QUIET, range(2), 100)


@pytest.mark.parametrize(
    ("kind", "right", "targets"),
    [
        (BROKEN_AND_REPAIRED, OF_CHANGES, range(100, 101)),
        (INTERMITTENT, OF_CHANCE, range(200, 202)),
        (NOISY, OF_CHANCE, range(300, 303)),
        (BUSY, QUIET, range(400, 403)),
    ],
    ids=["broken and repaired", "intermittent", "noisy losses", "noisy times"],
)
def test_of_a_noisy_target_few_words_are_wrong(
    kind: Kind, right: tuple[str, ...], targets: range
) -> None:
    wrong = false_words(kind, right, targets, NIGHTS, apart=APART)
    assert wrong.total() <= most(FALSE, NIGHTS * len(targets)), wrong


@pytest.mark.parametrize(
    ("kind", "word", "shift"),
    [(NOISY, "drift", {"losses": SHIFT}), (BUSY, "slower", {"times": SHIFT})],
    ids=["losses", "times"],
)
def test_a_shift_of_two_deviations_is_found_within_five_nights(
    kind: Kind, word: str, shift: dict[str, float]
) -> None:
    targets = range(1000, 1003)
    sample = len(targets) * FUTURES
    share = missed(kind, word, targets, SHIFT_AT, futures=FUTURES, **shift)
    assert share * sample <= most(MISSED, sample)
