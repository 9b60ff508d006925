"""What is written to a history and asked of it, in SQLite and PostgreSQL."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import pytest

from reprocheck.suite.history import HistoryError, open_history
from reprocheck.suite.model import (
    Baseline,
    Difference,
    Key,
    Night,
    OverviewRow,
    Suspect,
    TargetCheck,
    TargetState,
)
from tests.suite.history.nights import KEY, check, night, record

HOSTILE = "bell \x07, half a pair \udc80, 日本, 'quote', \"double\", 100% :name"
WHOLE_NIGHT = Night(
    id="2026-11-23T02-00-00Z-1f3a",
    started=1.5,
    ended=3.25,
    targets=("a", "b", "c[lr=0.1]"),
    selected=("a", "c[lr=0.1]"),
    shard="2/8",
    commit="abc+",
    executor="ray",
    reprocheck_version="0.1",
)
WHOLE_CHECK = TargetCheck(
    night=WHOLE_NIGHT.id,
    target="c[lr=0.1]",
    attempt=2,
    started=1.25,
    seconds=0.1,
    verdict="not_reproducible",
    failed_check="backward",
    exit_code=1,
    reason="The loss of iteration 2 differs.",
    reason_to_paste="The loss differs.",
    good=True,
    bitwise=False,
    first_bitwise=2,
    first_divergence=3,
    rung="backward",
    place="layer1.weight",
    causes=("RC302", "RC101"),
    source="model/é.py:12",
    key=Key(facts={"torch": "2.13.0", HOSTILE: HOSTILE}),
    beside={"hostname": HOSTILE},
    commit="def",
    files="0123456789abcdef",
    rtol=1e-5,
    atol=math.ulp(0.0),
    folder="nights/2026/c/attempt-2",
    curves=bytes(range(256)),
)
WHOLE_DIFFERENCE = Difference(
    series="val_loss",
    rank=3,
    first_bit=7,
    step=100.0,
    ulp=2**60,
    beyond=9,
    relative=math.inf,
    value=0.1,
    other=-math.inf,
    missing=True,
    new=True,
    loose=True,
)
WHOLE_STATE = TargetState(
    night=WHOLE_NIGHT.id,
    target="b",
    state="expected drift",
    failed=True,
    since="2026-11-22T02-00-00Z-0000",
    sentence="torch is another.",
    sentence_to_paste="another fact.",
    changed={"torch": ("2.12.0", "2.13.0")},
    drift=(WHOLE_DIFFERENCE,),
    operation="aten::mm",
    suspect=Suspect(
        report="nights/n/b/train-compared-1",
        source="train.py:4",
        diff="-old\n+new",
        commits=("4cc649203e93 New",),
    ),
)
WHOLE_BASELINE = Baseline(
    target="c[lr=0.1]",
    key=WHOLE_CHECK.key,
    curves=b"\0curves",
    why="A new optimizer.",
    who="A <a@example.com>",
    when=12.5,
    bitwise=False,
    night=WHOLE_NIGHT.id,
    commit="def",
    environment={"torch": "2.13.0", "hostname": "node1"},
    replaced=(WHOLE_DIFFERENCE,),
    recording="kept/c/0123.zip",
)
WHOLE = (WHOLE_NIGHT, WHOLE_CHECK, WHOLE_DIFFERENCE, WHOLE_STATE, WHOLE_BASELINE)


def test_the_data_of_these_tests_leave_no_field_at_its_default() -> None:
    for one in WHOLE:
        for field in fields(one):
            assert getattr(one, field.name) != field.default, (type(one).__name__, field.name)


def test_every_field_comes_back_as_it_was_recorded(url: str) -> None:
    with open_history(url) as history:
        history.begin_night(WHOLE_NIGHT)
        history.add(WHOLE_CHECK)
        history.put_states([WHOLE_STATE])
        history.accept(WHOLE_BASELINE)
    with open_history(url, create=False) as again:
        assert again.nights() == (WHOLE_NIGHT,)
        assert again.night(WHOLE_NIGHT.id) == WHOLE_NIGHT
        assert again.checks(curves=True) == (WHOLE_CHECK,)
        assert again.checks() == (replace(WHOLE_CHECK, curves=b""),)
        assert again.final(WHOLE_NIGHT.id) == (WHOLE_CHECK,)
        assert again.states() == (WHOLE_STATE,)
        assert again.baselines() == (WHOLE_BASELINE,)
        assert again.baseline(WHOLE_BASELINE.target, WHOLE_BASELINE.key) == WHOLE_BASELINE


def test_what_no_database_takes_in_a_text_is_written_out(url: str) -> None:
    said = check(WHOLE_NIGHT, "a\udcff", reason="\0", place="\udc80")
    with open_history(url) as history:
        history.begin_night(WHOLE_NIGHT)
        history.add(said)
        (found,) = history.checks(target="a\udcff")
    assert (found.target, found.reason, found.place) == ("a\\udcff", "\\x00", "\\udc80")


def test_a_check_that_is_recorded_again_counts_once_and_stays_as_it_was(url: str) -> None:
    first = night(1)
    with open_history(url) as history:
        assert history.begin_night(first)
        assert not history.begin_night(replace(first, commit="another"))
        assert history.add(check(first, "resnet"))
        assert not history.add(check(first, "resnet", verdict="timed_out"))
        assert history.add(check(first, "resnet", attempt=2))
        assert history.add_all([check(first, "resnet"), check(first, "bert")]) == 1
        found = history.checks()
    assert [(one.target, one.attempt, one.verdict) for one in found] == [
        ("bert", 1, "reproducible"),
        ("resnet", 1, "reproducible"),
        ("resnet", 2, "reproducible"),
    ]


def test_nights_end_and_are_listed_oldest_first(url: str) -> None:
    with open_history(url) as history:
        for day in (3, 1, 2):
            history.begin_night(night(day, ended=None))
        history.end_night(night(3).id, 7.0)
        assert [one.id[8:10] for one in history.nights()] == ["01", "02", "03"]
        assert [one.id[8:10] for one in history.nights(last=2)] == ["02", "03"]
        assert [one.ended for one in history.nights()] == [None, None, 7.0]


def test_checks_are_asked_by_night_and_target_and_the_newest_alone(url: str) -> None:
    nights = night(1), night(2), night(3)
    with open_history(url) as history:
        record(history, *nights, targets=("bert", "resnet", "Zeta", "äther"))
        by_target = history.checks(target="resnet")
        newest = history.checks(target="resnet", last=2)
        by_night = history.checks(night=nights[1].id)
        one = history.checks(night=nights[1].id, target="bert")
    assert [found.night for found in by_target] == [found.id for found in nights]
    assert [found.night for found in newest] == [found.id for found in nights[1:]]
    assert [found.target for found in by_night] == ["Zeta", "bert", "resnet", "äther"]
    assert [(found.night, found.target) for found in one] == [(nights[1].id, "bert")]


def test_the_last_attempt_of_each_target_is_its_final_one(url: str) -> None:
    first = night(1)
    with open_history(url) as history:
        record(history, first, targets=("bert", "resnet"))
        for attempt in range(2, 12):
            history.add(check(first, "resnet", attempt=attempt, curves=b"%d" % attempt))
        final = history.final(first.id)
    assert [(one.target, one.attempt, one.curves) for one in final] == [
        ("bert", 1, b""),
        ("resnet", 11, b"11"),
    ]


def test_states_of_a_night_can_be_recorded_again(url: str) -> None:
    first, second = night(1), night(2)
    with open_history(url) as history:
        record(history, first, second)
        history.put_states(
            [TargetState(night=one.id, target="resnet", state="fixed") for one in (first, second)]
        )
        history.put_states(
            [
                TargetState(night=second.id, target="resnet", state="gone"),
                TargetState(night=second.id, target="resnet", state="drift", failed=True),
            ]
        )
        history.put_states([])
        assert [one.state for one in history.states()] == ["fixed", "drift"]
        assert [one.state for one in history.states(target="resnet", last=1)] == ["drift"]
        assert history.states(night=first.id)[0].failed is False


def test_the_baseline_accepted_last_counts_for_its_key(url: str) -> None:
    other = Key(facts={"torch": "2.14.0"})
    with open_history(url) as history:
        for number, key in enumerate((KEY, other, KEY)):
            accepted = replace(WHOLE_BASELINE, key=key, why=str(number), when=-number)
            history.accept(replace(accepted, target="resnet"))
        history.accept(replace(WHOLE_BASELINE, target="bert", curves=b""))
        assert history.baseline("resnet", KEY).why == "2"  # type: ignore[union-attr]
        assert history.baseline("resnet", other).why == "1"  # type: ignore[union-attr]
        assert history.baseline("gpt", KEY) is None
        assert [one.why for one in history.baselines("resnet")] == ["2", "1", "0"]
        assert [one.target for one in history.baselines()] == ["bert", *["resnet"] * 3]
        assert history.reset("resnet", KEY) == 2
        assert [one.why for one in history.baselines("resnet")] == ["1"]
        assert history.reset("resnet") == 1
        assert history.reset("resnet") == 0
        assert history.baselines()[0].curves == b""


def test_the_overview_has_the_last_attempt_of_every_target_in_the_last_nights(url: str) -> None:
    nights = night(1), night(2), night(3)
    drift = (Difference(series="loss", relative=1e-6), Difference(series="lr", relative=3e-6))
    with open_history(url) as history:
        record(history, *nights)
        history.add(check(nights[2], "resnet", attempt=2, seconds=9.0, bitwise=None, good=False))
        history.put_states(
            [
                TargetState(night=nights[2].id, target="resnet", state="drift", drift=drift),
                TargetState(night=nights[2].id, target="bert", state="gone", failed=True),
            ]
        )
        whole = history.overview()
        newest = history.overview(last=1)
        assert history.overview(last=3) == history.overview(last=400) == whole
    checked = OverviewRow(
        night=nights[1].id,
        target="resnet",
        verdict="reproducible",
        good=True,
        bitwise=True,
        attempts=1,
        seconds=2.5,
        key=KEY.digest,
    )
    assert whole == (replace(checked, night=nights[0].id), checked, *newest)
    assert newest == (
        OverviewRow(night=nights[2].id, target="bert", state="gone", failed=True),
        OverviewRow(
            night=nights[2].id,
            target="resnet",
            state="drift",
            verdict="reproducible",
            attempts=2,
            seconds=9.0,
            key=KEY.digest,
            drift=3e-6,
        ),
    )


def test_what_is_the_same_in_many_nights_is_kept_once(sqlite_url: str) -> None:
    import sqlite3

    with open_history(sqlite_url) as history:
        for day in range(1, 5):
            history.begin_night(night(day, targets=("resnet",), selected=("resnet",)))
            history.add(check(night(day), "resnet", curves=b"equal in every bit"))
    connection = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))
    counts = [
        connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in ("checks", "curves", "lists", "facts")
    ]
    connection.close()
    assert counts == [4, 1, 1, 2]


def test_a_check_of_a_night_that_never_began_is_refused(url: str) -> None:
    with open_history(url) as history, pytest.raises(HistoryError, match="night"):
        history.add(check(night(1), "resnet"))


def test_a_night_that_is_not_there_is_named(url: str) -> None:
    with open_history(url) as history, pytest.raises(HistoryError, match="no night 2026-11-01"):
        history.night(night(1).id)
