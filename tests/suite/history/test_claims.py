"""Which process makes a night: one of this machine is seen, one of another is heard of."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select, update

from reprocheck.suite.history import History, UnderWayError, open_history
from reprocheck.suite.history.claims import LEASE, RENEWED, Claim, begin, new_token, take
from reprocheck.suite.history.tables import claims
from reprocheck.suite.model import Night
from tests.suite.history.nights import check, night

TARGETS = ("bert", "resnet")
MINE, THEIRS = new_token(), new_token()


def elsewhere(token: str) -> None:
    """As the process of another machine is seen."""


def dead(token: str) -> bool:
    """As a process of this machine is seen that was killed."""
    return False


def one(day: int, **fields: object) -> Night:
    return night(day, **{"targets": TARGETS, "selected": TARGETS, "ended": None, **fields})


def heard(history: History, seconds_ago: float) -> None:
    """Every claim was renewed so long ago."""
    with history.writing() as connection:
        connection.execute(update(claims).values(heard=claims.c.heard - seconds_ago))


def claimed(history: History) -> list[str]:
    """The nights that are claimed."""
    with history.reading() as connection:
        return list(connection.scalars(select(claims.c.night)))


def test_the_same_targets_at_the_same_commit_are_not_checked_twice(url: str) -> None:
    first, second = one(1), one(2)
    with open_history(url) as history:
        with begin(history, first, THEIRS, elsewhere):
            history.add(check(first, "bert"))
            with pytest.raises(UnderWayError) as refused:
                begin(history, second, MINE, elsewhere)
            assert [one.id for one in history.nights()] == [first.id]
            for other in (
                one(3, commit="0" * 40),
                one(4, selected=("bert",), shard="1/2"),
                one(5, selected=("resnet",), shard="2/2"),
            ):
                begin(history, other, new_token(), elsewhere)
            begin(history, one(6), new_token(), elsewhere, twice=True)
        assert first.id not in claimed(history)
    assert first.id in refused.value.message
    assert "has 1 check so far" in refused.value.message
    assert "--shard 2/2" in refused.value.fix
    assert "--twice" in refused.value.fix
    assert f"--resume {first.id} goes on" in refused.value.fix
    left = re.search(r"in (\d+) seconds", refused.value.fix)
    assert left is not None
    assert 0 < int(left[1]) <= LEASE


def test_of_two_machines_that_resume_a_night_one_has_it(url: str) -> None:
    with open_history(url) as history:
        history.begin_night(one(1))
        with take(history, one(1), THEIRS, elsewhere):
            with pytest.raises(UnderWayError, match="is under way"):
                take(history, one(1), MINE, elsewhere)
            heard(history, LEASE - RENEWED)
            with pytest.raises(UnderWayError, match="is under way"):
                take(history, one(1), MINE, elsewhere)
        with take(history, one(1), MINE, elsewhere):
            pass


@pytest.mark.parametrize("ago", [LEASE + 1, -LEASE - 1])
def test_a_night_of_a_machine_that_is_gone_is_taken_over(url: str, ago: float) -> None:
    with open_history(url) as history:
        theirs = begin(history, one(1), THEIRS, elsewhere)
        theirs.renew(now=True)
        heard(history, ago)
        begin(history, one(2), new_token(), elsewhere)
        mine = take(history, one(1), MINE, elsewhere)
        with pytest.raises(UnderWayError, match="another process's by now") as lost:
            theirs.renew(now=True)
        mine.renew(now=True)
    assert "are kept" in lost.value.fix


def test_a_process_of_this_machine_that_was_killed_is_not_waited_for(sqlite_url: str) -> None:
    with open_history(sqlite_url) as history:
        begin(history, one(1), THEIRS, elsewhere)
        take(history, one(1), MINE, dead)
        with pytest.raises(UnderWayError) as refused:
            take(history, one(1), new_token(), lambda token: token == MINE)
    assert "on another machine" not in refused.value.fix


def test_a_claim_is_renewed_now_and_then_and_a_lost_history_does_not_end_it(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    with open_history(sqlite_url, wait=0.0) as history:
        claim = begin(history, one(1), MINE, elsewhere)
        heard(history, LEASE)
        claim.renew()
        assert _is_free(history)
        now += RENEWED
        with history.writing():
            claim.renew()
        assert _is_free(history)
        now += RENEWED
        claim.renew()
        assert not _is_free(history)


def _is_free(history: History) -> bool:
    with history.reading() as connection:
        first, *_ = connection.execute(select(claims.c.begun - claims.c.heard)).scalars()
    return bool(first >= LEASE)


def test_a_claim_says_nothing_of_who_has_it(sqlite_url: str) -> None:
    with open_history(sqlite_url) as history, begin(history, one(1), MINE, elsewhere) as claim:
        assert isinstance(claim, Claim)
        with history.reading() as connection:
            (row,) = connection.execute(select(claims)).all()
    assert (row.night, row.token) == (one(1).id, MINE)
    assert re.fullmatch("[0-9a-f]{32}", MINE)
    assert set(row._fields) == {"night", "token", "begun", "heard"}
