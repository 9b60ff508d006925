"""Whether verdicts come and go by chance."""

from __future__ import annotations

from random import Random

import pytest

from reprocheck.suite.changes.verdicts import Verdict, comes_and_goes


def nights(words: str, *, moved: bool = False) -> list[Verdict]:
    """`..F.R`: a pass, a pass, a failure, a pass, a pass on retry."""
    return [
        Verdict(good=word == ".", moved=moved, both=word == "R") for word in words.replace(" ", "")
    ]


@pytest.mark.parametrize(
    "words",
    [
        "",
        "." * 1000,
        "F" * 1000,
        "." * 50 + "F" * 50,
        "F" * 20 + "." * 100,
        "." * 100 + "F",
        "." * 30 + "FFF" + "." * 30 + "FFFFF" + "." * 30,
    ],
)
def test_changes_that_stay_are_no_chance(words: str) -> None:
    assert comes_and_goes(nights(words)) is None


@pytest.mark.parametrize("words", ["." * 10 + "F....F..F", ".F.F.F", "...F.FF.F..F.F"])
def test_verdicts_that_come_and_go_are_chance(words: str) -> None:
    found = comes_and_goes(nights(words))
    assert found is not None
    assert found.first == words.index("F")
    assert found.failures == words.count("F")
    assert found.nights == len(words) - words.index("F")


def test_a_pass_on_retry_is_chance_in_one_night() -> None:
    found = comes_and_goes(nights("....R"))
    assert found is not None
    assert (found.first, found.failures, found.nights) == (4, 1, 1)


def test_changes_of_the_environment_explain_more() -> None:
    words = "." * 10 + "F....F.F"
    assert comes_and_goes(nights(words)) is not None
    assert comes_and_goes(nights(words, moved=True)) is None
    assert comes_and_goes(nights(words + "..F" * 10, moved=True)) is not None


@pytest.mark.parametrize("end", [".", "F"])
def test_a_run_that_chance_does_not_explain_ends_it(end: str) -> None:
    words = ".F..F.F...F.F....F..F.F.F..F"
    assert comes_and_goes(nights(words)) is not None
    assert comes_and_goes(nights(words + 4 * end)) is not None
    assert comes_and_goes(nights(words + 60 * end)) is None


def test_a_training_that_varies_fails_by_chance_until_its_nights_do_not_explain_it() -> None:
    assert comes_and_goes(nights("." * 20), varies=True) is None
    assert comes_and_goes(nights("." * 20 + "F"), varies=True) is not None
    assert comes_and_goes(nights("." * 20 + "FFF"), varies=True) is None
    assert comes_and_goes(nights("." * 200 + "F"), varies=True) is None


def test_of_targets_that_change_and_stay_one_in_a_hundred_is_called_intermittent_at_most() -> None:
    called = sum(_ever_called(Random(seed)) for seed in range(200))
    assert called <= 2


def _ever_called(random: Random) -> bool:
    """A target that flips in one of 20 nights: the most that the first explanation allows."""
    good, verdicts = True, []
    for _ in range(200):
        good ^= random.random() < 0.05
        verdicts.append(Verdict(good=good))
    return any(comes_and_goes(verdicts[:count]) for count in range(50, 201, 50))
