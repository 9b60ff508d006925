"""A check of a night becomes a baseline."""

from __future__ import annotations

import subprocess

import pytest

from reprocheck.suite.baselines import BaselineError, accept, accept_command
from reprocheck.suite.baselines.accept import baseline_for, changed, who_accepts
from reprocheck.suite.baselines.newest import last_checks, of_night, with_curves
from reprocheck.suite.model import Key
from tests.suite.baselines.curves import curve
from tests.suite.baselines.histories import KEY, Memory, check_of

OTHER_KEY = Key(facts={"torch": "2.14.0"})


def test_a_baseline_has_reason_author_night_and_environment() -> None:
    history = Memory()
    check = check_of(curve([1.0, 2.0]), commit="abc", beside={"numpy": "2.4"})
    (made,) = accept(
        history, [check], " the first ones ", "Ada", recordings={"small": "kept/a.zip"}
    )
    assert (made.why, made.who, made.night, made.commit) == ("the first ones", "Ada", "n1", "abc")
    assert made.environment == {"numpy": "2.4", **KEY.facts}
    assert (made.bitwise, made.replaced, made.recording) == (True, (), "kept/a.zip")
    assert history.baseline("small", KEY) == made


def test_what_it_replaces_is_held_against_it() -> None:
    history = Memory()
    accept(history, [check_of(curve([1.0, 2.0]))], "first", "Ada")
    (made,) = accept(history, [check_of(curve([1.0, 2.5]), night="n2")], "second", "Ada")
    (difference,) = made.replaced
    assert (difference.series, difference.first_bit, difference.relative) == ("loss", 2, 0.25)


def test_the_first_of_a_key_replaces_the_newest_of_another() -> None:
    history = Memory()
    accept(history, [check_of(curve([1.0]))], "first", "Ada")
    (made,) = accept(history, [check_of(curve([1.5]), key=OTHER_KEY)], "torch 2.14", "Ada")
    assert [one.relative for one in made.replaced] == [0.5]
    then = baseline_for(history, "small", KEY)
    assert then is not None
    assert changed(then.environment, made.environment) == {
        "options": ("train.py", ""),
        "torch": ("2.13.0", "2.14.0"),
    }


@pytest.mark.parametrize("why", ["", "   ", "…", "..."])
def test_without_a_reason_nothing_is_accepted(why) -> None:
    history = Memory()
    with pytest.raises(BaselineError, match="needs a reason"):
        accept(history, [check_of(curve([1.0]))], why, "Ada")
    assert history.accepted == []


def test_one_check_that_is_not_good_keeps_all_from_being_accepted() -> None:
    history = Memory()
    bad = check_of(curve([1.0]), target="bad", good=False, reason="the losses differ")
    with pytest.raises(BaselineError, match="bad in night n1 is not good: the losses differ"):
        accept(history, [check_of(curve([1.0])), bad], "why", "Ada")
    assert history.accepted == []
    (made,) = accept(history, [bad], "known to vary", "Ada", force=True)
    assert made.target == "bad"


def test_a_check_without_curves_is_refused_even_by_force() -> None:
    with pytest.raises(BaselineError, match="recorded no curves"):
        accept(Memory(), [check_of()], "why", "Ada", force=True)


def test_a_check_whose_runs_differ_in_bits_makes_no_bitwise_baseline() -> None:
    for bitwise in (False, None):
        (made,) = accept(Memory(), [check_of(curve([1.0]), bitwise=bitwise)], "why", "Ada")
        assert not made.bitwise


def test_who_accepts_is_the_name_that_git_has_else_the_login(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    monkeypatch.setenv("LOGNAME", "lovelace")
    assert who_accepts(tmp_path) == "lovelace"
    for words in (("init", "-q"), ("config", "user.email", "ada@example.org")):
        subprocess.run(("git", *words), cwd=tmp_path, check=True)
    assert who_accepts(tmp_path) == "lovelace"
    subprocess.run(("git", "config", "user.name", "Ada Byron"), cwd=tmp_path, check=True)
    assert who_accepts(tmp_path) == "Ada Byron"


def test_the_command_that_accepts_can_be_pasted() -> None:
    command = accept_command("resnet[lr=0.1]")
    assert command == "reprocheck suite baseline accept 'resnet[lr=0.1]' --why \"REASON\""


def test_the_last_check_of_each_target_is_found() -> None:
    bad = check_of(curve([1.0]), night="n3", good=False)
    history = Memory(rows=[*(check_of(curve([1.0]), night=night) for night in ("n1", "n2")), bad])
    names = ["small", "large"]
    assert [one.night for one in last_checks(history, names)] == ["n3"]
    assert [one.night for one in last_checks(history, names, good=True)] == ["n2"]
    assert [one.night for one in of_night(history, "n1", ["small"])] == ["n1"]
    with pytest.raises(BaselineError, match="Night n2 has no check of large"):
        of_night(history, "n2", ["large"])
    with pytest.raises(BaselineError, match="There is no night with a check"):
        last_checks(Memory(), names)


def test_the_last_check_with_curves_is_found() -> None:
    history = Memory(rows=[check_of(curve([1.0])), check_of(night="n2")])
    assert with_curves(history, "small").night == "n1"
    with pytest.raises(BaselineError, match="No check of large has recorded curves"):
        with_curves(history, "large")
