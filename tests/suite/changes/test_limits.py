"""Limits of time, memory and single series, over nights of a history."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from reprocheck.suite.changes.limits import exceeded
from reprocheck.suite.history import open_history
from reprocheck.suite.measures import GROWTH, MEMORY, SECONDS
from reprocheck.suite.model import TargetState
from tests.suite.changes.story import CURVE, Story, check, packed, target

LIMITS = {MEMORY: 0.05, SECONDS: 0.2, "tokens/s": 0.1, "loss": 1e-3}


class Nights(Story):
    """Nights of one target with limits."""

    def took(self, *values: float, of: str = MEMORY) -> TargetState:
        """The state after nights with these values of a measure."""
        for value in values:
            states = self.night(check("lm", measures={of: value}))
        return states["lm"]


@pytest.fixture
def nights(tmp_path: Path):  # type: ignore[no-untyped-def]
    with open_history(f"sqlite:///{tmp_path / 'history.sqlite'}") as history:
        yield Nights(history, [target("lm", limits=LIMITS)])


def test_memory_beyond_its_limit_fails_until_it_is_accepted(nights: Nights) -> None:
    assert nights.took(1e9, 1.04e9).failed is False
    state = nights.took(1.2e9)
    assert (state.state, state.failed, state.since) == ("larger", True, "")
    assert state.sentence.startswith("memory: 1.2 GB, 1.02 GB before; 5 % more is allowed")
    again = nights.took(1.2e9, 1.2e9)
    assert (again.state, again.failed) == ("larger", True), "what failed is no reference"
    assert again.since == state.night
    nights.accept(check("lm", measures={MEMORY: 1.2e9}), nights.number - 1)
    fixed = nights.took(1.2e9)
    assert (fixed.state, fixed.failed) == ("fixed", False)
    assert "passes again after it took more memory than is allowed" in fixed.sentence
    assert nights.took(1.2e9, 0.8e9).state == "unchanged", "less is no failure"


def test_of_a_clock_what_is_noise_does_not_fail(nights: Nights) -> None:
    noisy = (1.0, 1.3, 0.9, 1.2, 1.1, 1.4)
    assert nights.took(*noisy, *noisy, 1.5, of=SECONDS).failed is False
    slow = nights.took(4.0, of=SECONDS)
    assert (slow.state, slow.failed) == ("slower", True)
    assert slow.sentence.startswith("seconds an iteration: 4 s, ")


def test_a_shift_within_the_noise_of_single_nights_fails_after_some() -> None:
    drawn = random.Random(1)
    values = [1.0 * drawn.uniform(0.8, 1.25) for _ in range(40)]

    def beyond(*last: float) -> bool:
        earlier = [{SECONDS: one} for one in (*values, *last[:-1])]
        return exceeded({SECONDS: 0.1}, {SECONDS: last[-1]}, earlier, {}) is not None

    assert not beyond(1.3)
    assert beyond(1.3, 1.32, 1.28, 1.31, 1.3)


@pytest.mark.parametrize(
    ("now", "accepted", "name"),
    [
        ({"tokens/s": 80.0}, {}, "tokens/s"),
        ({"tokens/s": 120.0}, {}, "tokens/s"),
        ({"tokens/s": 120.0}, {"tokens/s": 118.0}, ""),
        ({}, {}, ""),
    ],
)
def test_a_series_of_a_clock_is_held_in_both_directions(
    now: Mapping[str, float], accepted: Mapping[str, float], name: str
) -> None:
    found = exceeded(LIMITS, now, [{"tokens/s": 100.0}], accepted)
    assert (found.name if found else "") == name


def test_a_series_with_a_limit_is_held_by_that_alone(nights: Nights) -> None:
    nights.night(check("lm"))
    nights.accept(check("lm"))
    near = tuple(value * (1 + 5e-4) for value in CURVE)
    state = nights.night(check("lm", curves=packed(near)))["lm"]
    assert (state.state, state.failed) == ("drift", False)
    far = tuple(value * (1 + 2e-3) for value in CURVE)
    state = nights.night(check("lm", curves=packed(far)))["lm"]
    assert (state.state, state.failed) == ("drift", True)


def test_memory_that_begins_to_rise_is_told_and_fails_nothing(nights: Nights) -> None:
    assert nights.took(1e6, of=GROWTH).state == "new target"
    nights.night(check("lm"))
    state = nights.took(3e6, of=GROWTH)
    assert (state.state, state.failed) == ("larger", False)
    assert state.sentence == "memory rises by 3 MB an iteration"
    assert nights.took(3e6, of=GROWTH).state == "unchanged"


def test_more_memory_without_a_limit_is_told_after_five_nights(tmp_path: Path) -> None:
    with open_history(f"sqlite:///{tmp_path / 'history.sqlite'}") as history:
        nights = Nights(history, [target("lm")])
        nights.took(*[1e9] * 25)
        state = nights.took(*[1.5e9] * 5)
    assert (state.state, state.failed) == ("larger", False)
    assert state.sentence.startswith("takes 1.5 GB, 1 GB before")
