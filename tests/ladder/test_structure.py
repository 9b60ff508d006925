"""The ladder where files, structure or ranks differ, where traces are damaged, and where they are
large.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.ladder.rungs import ladder_of
from reprocheck.model import (
    EnvironmentDifference,
    Ladder,
)
from reprocheck.model.statements.trace import LinesLeftOut
from reprocheck.trace.deep import sketched
from reprocheck.trace.deep_run import read_deep
from tests.ladder.ladder_traces import (
    HASHES,
    Event,
    call,
    changes,
    check_of,
    climb,
    loss,
    out,
    pair_of,
    plain,
    seen,
    statuses,
    tensor,
    text,
    told,
    training,
    update,
    words,
)

# ------------------------------------------------------------------------------- files, environment


def test_a_file_left_by_run_1_and_read_before_the_first_difference(tmp_path: Path) -> None:
    opened: Event = {"e": "open", "p": "out/last.pt", "m": "r"}
    other = training(weights="other")
    ladder = climb(tmp_path / "a", training(), [opened, *other], state_left=("out/last.pt",))
    assert ladder.first == "files and arguments"
    assert ladder.rung("files and arguments").place == "out/last.pt"
    assert "out/last.pt" in ladder.sentence
    late = climb(
        tmp_path / "b", training(), [*training(x1="other"), opened], state_left=("out/last.pt",)
    )
    assert late.first == "batch"
    assert late.rung("files and arguments").status == "equal"


@pytest.mark.parametrize(
    ("seeds", "generator", "leads"),
    [
        ((), "torch", "initial weights"),
        ((3, 4), "torch", "initial weights"),
        ((3, 3), "torch", "files and arguments"),
        ((3, 3), "jax (rng.py:7)", "initial weights"),
    ],
)
def test_a_cache_from_which_both_runs_read_the_same_leads_only_where_its_making_can_have_moved_a_generator(
    tmp_path: Path, seeds: tuple[int, ...], generator: str, leads: str
) -> None:
    opened: Event = {"e": "open", "p": "cache.npz", "m": "r"}

    def run(number: int) -> list[Event]:
        seeded = [
            seen("seed", generator, out=[["seed", {"v": seed}]], sn=0)
            for seed in seeds[number : number + 1]
        ]
        born = {"g": {generator: f"state {number}"}, "sn": 1}
        events = training(weights=f"weights {number}")
        drawn = [{**event, **born} if event.get("r") == "weights" else event for event in events]
        return [*drawn[:1], opened, *seeded, *drawn[1:]]

    ladder = climb(tmp_path, run(0), run(1), state_left=("cache.npz",), state_alike=("cache.npz",))
    assert ladder.first == leads
    assert "cache.npz" in ladder.rung("files and arguments").detail


def test_the_environment_alone_never_leads(tmp_path: Path) -> None:
    different = (EnvironmentDifference(key="OMP_NUM_THREADS", run=2, reference="1", value="2"),)
    ladder = climb(
        tmp_path / "a", training(), training(noisy="other"), environment_differences=different
    )
    assert ladder.rung("environment").status == "differs"
    assert ladder.rung("environment").place == "OMP_NUM_THREADS"
    assert ladder.first == "forward"
    assert (
        climb(tmp_path / "b", training(), training(), environment_differences=different).first
        == "environment"
    )


def test_without_deeper_runs_there_is_no_ladder(tmp_path: Path) -> None:
    check = check_of(tmp_path, deeper=(), first=(plain(1.0), plain(2.0)))
    assert ladder_of(check, tmp_path) is None


# ---------------------------------------------------------------------------------------- structure


def test_a_module_that_only_run_2_calls(tmp_path: Path) -> None:
    other = training(logits="other")
    position = next(n for n, e in enumerate(other) if e.get("p") == "head" and e.get("i") == 2)
    base = training()
    ladder = climb(
        tmp_path, base, [*base[:position], call("aux", "x", "a", k="Aux", i=2), *other[position:]]
    )
    assert ladder.first == "forward"
    rung = ladder.rung("forward")
    assert (rung.place, rung.iteration) == ("aux", 2)
    assert (
        words(rung.detail)
        == "In iteration 2 run 2 calls aux (Aux), which run 1 does not: the control flow differs."
    )
    assert rung.another_path


def test_one_batch_more_in_an_iteration(tmp_path: Path) -> None:
    def events(count: int) -> list[Event]:
        turns = [
            [
                seen("batch", "L", c=n, out=[["0", tensor(f"x{n}")]]),
                call("", f"x{n}", f"y{n}", c=n),
                loss(1.0),
            ]
            for n in range(count)
        ]
        return [
            HASHES,
            {"e": "optimizer", "o": 0},
            *(e for turn in turns for e in turn),
            out("update", "w", "n"),
            update(1),
        ]

    ladder = climb(tmp_path, events(2), events(3))
    assert ladder.first == "batch"
    assert "L hands out batch 3 of the iteration in run 2 that it does not in run 1" in words(
        ladder.rung("batch").detail
    )


def test_a_run_that_was_stopped_in_mid_iteration_is_no_difference(tmp_path: Path) -> None:
    full = training()
    assert climb(tmp_path / "a", full, full[:-6]).first is None
    ended = climb(tmp_path / "b", full, [*full[:-17], {"e": "exit"}])
    assert ended.first == "batch", "a script that came to its own end earlier is one"


def test_a_tensor_of_another_shape(tmp_path: Path) -> None:
    other = changes(training(), "call", "noise", out=[["", tensor("noisy", (2, 4))]])
    rung = climb(tmp_path, training(), other).rung("forward")
    assert (rung.place, rung.size) == ("noise", "gross")
    assert rung.measured.shapes is not None and rung.measured.shapes[1] == (2, 4)


# ------------------------------------------------------------------------------ damage, ranks, size


def test_damaged_traces(tmp_path: Path) -> None:
    content = text(training())
    damaged = (
        b"\xff not json\n"
        + content.replace(b'"p":"head"', b'"p":7', 1)
        + b'{"e":"seen","r":"new kind","i":1,"p":"x","zz":1}\n{"e":"se'
    )
    deeper = pair_of(tmp_path, [content], [damaged + b"\0" * 100])
    check = check_of(tmp_path, deeper=(deeper,), first=(plain(1.0), plain(2.0)))
    trace = read_deep(tmp_path, deeper.runs[1]).read(0)
    assert LinesLeftOut(kind="no events", number=2) in trace.problems
    ladder = told(check, tmp_path)
    assert any("no events" in line for line in ladder.coverage)


def test_gradients_that_are_at_the_update_as_they_were(tmp_path: Path) -> None:
    def at_update(events: Sequence[Event], clipped: str = "") -> list[Event]:
        facts: list[Event] = [
            {
                "e": "again",
                "r": "reduced",
                "i": 1,
                "o": 0,
                "p": ["head.weight", "body.weight", "unheard of"],
            }
        ]
        if clipped:
            facts = [
                {**facts[0], "p": ["head.weight"]},
                out("reduced", "body.weight", clipped, o=0),
            ]
        events = [event for event in events if event.get("r") != "reduced"]
        first = next(n for n, event in enumerate(events) if event.get("r") == "update")
        return [*events[:first], *facts, *events[first:]]

    ladder = climb(tmp_path, at_update(training()), at_update(training(), clipped="noisy"))
    assert ladder.first == "gradient" and ladder.first_rung is not None
    assert (ladder.first_rung.place, ladder.first_rung.evidence.agreed_before) == (
        "body.weight",
        True,
    )
    deeper = pair_of(tmp_path / "read", [text(at_update(training()))], [text(training())])
    trace = read_deep(tmp_path / "read", deeper.runs[0]).read(0)
    facts = [one for one in trace.seen if one.iteration == 1]
    gradients, reduced = (
        {one.place: one for one in facts if one.kind == kind} for kind in ("gradient", "reduced")
    )
    assert reduced.keys() == {"head.weight", "body.weight"} and all(
        one.optimizer == 0 for one in reduced.values()
    )
    for place, one in reduced.items():
        assert one.outputs == gradients[place].outputs and one.at > gradients[place].at
        assert sketched(trace, one) == sketched(trace, gradients[place]) != ({}, {})
    assert trace.problems == (LinesLeftOut(kind="no events", number=1),)


def test_a_trace_that_is_missing(tmp_path: Path) -> None:
    deeper = pair_of(tmp_path, [text(training())], [])
    ladder = told(check_of(tmp_path, deeper=(deeper,), first=(plain(1.0), plain(2.0))), tmp_path)
    assert ladder.first is None
    assert set(statuses(ladder).values()) <= {"not_recorded", "equal"}


def test_unrecorded_places_are_listed(tmp_path: Path) -> None:
    event: Event = {
        "e": "unrecorded",
        "where": "module Custom",
        "why": "called inside a transformation",
    }
    ladder = climb(tmp_path, [event, *training()], training(noisy="other"))
    assert ladder.coverage == ("module Custom: called inside a transformation",)


def test_hashes_of_different_algorithms_are_not_comparable(tmp_path: Path) -> None:
    other = [
        {**e, "hash": "blake2b"} if e["e"] == "fingerprints" else e
        for e in training(x1="other", weights="other", hidden="other")
    ]
    ladder = climb(tmp_path, training(), other)
    assert ladder.first is None
    assert statuses(ladder)["forward"] == "not_recorded"
    assert "not comparable" in ladder.rung("forward").detail
    assert statuses(ladder)["hyper-parameters"] == "equal"


def test_two_ranks(tmp_path: Path) -> None:
    def rank(number: int, events: Sequence[Event]) -> bytes:
        return text([{"e": "rank", "rank": number, "world": 2}, *events])

    one = [rank(0, training()), rank(1, training())]
    other = [
        rank(0, training(reduced="sum", new="n")),
        rank(1, training(**{"d body": "other", "dw body": "other", "reduced": "sum"})),
    ]
    check = check_of(
        tmp_path, deeper=(pair_of(tmp_path, one, other),), first=(plain(1.0), plain(2.0))
    )
    ladder = told(check, tmp_path)
    assert ladder.first == "gradient"
    assert (ladder.rung("gradient").rank, ladder.rung("gradient").place) == (1, "body")
    assert ladder.rung("reduced gradient").status == "differs"
    assert ladder.rung("reduced gradient").iterations == {0: 1, 1: 1}


def test_a_reduction_that_is_noisy(tmp_path: Path) -> None:
    files = [text([{"e": "rank", "rank": n, "world": 2}, *training()]) for n in (0, 1)]
    others = [
        text([{"e": "rank", "rank": n, "world": 2}, *training(reduced="other", new="n")])
        for n in (0, 1)
    ]
    ladder = told(
        check_of(
            tmp_path, deeper=(pair_of(tmp_path, files, others),), first=(plain(1.0), plain(2.0))
        ),
        tmp_path,
    )
    assert ladder.first == "reduced gradient"
    assert ladder.rung("reduced gradient").evidence.local_equal is True


def of_ranks(
    folder: Path, first: Sequence[Sequence[Event]], second: Sequence[Sequence[Event]]
) -> Ladder:
    """The ladder of two runs of several ranks."""

    def files(run: Sequence[Sequence[Event]]) -> list[bytes]:
        return [
            text([{"e": "rank", "rank": number, "world": len(run)}, *events])
            for number, events in enumerate(run)
        ]

    deeper = pair_of(folder, files(first), files(second))
    return told(check_of(folder, deeper=(deeper,), first=(plain(1.0), plain(2.0))), folder)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (
            ["sum"] * 3,
            ["other"] * 3,
            "in each run all ranks hold the same sum, and the sums of the runs differ: the collective (on all 3 ranks)",
        ),
        (
            ["sum"] * 3,
            ["sum", "other", "sum"],
            "in run 2 the ranks do not hold the same sum: a rank by itself (rank 1)",
        ),
        (
            ["a", "b", "c"],
            ["d", "e", "f"],
            "in both runs the ranks do not hold the same sum: a rank by itself (on all 3 ranks)",
        ),
    ],
)
def test_what_changes_reduced_gradients(
    first: list[str], second: list[str], said: str, tmp_path: Path
) -> None:
    ladder = of_ranks(
        tmp_path,
        [training(reduced=one) for one in first],
        [training(reduced=one) for one in second],
    )
    assert ladder.first == "reduced gradient" and ladder.first_rung is not None
    rung = ladder.first_rung
    assert rung.evidence.local_equal is True
    short = {
        "the collective that reduces the gradients of the ranks": "the collective",
        "what changes gradients on a rank by itself, in a communication hook or after the reduction": "a rank by itself",
    }
    assert ladder.sentence.replace(str(rung.culprit), short[str(rung.culprit)]).endswith(
        f"{said}."
    ), ladder.sentence


def test_of_sharded_weights_and_without_local_gradients_less_is_said(tmp_path: Path) -> None:
    sharded = of_ranks(
        tmp_path / "sharded",
        [training(weights=shard, reduced=shard) for shard in "ab"],
        [training(weights=shard, reduced=shard + "'") for shard in "ab"],
    )
    assert sharded.first_rung is not None and sharded.first_rung.evidence.local_equal is True
    assert str(sharded.first_rung.culprit).startswith("the reduction of gradients between ranks")
    short = of_ranks(tmp_path / "short", [training(), training()], [training(reduced="other")])
    assert (
        "One of the two runs recorded rank 1, the other did not: nothing is compared there."
        in short.coverage
    )
    assert short.first == "reduced gradient", "there were two ranks to reduce"
    blind = of_ranks(
        tmp_path / "blind",
        [[e for e in training() if e.get("r") not in ("gradient", "outgrad")]] * 2,
        [[e for e in training(reduced="other") if e.get("r") not in ("gradient", "outgrad")]] * 2,
    )
    assert blind.first_rung is not None and blind.first_rung.evidence.local_equal is None
    assert "local gradients were not recorded" in str(blind.first_rung.culprit)


def test_operators_say_which_one_it_is(tmp_path: Path) -> None:
    def op(p: str, given: str, returned: str, **keys: object) -> Event:
        return seen(
            "op",
            p,
            **{"in": [["0", tensor(given)]], "out": [["0", tensor(returned)]]},
            m="noise",
            l="model.py:12",
            **keys,
        )

    def events(garbage: str, noise: str) -> list[Event]:
        ops = [
            op("aten.empty.memory_format", "", garbage),
            op("aten.fill_.Scalar", garbage, "ones"),
            op("aten.mul.Tensor", "ones", noise),
        ]
        return [
            HASHES,
            *ops,
            op("aten.add.Tensor", noise, noise + "y"),
            call("noise", "x", noise, k="Noise"),
            loss(1.0),
            update(1),
        ]

    module = pair_of(
        tmp_path, [text([HASHES, *events("", "n")[5:]])], [text([HASHES, *events("", "N")[5:]])]
    )
    deep = pair_of(tmp_path, [text(events("g", "n"))], [text(events("G", "N"))], level="op")
    ladder = told(
        check_of(tmp_path, deeper=(module, deep), first=(plain(1.0), plain(2.0))), tmp_path
    )
    assert ladder.level == "op"
    rung = ladder.rung("forward")
    assert rung.place == "noise"
    assert rung.operator.name == "aten.mul.Tensor"
    assert rung.source is not None
    assert (rung.source.file, rung.source.line) == ("model.py", 12)
    assert "aten.mul.Tensor in noise at line 12 of model.py" in words(ladder.sentence)


@pytest.mark.parametrize(
    ("iteration", "weights", "said"),
    [
        (3, "w", "or draws from a private generator."),
        (4, "w", "that is in iteration 4."),
        (3, "W", "they say nothing of it."),
    ],
    ids=["the same difference", "in another iteration", "before what they recorded"],
)
def test_operators_of_other_runs_are_not_mixed_with_those_that_named_the_module(
    iteration: int, weights: str, said: str, tmp_path: Path
) -> None:
    def operators(noise: str, weights: str = "w") -> bytes:
        given = {"in": [["self", tensor("x")]], "out": [["", tensor(noise)]]}
        product = seen("op", "aten.mul.Tensor", iteration, **given)
        return text([HASHES, out("weights", "noise.weight", weights, 2), product])

    called = [text([HASHES, call("noise", "x", noise, "Noise", 3)]) for noise in "nN"]
    module = pair_of(tmp_path, called[:1], called[1:])
    deep = pair_of(tmp_path, [operators("n")], [operators("N", weights)], level="op")
    deeper = (module, replace(deep, begin=2))
    ladder = told(check_of(tmp_path, deeper=deeper, first=(plain(1.0), plain(2.0))), tmp_path)
    rung = ladder.rung("forward")
    assert rung.detail.endswith(said)
    assert (rung.operator is None) == (weights == "W")


def test_a_hundred_thousand_facts_take_seconds(tmp_path: Path) -> None:
    def events(last: str) -> list[Event]:
        calls = [call(f"layer.{n}", f"h{n}", f"h{n + 1}") for n in range(50_000)]
        return [HASHES, *calls[:-1], call("layer.49999", "h49999", last), loss(1.0), update(1)]

    one, other = events("y"), events("z")
    del other[10]
    deeper = pair_of(tmp_path, [text(one)], [text(other)])
    check = check_of(tmp_path, deeper=(deeper,), first=(plain(1.0), plain(2.0)))
    started = time.perf_counter()
    ladder = told(check, tmp_path)
    assert time.perf_counter() - started < 60
    assert ladder.rung("forward").place == "layer.9"
