"""Five nights of a suite say the same words in the states, on the page, in JUnit, in the summary
and on the terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import gettempdir

import pytest

from reprocheck.suite.model import TargetState
from tests.suite import cluster
from tests.suite.history import postgres
from tests.suite.night.five_nights import FiveNights, SeenNight

pytestmark = pytest.mark.xdist_group(cluster.GROUP)

FIRST = "checked for the first time: REPRODUCIBLE"
EQUAL = "REPRODUCIBLE, equal to the baseline in every bit"
DRIFT = "loss differs from the baseline from step 3 on, by 1 ULP; no bit may differ"
DIFFERS = (
    "NOT REPRODUCIBLE (backward): The forward check agrees and after an update of the weights the"
    " losses differ: in iteration 2, run 2 has loss {} where run 1 has {}, a difference of 1 where"
    " {} is allowed; last good on {{night_1}}"
)
UPGRADED = (
    "loss differs from the baseline from step 3 on, by 1 ULP; within the tolerance (no noise floor"
    " was recorded, so the tolerance holds); options OMP_NUM_THREADS=2 train.py upgraded"
    " → OMP_NUM_THREADS=3 train.py upgraded, threads 2 → 3, variable.OMP_NUM_THREADS 2 → 3"
)
RETRIED = (
    "NOT REPRODUCIBLE (backward): The forward check agrees and after an update of the weights the"
    " losses differ: in iteration 2, run 2 has loss 2 where run 1 has 0.75, a difference of 1.25"
    " where 0.00175 is allowed; passes on retry 1, which is no pass"
)
AGAIN = "passes again after NOT REPRODUCIBLE (backward) since {night_2}"
NO_DRIFT = "passes again after the drift from the baseline since {night_2}"
CHANCE = "passes, but its verdicts come and go by chance; 1 of the last 2 nights failed"
Words = Mapping[str, tuple[str, str]]
WORDS: tuple[Words, ...] = (
    {
        "steady": ("new target", FIRST),
        "regresses": ("new target", FIRST),
        "flaky": ("new target", FIRST),
        "upgraded": ("new target", FIRST),
        "drifts": ("new target", FIRST),
        "dropped": ("new target", FIRST),
    },
    {
        "steady": ("unchanged", EQUAL),
        "regresses": ("new failure", DIFFERS.format(4, 3, 0.004)),
        "flaky": ("intermittent", RETRIED),
        "upgraded": ("expected drift", UPGRADED),
        "drifts": ("drift", DRIFT),
        "dropped": ("gone", "the suite does not have it any more; last checked on {night_1}"),
    },
    {
        "steady": ("unchanged", EQUAL),
        "regresses": (
            "still failing",
            f"{DIFFERS.format(2, 1, 0.002)}; since {{night_2}}",
        ),
        "flaky": ("intermittent", f"{RETRIED}; last checked on {{night_2}}"),
        "upgraded": ("expected drift", f"{UPGRADED}; since {{night_2}}"),
        "drifts": ("drift", f"{DRIFT}; since {{night_2}}"),
    },
    {
        "steady": ("unchanged", f"{EQUAL}; last checked on {{night_3}}"),
        "regresses": ("fixed", AGAIN),
        "flaky": ("intermittent", f"{RETRIED}; last checked on {{night_2}}"),
        "upgraded": (
            "expected drift",
            f"{UPGRADED}; since {{night_2}}; last checked on {{night_3}}",
        ),
        "drifts": ("fixed", NO_DRIFT),
    },
    {
        "steady": ("unchanged", EQUAL),
        "regresses": ("fixed", f"{AGAIN}; last checked on {{night_4}}"),
        "flaky": ("intermittent", f"{CHANCE}; since {{night_2}}"),
        "upgraded": (
            "expected drift",
            f"{UPGRADED}; since {{night_2}}; last checked on {{night_3}}",
        ),
        "drifts": ("fixed", f"{NO_DRIFT}; last checked on {{night_4}}"),
    },
)
"""Of each night: target -> its state, and the sentence on it."""
FAILED = (set(), {"regresses", "flaky", "drifts"}, {"regresses", "drifts"}, set(), set())
EXIT_CODES = (0, 1, 1, 0, 0)
TOLD_ON_THE_TERMINAL = ("drift", "expected drift", "intermittent", "fixed")
"""States that are named there whether they fail the night or not."""


@pytest.fixture(scope="module")
def five(
    nodes: cluster.Nodes, postgresql: postgres.Server, tmp_path_factory: pytest.TempPathFactory
) -> FiveNights:
    """The nights of a suite where most can go wrong: on a cluster, with its history on a server."""
    project = tmp_path_factory.mktemp("five") / "project"
    words = ("--executor", "ray", "--address", nodes.address)
    return FiveNights(project, words, postgresql.new_database())


@pytest.fixture(scope="module")
def nights(five: FiveNights) -> Sequence[SeenNight]:
    """What each night said."""
    return five.nights


def test_each_night_has_the_words_of_the_nightly(nights: Sequence[SeenNight]) -> None:
    for night, words in zip(nights, _expected(nights), strict=True):
        said = {name: (state.state, state.sentence) for name, state in night.states.items()}
        assert said == {name: words[name] for name in night.states}
        assert all("last checked on" in words[name][1] for name in set(words) - set(said))


def test_what_fails_makes_the_night_fail(nights: Sequence[SeenNight]) -> None:
    for night, failed in zip(nights, FAILED, strict=True):
        assert {name for name, state in night.states.items() if state.failed} == failed
    assert tuple(night.exit_code for night in nights) == EXIT_CODES


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
        rows = {name: (row[state], row[changed]) for name, row in night.page.items()}
        assert rows == {"Target": ("State", "What changed"), **words}


def test_the_summary_has_these_words(nights: Sequence[SeenNight]) -> None:
    for night, words in zip(nights, _expected(nights), strict=True):
        state, changed = 0, 2
        rows = {name: (row[state], row[changed]) for name, row in night.summary.items()}
        assert rows == {"target": ("state", "what changed"), **words}


def test_junit_has_these_words(nights: Sequence[SeenNight]) -> None:
    for night, words in zip(nights, _expected(nights), strict=True):
        assert set(night.cases) == set(words)
        for name, (state, sentence) in words.items():
            (said, *_) = night.cases[name]
            assert said.get("message", said.text) == f"{state}: {sentence}"
            assert said.tag == _element(night.states.get(name))


def _element(state: TargetState | None) -> str:
    """The element of JUnit that says how a target did; None: the night did not select it."""
    if state is None:
        return "skipped"
    if state.failed:
        return "failure"
    if state.state in ("gone", "not run"):
        return "skipped"
    return "system-out"


def test_the_terminal_has_these_words(nights: Sequence[SeenNight]) -> None:
    for night, words in zip(nights, _expected(nights), strict=True):
        for name, (state, sentence) in words.items():
            told = f" {name} {state}. {sentence} ".replace("→", "->") in night.terminal
            named = name in night.states and night.states[name]
            assert told == bool(named and (named.failed or state in TOLD_ON_THE_TERMINAL))


def _expected(nights: Sequence[SeenNight]) -> list[Words]:
    """`WORDS`, with the dates of the nights."""
    dates = {f"night_{number}": night.name[:10] for number, night in enumerate(nights, start=1)}
    return [
        {name: (state, sentence.format(**dates)) for name, (state, sentence) in words.items()}
        for words in WORDS
    ]


def test_a_killed_night_leaves_nothing_on_the_nodes(nights: Sequence[SeenNight]) -> None:
    names = {night.name for night in nights}
    tasks = Path(gettempdir()).glob("reprocheck-task-*/nights/*")
    assert not names & {place.name for place in tasks}
