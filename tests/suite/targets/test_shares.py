"""The targets of a suite, shared out to several machines."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import pytest

from reprocheck.errors import UsageError
from reprocheck.suite.model import Resources
from reprocheck.suite.target import Target
from reprocheck.suite.targets.shares import Share, share


def targets(names: list[str], minutes: dict[str, int] | None = None) -> list[Target]:
    asked = minutes or {}
    return [
        Target(
            name=name,
            words=("train.py",),
            workdir=Path("/"),
            needs=Resources(minutes=asked.get(name, 0)),
        )
        for name in sorted(names)
    ]


def shares(of: int, names: list[str], seconds: dict[str, float]) -> list[Share]:
    return [share(targets(names), f"{number}/{of}", seconds) for number in range(1, of + 1)]


def names_of(found: Share) -> list[str]:
    return [target.name for target in found.targets]


MANY = [f"t{number:02}" for number in range(31)]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("known", [0, 20, 31])
def test_every_target_is_in_exactly_one_share(count: int, known: int) -> None:
    draw = random.Random(count)
    seconds = {name: draw.lognormvariate(4, 1.5) for name in MANY[:known]}
    found = shares(count, MANY, seconds)
    assert sorted(name for one in found for name in names_of(one)) == MANY
    assert all(names_of(one) == sorted(names_of(one)) for one in found)
    assert len({one.name.partition("@")[2] for one in found}) == 1


def test_without_a_history_names_alone_decide() -> None:
    found = shares(4, MANY, {})
    assert [names_of(one) for one in found] == [MANY[number::4] for number in range(4)]
    assert [one.name for one in found] == ["1/4", "2/4", "3/4", "4/4"]


def test_no_share_takes_longer_than_another_one_by_more_than_one_target() -> None:
    draw = random.Random(0)
    seconds = {name: draw.lognormvariate(4, 1.5) for name in MANY}
    found = shares(4, MANY, seconds)
    took = [[seconds[name] for name in names_of(one)] for one in found]
    for one, other in combinations(took, 2):
        assert sum(one) - min(one) <= sum(other)
        assert sum(other) - min(other) <= sum(one)


def test_a_long_target_has_a_machine_for_itself_also_by_the_minutes_that_it_asks_for() -> None:
    by_history = share(targets(["a", "b", "c", "d"]), "1/2", {"a": 2, "b": 2, "c": 90, "d": 2})
    assert names_of(by_history) == ["c"]
    by_minutes = share(targets(["a", "b", "c", "d"], {"c": 30}), "1/2", {"a": 2, "b": 2, "d": 2})
    assert names_of(by_minutes) == ["c"]


def test_one_machine_a_target_is_by_name_whatever_took_longest() -> None:
    found = shares(3, ["a", "b", "c"], {"c": 100.0})
    assert [names_of(one) for one in found] == [["a"], ["b"], ["c"]]


def test_shares_by_other_times_have_another_digest() -> None:
    one = share(targets(MANY), "1/2", {"t00": 100.0, "t01": 3.0})
    other = share(targets(MANY), "1/2", {"t00": 1.0, "t01": 300.0})
    assert one.name.startswith("1/2@")
    assert one.name != other.name


@pytest.mark.parametrize("shard", ["0/4", "5/4", "1", "a/b", "1/0", "-1/4"])
def test_a_share_that_is_none_is_refused(shard: str) -> None:
    with pytest.raises(UsageError, match="is no shard"):
        share(targets(MANY), shard, {})
