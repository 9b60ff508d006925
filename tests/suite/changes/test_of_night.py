"""Five nights of a suite, in a history: the words of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.suite.changes.states import classify
from reprocheck.suite.changes.target_facts import Known
from reprocheck.suite.history import open_history
from reprocheck.suite.model import Night, TargetState
from tests.suite.changes.story import CURVE, Story, check, key, packed, target

NAMES = ("steady", "regresses", "repaired", "flaky", "upgraded", "drifts", "dropped", "late")
ONE_ULP = (*CURVE[:2], 0.5 + 2**-24, CURVE[3])


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Mapping[str, TargetState]]]:
    """The states of five nights, by target."""
    folder: Path = tmp_path_factory.mktemp("history")
    with open_history(f"sqlite:///{folder}/history.sqlite") as history:
        yield _five_nights(Story(history, [target(name) for name in NAMES]))


def _five_nights(story: Story) -> list[Mapping[str, TargetState]]:
    good = {name: check(name) for name in NAMES}
    first = [good[name] for name in NAMES if name != "repaired"]
    crashed = check(
        "repaired",
        good=False,
        verdict="script_failed",
        failed_check="",
        reason="run 2 ended with ValueError.",
    )
    states = [story.night(*first, crashed)]
    for name in NAMES:
        story.accept(good[name])

    regressed = check("regresses", good=False, commit="beefed", reason="run 2 differs.")
    flaky = (check("flaky", good=False), check("flaky", attempt=2))
    upgraded = check("upgraded", key=key(torch="2.13.0"), curves=packed(ONE_ULP))
    drifted = check("drifts", curves=packed(ONE_ULP))
    changed = {"regresses": regressed, "upgraded": upgraded, "drifts": drifted}
    now = {**good, **changed}
    rest = [one for name, one in now.items() if name != "flaky"]
    states.append(story.night(*rest, *flaky))

    story.targets = tuple(one for one in story.targets if one.name != "dropped")
    rest = [one for name, one in now.items() if name not in ("dropped", "late")]
    states.append(story.night(*rest, ended=False))
    states.append(story.night(*rest, now["late"]))
    rest = [one for name, one in good.items() if name not in ("dropped", "upgraded")]
    states.append(story.night(*rest, upgraded))
    return states


WORDS = {
    "steady": ("new target", "unchanged", "unchanged", "unchanged", "unchanged"),
    "regresses": ("new target", "new failure", "still failing", "still failing", "fixed"),
    "repaired": ("new failure", "fixed", "unchanged", "unchanged", "unchanged"),
    "flaky": ("new target", "intermittent", "intermittent", "intermittent", "intermittent"),
    "upgraded": ("new target", *("expected drift",) * 4),
    "drifts": ("new target", "drift", "drift", "drift", "fixed"),
    "dropped": ("new target", "unchanged", "gone", None, None),
    "late": ("new target", "unchanged", "not run", "unchanged", "unchanged"),
}


@pytest.mark.parametrize("name", NAMES)
def test_each_night_has_its_word(nights: list[Mapping[str, TargetState]], name: str) -> None:
    words = tuple(states[name].state if name in states else None for states in nights)
    assert words == WORDS[name]


def test_what_fails_the_night_is_marked(nights: list[Mapping[str, TargetState]]) -> None:
    failed = [sorted(name for name, one in states.items() if one.failed) for states in nights]
    assert failed == [
        ["repaired"],
        ["drifts", "flaky", "regresses"],
        ["drifts", "late", "regresses"],
        ["drifts", "regresses"],
        [],
    ]


def test_a_state_says_since_when_it_stands(nights: list[Mapping[str, TargetState]]) -> None:
    second = Story.name(1)
    for name in ("regresses", "drifts", "upgraded"):
        assert nights[1][name].since == ""
        assert nights[3][name].since == second
    assert nights[3]["flaky"].since == second


SENTENCES = {
    (0, "steady"): "checked for the first time: REPRODUCIBLE",
    (0, "repaired"): "SCRIPT FAILED: run 2 ended with ValueError",
    (1, "steady"): "REPRODUCIBLE, equal to the baseline in every bit",
    (1, "regresses"): "NOT REPRODUCIBLE (backward): run 2 differs; last good on 2026-10-01;"
    " commit c0ffee → beefed",
    (3, "regresses"): "NOT REPRODUCIBLE (backward): run 2 differs; last good on 2026-10-01;"
    " commit c0ffee → beefed; since 2026-10-02",
    (4, "regresses"): "passes again after NOT REPRODUCIBLE (backward) since 2026-10-02;"
    " commit beefed → c0ffee",
    (1, "repaired"): "passes again after SCRIPT FAILED since 2026-10-01",
    (1, "drifts"): "loss differs from the baseline from step 3 on, by 1 ULP; no bit may differ",
    (4, "drifts"): "passes again after the drift from the baseline since 2026-10-02",
    (2, "upgraded"): "loss differs from the baseline from step 3 on, by 1 ULP;"
    " within the tolerance (no noise floor was recorded, so the tolerance holds);"
    " torch 2.12.0 → 2.13.0; since 2026-10-02",
    (1, "flaky"): "NOT REPRODUCIBLE (backward); passes on retry 1, which is no pass",
    (2, "flaky"): "passes, but its verdicts come and go by chance;"
    " 1 of the last 2 nights failed; since 2026-10-02",
    (2, "dropped"): "the suite does not have it any more; last checked on 2026-10-02",
    (2, "late"): "was to be checked, and has no check; last checked on 2026-10-02",
}


@pytest.mark.parametrize(("night", "name"), SENTENCES)
def test_a_sentence_says_what_changed(
    nights: list[Mapping[str, TargetState]], night: int, name: str
) -> None:
    assert nights[night][name].sentence == SENTENCES[night, name]


def test_a_sentence_to_paste_holds_no_log_and_no_value_of_a_variable() -> None:
    failed = check(
        "a",
        good=False,
        night=Story.name(1),
        reason="run 2 ended with Refused: tenant K-4711.",
        reason_to_paste="run 2 ended with Refused: <log>.",
        beside={"variable.NIGHT": "17", "variable.NEW": "K-4711"},
    )
    passed = check("a", night=Story.name(0), beside={"variable.NIGHT": "16"})
    now = Night(id=Story.name(1), started=0.0, targets=("a",))
    said = classify(Known(night=now, target="a", now=failed, earlier=(passed,)))
    assert "K-4711" in said.sentence and "variable.NIGHT 16 → 17" in said.sentence
    assert said.sentence_to_paste == (
        "NOT REPRODUCIBLE (backward): run 2 ended with Refused: <log>; last good on 2026-10-01;"
        " variable.NEW not set → <set>, variable.NIGHT <set> → <set>"
    )


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    """A suite of one target, and no night yet."""
    with open_history(f"sqlite:///{tmp_path}/history.sqlite") as history:
        yield Story(history, [target("a")])


def test_a_curve_that_moves_without_a_baseline_is_told_once(story: Story) -> None:
    moved = check("a", curves=packed(ONE_ULP))
    words = [story.night(one)["a"] for one in (check("a"), check("a"), moved, moved)]
    assert [one.state for one in words] == ["new target", "unchanged", "moved", "unchanged"]
    assert not words[2].failed
    assert words[2].drift[0].step == 3
    assert words[2].sentence == (
        "loss differs from the last good night (2026-10-02) from step 3 on, by 1 ULP; no baseline"
        " is accepted"
    )


def test_a_curve_that_moves_while_its_target_fails_is_told_when_it_passes(story: Story) -> None:
    failed = check("a", good=False, curves=b"")
    words = [
        story.night(one)["a"] for one in (check("a"), failed, check("a", curves=packed(ONE_ULP)))
    ]
    assert words[2].state == "fixed"
    assert words[2].sentence == (
        "passes again after NOT REPRODUCIBLE (backward) since 2026-10-02; loss differs from the"
        " last good night (2026-10-01) from step 3 on, by 1 ULP"
    )


def test_what_varies_does_not_move_without_a_baseline(story: Story) -> None:
    story.targets = (target("a", expect="not_reproducible"),)
    one = check("a", verdict="not_reproducible", bitwise=False)
    words = [story.night(one)["a"] for one in (one, replace(one, curves=packed(ONE_ULP)))]
    assert words[1].state == "unchanged"


def test_what_a_night_does_not_select_keeps_its_state(story: Story) -> None:
    story.targets = (target("a"), target("b"))
    failed = check("b", good=False)
    story.night(check("a"), check("b"))
    story.night(check("a"), failed)
    assert set(story.night(check("a"), selected=("a",))) == {"a"}
    after = story.night(check("a"), failed)["b"]
    assert (after.state, after.since) == ("still failing", story.name(1))
    before = story.history.last_states(before=story.name(3))
    assert {name: one.night for name, one in before.items()} == {
        "a": story.name(2),
        "b": story.name(1),
    }


def test_a_pass_on_retry_says_why_the_first_attempt_failed(story: Story) -> None:
    failed = check("a", good=False, reason="run 2 differs.", reason_to_paste="<log>.")
    state = story.night(failed, check("a", attempt=2))["a"]
    assert state.sentence == (
        "NOT REPRODUCIBLE (backward): run 2 differs; passes on retry 1, which is no pass"
    )
    assert state.sentence_to_paste == (
        "NOT REPRODUCIBLE (backward): <log>; passes on retry 1, which is no pass"
    )
