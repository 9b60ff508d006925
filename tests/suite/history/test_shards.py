"""Shards that ran elsewhere become one night, and nothing is counted twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.suite.history import History, open_history
from reprocheck.suite.history.engine import url_of_file
from reprocheck.suite.history.shards import (
    Bring,
    Joined,
    Merged,
    Share,
    bring_kept,
    bringing,
    first_of,
    join,
    merge,
    ranges,
    settle,
    share_of,
    without_states,
)
from reprocheck.suite.model import Baseline, Night, TargetState
from tests.suite.history.nights import HOUR, KEY, check, night

TARGETS = tuple(f"t{number}" for number in range(8))
SHARDS = 4


def as_it_is(check, _night):
    """Brings no folder."""
    return check


def shard(number: int, day: int = 1, **fields: object) -> Night:
    """A shard of the night of a day: each has a name and a clock of its own."""
    whole = night(day, targets=TARGETS, selected=TARGETS[number - 1 :: SHARDS])
    given = {
        "id": f"{whole.id[:-4]}000{SHARDS - number}",
        "shard": f"{number}/{SHARDS}",
        "started": whole.started - 60 * number,
        "ended": whole.started + 60 * number,
        "commit": "abc",
        **fields,
    }
    return replace(whole, **given)


def recorded(folder: Path, *nights: Night) -> History:
    """The history of a machine that ran shards: every target was checked twice."""
    history = open_history(url_of_file(folder / "history.sqlite"))
    for one in nights:
        history.begin_night(one)
        for target in one.selected:
            place = f"nights/{one.id}/{target}/attempt-1"
            (folder / place).mkdir(parents=True)
            (folder / place / "report.json").write_text(one.shard)
            history.add(check(one, target, good=False, curves=b"curves"))
            history.add(check(one, target, attempt=2, folder=place))
            history.put_states([TargetState(night=one.id, target=target, state="new target")])
    return history


def merged(into: History, folder: Path, numbers: Sequence[int], bring: Bring) -> list[Merged]:
    """The shards of these numbers, each from a machine of its own, merged in this order."""
    found = []
    for number in numbers:
        with recorded(folder / str(number), shard(number)) as other:
            found.append(merge(into, other, bring))
    return found


@pytest.mark.parametrize(
    ("numbers", "said"), [([1], "1"), ([3, 1, 2], "1-3"), ([1, 3, 4, 9], "1,3-4,9")]
)
def test_numbers_are_said_as_ranges_and_read_again(numbers: list[int], said: str) -> None:
    assert ranges(numbers) == said
    assert share_of(night(1, shard=f"{said}/9")) == Share(frozenset(numbers), 9)


@pytest.mark.parametrize("text", ["", "1", "a/b", "1-/3", "/3"])
def test_a_night_that_is_no_shard_is_whole(text: str) -> None:
    assert share_of(night(1, shard=text)) is None


def test_all_shards_of_a_night_become_one_night(url: str, tmp_path: Path) -> None:
    with open_history(url) as history:
        found = merged(history, tmp_path, [2, 4, 1, 3], as_it_is)
        assert [sum(one.nights.values()) for one in found] == [4, 4, 4, 4]
        (joined,) = join(history)
        (whole,) = history.nights()
        assert joined == Joined(night=whole.id, share=Share(frozenset({1, 2, 3, 4}), SHARDS))
        assert whole == Night(
            id=shard(4).id,
            started=night(1).started - 240,
            ended=night(1).started + 240,
            targets=TARGETS,
            selected=TARGETS,
            shard="",
            commit="abc",
        )
        assert [(one.target, one.attempt) for one in history.checks()] == [
            (target, attempt) for target in TARGETS for attempt in (1, 2)
        ]
        assert without_states(history, whole)


def test_the_same_merge_again_changes_nothing(url: str, tmp_path: Path) -> None:
    with open_history(url) as history:
        merged(history, tmp_path, [1, 2, 3, 4], as_it_is)
        join(history)
        state = TargetState(night=shard(4).id, target="t0", state="fixed")
        history.put_states([state])
        before = history.nights(), history.checks(curves=True)
        for number in (1, 2, 3, 4):
            with open_history(url_of_file(tmp_path / str(number) / "history.sqlite")) as other:
                again = merge(history, other, as_it_is)
                assert set(again.nights.values()) == {0}
        assert join(history) == ()
        assert (history.nights(), history.checks(curves=True)) == before
        assert history.states() == (state,)


def test_a_missing_shard_is_named_and_joins_later(url: str, tmp_path: Path) -> None:
    with open_history(url) as history:
        merged(history, tmp_path, [1, 3, 4], as_it_is)
        (joined,) = join(history)
        assert joined.share.missing == (2,)
        assert history.nights()[0].shard == "1,3-4/4"
        merged(history, tmp_path, [2], as_it_is)
        (joined,) = join(history)
        assert joined.share.missing == ()
        (whole,) = history.nights()
        assert (whole.shard, whole.selected) == ("", TARGETS)
        assert len(history.final(whole.id)) == len(TARGETS)


@pytest.mark.parametrize(
    "other",
    [
        {"commit": "def"},
        {"targets": ("another", "suite")},
        {"started": night(1).started + 13 * HOUR},
        {"shard": f"1/{SHARDS}"},
        {"shard": "2/9"},
        {"shard": "2/4@1f3c9a0b"},
        {"ended": None},
    ],
    ids=lambda given: next(iter(given)),
)
def test_what_is_no_shard_of_the_same_night_stays_a_night(
    sqlite_url: str, other: dict[str, object]
) -> None:
    with open_history(sqlite_url) as history:
        history.begin_night(shard(1))
        history.begin_night(shard(2, **other))
        assert join(history) == ()
        assert len(history.nights()) == 2


def test_all_shards_see_what_had_ended_before_the_first_of_them_began(
    sqlite_url: str, tmp_path: Path
) -> None:
    first, second = shard(1, day=2, shard="1/2"), shard(2, day=2, shard="2/2")
    earlier, later = min(first, second, key=one_id), max(first, second, key=one_id)
    with open_history(sqlite_url) as history:
        for one, seconds in ((night(1), 5.0), (earlier, 90.0)):
            history.begin_night(one)
            history.add(check(one, "t0", started=one.started, seconds=seconds))
        assert first_of(history, later).id == earlier.id
        assert history.seconds(["t0", "t1"], 3, before=earlier) == {"t0": 5.0}
        alone = replace(later, commit="another")
        assert first_of(history, alone) == alone


def one_id(one: Night) -> str:
    return one.id


def test_shards_of_several_nights_find_their_own(sqlite_url: str, tmp_path: Path) -> None:
    with open_history(sqlite_url) as history:
        for number in (1, 2):
            nights = [shard(number, day, shard=f"{number}/2") for day in (1, 2, 3)]
            with recorded(tmp_path / str(number), *nights) as other:
                merge(history, other, as_it_is)
        assert len(join(history)) == 3
        assert [one.shard for one in history.nights()] == ["", "", ""]
        assert {len(history.final(one.id)) for one in history.nights()} == {4}


def test_a_target_in_two_shards_is_counted_once(sqlite_url: str, tmp_path: Path) -> None:
    with open_history(sqlite_url) as history:
        for number in (1, 2):
            one = shard(number, selected=("t0", "t1"))
            with recorded(tmp_path / str(number), one) as other:
                merge(history, other, as_it_is)
        join(history)
        assert [(one.target, one.attempt) for one in history.checks()] == [
            ("t0", 1),
            ("t0", 2),
            ("t1", 1),
            ("t1", 2),
        ]


def test_a_shard_that_went_on_after_it_was_merged_adds_what_is_new(
    sqlite_url: str, tmp_path: Path
) -> None:
    with open_history(sqlite_url) as history:
        with recorded(tmp_path / "1", shard(1, ended=None, selected=("t0",))) as other:
            (unended,) = merge(history, other, as_it_is).unended
            assert unended.id == shard(1).id
            merged(history, tmp_path, [2, 3, 4], as_it_is)
            join(history)
            assert history.nights()[0].ended is not None
            history.put_states([TargetState(night=shard(4).id, target="t0", state="fixed")])
            other.add(check(shard(1), "t4"))
            assert merge(history, other, as_it_is).nights == {shard(1).id: 1}
        (whole,) = history.nights()
        assert [one.target for one in history.final(whole.id)] == list(TARGETS)
        assert history.states() == (), "states that were found without it are removed"


def test_report_folders_and_recordings_come_along_once(sqlite_url: str, tmp_path: Path) -> None:
    here = tmp_path / "nightly"
    with open_history(sqlite_url) as history:
        for number in (1, 2, 3, 4):
            there = tmp_path / str(number)
            (there / "kept" / "t0").mkdir(parents=True)
            (there / "kept" / "t0" / "0123.zip").write_text(f"of {number}")
            with recorded(there, shard(number)) as other:
                merge(history, other, bringing(there, here))
            bring_kept(there, here)
        join(history)
        settle(history, here)
        (whole,) = history.nights()
        found = history.final(whole.id)
        assert [one.folder for one in found] == [
            f"nights/{whole.id}/{target}/attempt-1" for target in TARGETS
        ]
        said = [(here / one.folder / "report.json").read_text() for one in found]
        assert said == ["1/4", "2/4", "3/4", "4/4"] * 2
        assert [path.name for path in (here / "nights").iterdir()] == [whole.id]
        assert (here / "kept" / "t0" / "0123.zip").read_text() == "of 1"

        with open_history(url_of_file(tmp_path / "2" / "history.sqlite")) as other:
            merge(history, other, bringing(tmp_path / "2", here))
        settle(history, here)
        assert [path.name for path in (here / "nights").iterdir()] == [whole.id]
        assert history.final(whole.id) == found


@pytest.mark.parametrize("folder", ["/etc", "../../secrets", "nights/../../x", "nights/gone"])
def test_a_folder_that_is_elsewhere_or_gone_is_not_brought(folder: str, tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    source, here = tmp_path / "a" / "b", tmp_path / "nightly"
    source.mkdir(parents=True)
    brought = bringing(source, here)(check(night(1), "t0", folder=folder), night(1).id)
    assert brought.folder == ""
    assert not here.exists()


def test_a_copy_that_was_interrupted_is_made_again(tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    for folder in (there / "nights" / "n" / "t", here / "nights" / "n" / ".partial-t"):
        folder.mkdir(parents=True)
    (there / "nights" / "n" / "t" / "report.json").write_text("{}")
    brought = bringing(there, here)(check(night(1), "t", folder="nights/n/t"), night(1).id)
    assert (here / brought.folder / "report.json").is_file()
    assert [path.name for path in (here / "nights" / "n").iterdir()] == ["t"]


def test_a_whole_night_keeps_its_states_and_later_baselines_count(url: str, tmp_path: Path) -> None:
    def accepted(why: str, when: float) -> Baseline:
        return Baseline(target="t0", key=KEY, curves=b"c", why=why, who="me", when=when)

    with open_history(url) as history:
        history.accept(accepted("here", 2.0))
        with recorded(tmp_path, night(1, selected=("t0",))) as other:
            for why, when in (("older", 1.0), ("later", 3.0)):
                other.accept(accepted(why, when))
            assert merge(history, other, as_it_is).baselines == 1
            assert merge(history, other, as_it_is).baselines == 0
        assert [one.why for one in history.baselines()] == ["later", "here"]
        assert [one.state for one in history.states()] == ["new target"]


def test_what_names_a_shard_names_its_night_after_the_join(sqlite_url: str) -> None:
    with open_history(sqlite_url) as history:
        for number in (1, 2):
            history.begin_night(shard(number))
        history.begin_night(night(2))
        later = TargetState(night=night(2).id, target="t0", state="fixed", since=shard(1).id)
        history.put_states([later])
        history.accept(
            Baseline(target="t0", key=KEY, curves=b"c", why="", who="", when=1, night=shard(1).id)
        )
        (joined,) = join(history)
        assert history.states()[0].since == joined.night == shard(2).id
        assert history.baselines()[0].night == joined.night


def test_a_join_that_fails_midway_leaves_the_shards(sqlite_url: str) -> None:
    with open_history(sqlite_url) as history:
        for number in (1, 2):
            history.begin_night(shard(number))
        file = sqlite_url.removeprefix("sqlite:///")
        with sqlite3.connect(file) as connection:
            connection.execute(
                "CREATE TRIGGER full BEFORE INSERT ON parts BEGIN SELECT RAISE(ABORT, 'full'); END"
            )
        before = history.nights()
        with pytest.raises(Exception, match="full"):
            join(history)
        assert history.nights() == before


def test_links_and_what_they_lead_to_are_not_brought(tmp_path: Path) -> None:
    there, here, secrets = tmp_path / "there", tmp_path / "here", tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "key").write_text("private")
    place = there / "nights" / "n" / "t"
    place.mkdir(parents=True)
    (place / "report.json").write_text("{}")
    (place / "stdout.log").symlink_to(secrets / "key")
    (place / "more").symlink_to(secrets)
    (there / "nights" / "n" / "linked").symlink_to(secrets)
    (there / "kept" / "t").mkdir(parents=True)
    (there / "kept" / "t" / "0123.zip").symlink_to(secrets / "key")
    bring = bringing(there, here)
    assert bring(check(night(1), "t", folder="nights/n/t"), night(1).id).folder == "nights/n/t"
    assert bring(check(night(1), "t", folder="nights/n/linked"), night(1).id).folder == ""
    bring_kept(there, here)
    assert [path.name for path in here.rglob("*") if path.is_file()] == ["report.json"]


@pytest.mark.parametrize("shard", ["1-999999999/999999999", "3-2/4", "5/4", "0/4", "1/0"])
def test_a_shard_that_cannot_be_is_a_whole_night(shard: str) -> None:
    assert share_of(night(1, shard=shard)) is None
