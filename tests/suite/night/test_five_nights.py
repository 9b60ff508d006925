"""Five nights of a suite say the same words in the states, on the page, in JUnit, in the summary
and on the terminal: on either engine of the history, on this machine and on a Ray cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from reprocheck.suite.model import TargetState
from tests.suite import cluster
from tests.suite.history import postgres
from tests.suite.night.five_nights import FiveNights, SeenNight, judged_anew

pytestmark = pytest.mark.xdist_group(cluster.GROUP)

FIRST = "checked for the first time: REPRODUCIBLE"
EQUAL = "REPRODUCIBLE, equal to the baseline in every bit"
DRIFT = "loss differs from the baseline from step 3 on, by 1 ULP; no bit may differ"
NOT_SELECTED = "was not selected; last checked on {date}"
WORDS: tuple[Mapping[str, tuple[str, str]], ...] = (
    {},
    {},
    {},
    {},
    {},
)
"""Of each night: target -> its state and the sentence on it."""
FAILED = (set(), {"regresses", "flaky", "drifts"}, {"regresses", "drifts"}, set(), set())
EXIT_CODES = (0, 1, 1, 0, 0)
TOLD_ON_THE_TERMINAL = ("drift", "expected drift", "intermittent", "fixed")
"""States that are named there whether they fail the night or not."""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> FiveNights:
    """On this machine, with SQLite."""
    return FiveNights(tmp_path_factory.mktemp("here") / "project", ("--jobs", "2"))


@pytest.fixture(scope="module")
def on_ray(
    tmp_path_factory: pytest.TempPathFactory, nodes: cluster.Nodes, postgresql: postgres.Server
) -> FiveNights:
    """On a Ray cluster, with PostgreSQL."""
    words = ("--executor", "ray", "--address", nodes.address)
    folder = tmp_path_factory.mktemp("on_ray")
    return FiveNights(folder / "project", words, postgresql.new_database())


@pytest.fixture(scope="module")
def here_judged_in_postgresql(
    here: FiveNights, postgresql: postgres.Server, tmp_path_factory: pytest.TempPathFactory
) -> list[SeenNight]:
    return judged_anew(here, postgresql.new_database(), tmp_path_factory.mktemp("judged"))


@pytest.fixture(scope="module")
def on_ray_judged_in_sqlite(
    on_ray: FiveNights, tmp_path_factory: pytest.TempPathFactory
) -> list[SeenNight]:
    folder = tmp_path_factory.mktemp("judged")
    return judged_anew(on_ray, f"sqlite:///{folder / 'history.sqlite'}", folder)


@pytest.fixture(scope="module", params=["here", "on_ray"])
def lived(request: pytest.FixtureRequest) -> Sequence[SeenNight]:
    """Each engine and each executor once."""
    five: FiveNights = request.getfixturevalue(request.param)
    return five.nights


@pytest.fixture(
    scope="module",
    params=["here", "on_ray", "here_judged_in_postgresql", "on_ray_judged_in_sqlite"],
)
def nights(request: pytest.FixtureRequest) -> Sequence[SeenNight]:
    """Each engine with each executor."""
    found = request.getfixturevalue(request.param)
    if isinstance(found, FiveNights):
        return found.nights
    return list(found)


def test_each_night_has_the_words_of_the_nightly(nights: Sequence[SeenNight]) -> None:
    for night, words in zip(nights, _expected(nights), strict=True):
        said = {name: (state.state, state.sentence) for name, state in night.states.items()}
        assert said == words


def test_what_fails_makes_the_night_fail(lived: Sequence[SeenNight]) -> None:
    for night, failed in zip(lived, FAILED, strict=True):
        assert {name for name, state in night.states.items() if state.failed} == failed
    assert tuple(night.exit_code for night in lived) == EXIT_CODES


def test_states_say_since_which_night(nights: Sequence[SeenNight]) -> None:
    second = nights[1].name
    assert nights[1].states["regresses"].since == ""
    for name in ("regresses", "drifts", "upgraded"):
        assert nights[2].states[name].since == second


def test_what_changed_is_data(nights: Sequence[SeenNight]) -> None:
    upgraded, drifts = nights[1].states["upgraded"], nights[1].states["drifts"]
    assert upgraded.changed["threads"][1] == "3"
    (difference,) = drifts.drift
    assert (difference.series, difference.step, difference.ulp) == ("loss", 3.0, 1)


def test_the_page_of_the_night_has_these_words(nights: Sequence[SeenNight]) -> None:
    for night, words in zip(nights, _expected(nights), strict=True):
        state, changed = 0, 3
        assert {name: (row[state], row[changed]) for name, row in night.page.items()} == words


def test_the_summary_has_these_words(nights: Sequence[SeenNight]) -> None:
    for night, words in zip(nights, _expected(nights), strict=True):
        state, changed = 0, 2
        rows = {name: (row[state], row[changed]) for name, row in night.summary.items()}
        assert rows == words


def test_junit_has_these_words(nights: Sequence[SeenNight]) -> None:
    for night, words in zip(nights, _expected(nights), strict=True):
        assert set(night.cases) == set(words)
        for name, (state, sentence) in words.items():
            (said, *_) = night.cases[name]
            assert said.get("message", said.text) == f"{state}: {sentence}"
            assert said.tag == _element(night.states[name])


def _element(state: TargetState) -> str:
    """The element of JUnit that says how a target did."""
    if state.failed:
        return "failure"
    if state.state in ("gone", "not run"):
        return "skipped"
    return "system-out"


def test_the_terminal_has_these_words(lived: Sequence[SeenNight]) -> None:
    for night, words in zip(lived, _expected(lived), strict=True):
        told = {
            name: f"{name} {state.state}. {state.sentence}"
            for name, state in night.states.items()
            if state.failed or state.state in TOLD_ON_THE_TERMINAL
        }
        for name in words:
            if name in told:
                assert told[name] in night.terminal
            else:
                assert f"{name} {words[name][0]}." not in night.terminal


def _expected(nights: Sequence[SeenNight]) -> list[dict[str, tuple[str, str]]]:
    """`WORDS`, with the dates of the nights."""
    dates = {f"night_{number}": night.name[:10] for number, night in enumerate(nights, start=1)}
    return [
        {name: (state, sentence.format(**dates)) for name, (state, sentence) in words.items()}
        for words in WORDS
    ]
