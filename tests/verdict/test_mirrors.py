"""Mirrors in facts of one run: what chance makes, what is exempt, and what is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from reprocheck.model import Tolerance
from reprocheck.model.mirrors import (
    AnyFact,
    Batch,
    Draw,
    Given,
    Mirror,
    MirrorKind,
    Mirrors,
    Network,
    Pass,
    Task,
)
from reprocheck.settings.relations import TABLE, rows_of
from reprocheck.verdict import judge
from reprocheck.verdict.mirrors import mirrors_of
from reprocheck.wording import say
from reprocheck.wording.verdict import worded
from tests.verdict.verdict_runs import run, trace

LOSSES = [[1.0], [0.9], [0.8]]
DATA = [("data", (0, 1))]


def found(*processes: Given) -> Mirrors:
    return mirrors_of(replace(run(1, trace(LOSSES)), given=processes))


def rank(number: int, *facts: AnyFact) -> Given:
    return Given(pid=number, rank=number, facts=facts)


def draws(states: list[str], inputs: str, **keys: object) -> list[AnyFact]:
    """One draw in each iteration, from these states."""
    drawn = {"place": "drop", "class_": "Dropout", "line": "train.py:9", **keys}
    return [
        Draw(iteration=at, states={"torch": state}, inputs=(f"{inputs}{at}",), **drawn)  # type: ignore[arg-type]
        for at, state in enumerate(states, 1)
    ]


def batches(samples: list[list[str]]) -> list[AnyFact]:
    return [
        Batch(place="loader", iteration=at, samples=tuple(row)) for at, row in enumerate(samples)
    ]


def ranks_that_draw(groups: list[tuple[str, tuple[int, ...]]], **keys: object) -> Mirrors:
    states = ["s1", "s2"]
    return found(
        *(
            rank(
                number, Network(number=0, groups=tuple(groups)), *draws(states, str(number), **keys)
            )
            for number in (0, 1)
        )
    )


def test_the_rule_mirrors_fails_a_pass_and_a_question_does_not() -> None:
    def judged(groups: list[tuple[str, tuple[int, ...]]]) -> tuple[str, int, str]:
        given = tuple(
            rank(number, Network(number=0, groups=tuple(groups)), *draws(["a", "b"], str(number)))
            for number in (0, 1)
        )
        runs = [replace(run(number, trace(LOSSES)), given=given) for number in (1, 2)]
        verdict = worded(judge(runs, Tolerance(), "bitwise,mirrors"))
        return verdict.title, verdict.exit_code, verdict.caveats[0]

    fault = "Ranks 0 and 1 draw the same noise for different inputs (2 draws), from the generator"
    title, exit_code, caveat = judged(DATA)
    assert (title, exit_code) == ("FAILED BY --fail-on mirrors: REPRODUCIBLE", 1)
    assert caveat == f"{fault} torch: drop, train.py:9."
    title, exit_code, caveat = judged([])
    assert (title, exit_code) == ("REPRODUCIBLE", 0)
    assert caveat == f"Is it meant? {fault} torch: drop, train.py:9."


def test_ranks_that_are_in_no_group_together_are_not_compared() -> None:
    assert ranks_that_draw([("data", (0, 2))]).found == ()
    assert ranks_that_draw([("model", (0, 1))]).found[0].kind == "shard-noise"


def test_a_single_number_that_all_ranks_draw_is_asked_and_noise_is_not() -> None:
    def asked(amount: int) -> bool:
        drawn = ranks_that_draw(DATA, class_="Own", amounts={"torch": amount})
        return drawn.found[0].asked

    assert asked(1)
    assert asked(0)  # not known, on a device
    assert not asked(64)


def test_ranks_with_the_same_samples_are_no_mirror_where_chance_makes_them() -> None:
    def kinds(samples: list[list[str]]) -> list[MirrorKind]:
        facts = (Network(number=0, groups=tuple(DATA)), *batches(samples))
        return [one.kind for one in found(rank(0, *facts), rank(1, *facts)).found]

    assert kinds([["a", "b", "c", "d"], ["e", "f", "g", "h"]]) == ["rank-samples"]
    assert kinds([["0", "1"], ["1", "0"]]) == []  # four bits
    assert kinds([["a", "b", "c", "d", "e", "f", "g", "h"]]) == []  # one batch
    assert kinds([["a"] * 32, ["a"] * 32]) == []  # a constant


def test_noise_that_repeats_in_one_iteration_alone_is_no_mirror() -> None:
    repeated = found(rank(0, *draws(["s", "s"], "x")))
    assert [(one.kind, one.between) for one in repeated.found] == [("step-noise", (1, 2))]
    within = [*draws(["s"], "x"), *draws(["s"], "y")]
    assert found(rank(0, *within)).found == ()


def epochs(order: str, again: str, **keys: object) -> tuple[Mirror, ...]:
    facts: list[AnyFact] = []
    for at, one in enumerate((order, again)):
        facts.append(Pass(place="loader", order=one, **{"count": 24, "shuffles": True, **keys}))  # type: ignore[arg-type]
        facts += [Batch(place="loader", iteration=10 * at + step) for step in range(3)]
    return found(Given(pid=1, rank=None, facts=tuple(facts))).found


def test_an_order_repeats_where_it_is_shuffled_and_long_enough_for_chance() -> None:
    assert [one.kind for one in epochs("a", "a")] == ["epoch-order"]
    assert epochs("a", "b") == ()
    assert epochs("a", "a", count=9) == ()
    assert epochs("a", "a", ascends=True) == ()
    assert epochs("a", "a", shuffles=False) == ()
    assert [one.asked for one in epochs("a", "a", shuffles=None)] == [True]


def test_an_evaluation_has_no_mirror() -> None:
    again: list[AnyFact] = []
    for _ in range(2):
        again.append(Pass(place="loader", order="a", count=24, shuffles=True))
        again += [Batch(place="loader", iteration=3) for _ in range(3)]
    assert found(Given(pid=1, rank=None, facts=tuple(again))).found == ()


@pytest.mark.parametrize(
    ("amount", "numbers", "iterable", "expected"),
    [
        (40, (1, 2), False, [False]),
        (1, (1, 2), False, [False]),
        (40, (1, 2), True, []),  # with the first task, a stream may be ordered for all workers
        (40, (1, 2, 3), True, [False]),
        (1, (1, 2, 3), True, [True]),  # which sample of a buffer comes next
        (40, (1,), False, []),
    ],
)
def test_workers_that_draw_the_same(
    amount: int, numbers: tuple[int, ...], iterable: bool, expected: list[bool]
) -> None:
    tasks = tuple(
        Task(number=at, dataset="Own", states={"rng": f"s{at}"}, amounts={"rng": amount})
        for at in numbers
    )
    own = Pass(place="loader", processes=(2, 3), iterable=iterable)
    handed = [Batch(place="loader", iteration=at, worker=at % 2, samples=()) for at in range(8)]
    workers = (Given(pid=pid, rank=None, facts=tasks) for pid in (2, 3))
    mirrors = found(Given(pid=1, rank=None, facts=(own, *handed)), *workers)
    assert [one.asked for one in mirrors.found] == expected
    assert all(one.kind == "worker-draws" and one.between == (0, 1) for one in mirrors.found)


def test_without_facts_every_kind_is_not_seen_and_each_has_a_row_and_a_sentence() -> None:
    kinds = get_args(MirrorKind)
    assert found().not_seen == kinds
    fields = ("name", "expects", "does", "needs", "frameworks", "limits")
    assert tuple(row["name"] for row in rows_of(TABLE, "mirror", fields)) == kinds
    for kind in kinds:
        mirror = Mirror(kind=kind, between=(0, 1), place="here", count=2)
        assert "0 and 1" in say(mirror) and say(mirror).endswith(": here.")


def test_keys_of_jax_are_asked() -> None:
    keys = [*draws(["k1", "k2"], "", class_="key", copies=2)]
    mirrors = found(rank(0, *keys))
    assert [(one.kind, one.asked) for one in mirrors.found] == [("device-keys", True)]
    constant = found(rank(0, *draws(["k", "k"], "", class_="key")))
    assert [(one.kind, one.asked) for one in constant.found] == [("step-noise", True)]
    assert found(rank(0, *draws(["k1", "k2"], "", class_="key"))).found == ()
