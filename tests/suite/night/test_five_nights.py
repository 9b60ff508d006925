"""Five nights of a suite: the same words in the states, on the page, in JUnit and in the summary."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import pytest

from tests.e2e.suite.five_nights import FiveNights, SeenNight

WORDS = {
    "steady": ("new target", "unchanged", "unchanged", "unchanged", "unchanged"),
    "regresses": ("new target", "new failure", "still failing", "fixed", "not run"),
    "flaky": ("new target", "intermittent", "intermittent", "intermittent", "intermittent"),
    "upgraded": ("new target", "expected drift", "expected drift", "expected drift", "not run"),
    "drifts": ("new target", "drift", "drift", "fixed", "not run"),
    "dropped": ("new target", "gone", None, None, None),
}
FAILED = (set(), {"regresses", "flaky", "drifts"}, {"regresses", "drifts"}, set(), set())
EXIT_CODES = (0, 1, 1, 0, 0)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> list[SeenNight]:
    """On this machine, with SQLite."""
    return FiveNights(tmp_path_factory.mktemp("local") / "project").lived()


def test_each_night_has_the_words_of_the_nightly(local: list[SeenNight]) -> None:
    for name, words in WORDS.items():
        states = [night.states.get(name) for night in local]
        assert tuple(state.state if state else None for state in states) == words, name


def test_what_fails_makes_the_night_fail(local: list[SeenNight]) -> None:
    for night, failed in zip(local, FAILED):
        assert {name for name, state in night.states.items() if state.failed} == failed
    assert tuple(night.exit_code for night in local) == EXIT_CODES


def test_states_say_since_which_night(local: list[SeenNight]) -> None:
    second = local[1].states["regresses"].night
    assert local[1].states["regresses"].since == ""
    for name in ("regresses", "drifts", "upgraded", "flaky"):
        assert local[2].states[name].since == second
    assert local[3].states["upgraded"].since == second


def test_what_changed_is_data(local: list[SeenNight]) -> None:
    upgraded, drifts = local[1].states["upgraded"], local[1].states["drifts"]
    assert upgraded.changed["threads"][1] == "3"
    (difference,) = drifts.drift
    assert (difference.series, difference.step, difference.ulp) == ("loss", 3.0, 1)
    assert drifts.sentence == (
        "loss differs from the baseline from step 3 on, by 1 ULP; no bit may differ"
    )


def test_page_and_summary_have_the_same_words(local: list[SeenNight]) -> None:
    for night in local:
        for name, state in night.states.items():
            row = next(line for line in night.summary.splitlines() if name in line)
            assert state.state in row
            assert state.state in night.page
            assert state.sentence.split(";")[0] in night.page


def test_junit_has_the_same_words(local: list[SeenNight]) -> None:
    for night in local:
        cases = {case.get("name"): case for case in night.junit.iter("testcase")}
        for name, state in night.states.items():
            assert _bad(cases[name]) == state.failed, (name, state.state)
            for outcome in cases[name].iter("failure"):
                assert outcome.get("type") == state.state


def _bad(case: Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None
