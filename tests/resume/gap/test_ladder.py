"""The ladder across the gap, on facts made by hand: which rung differs, and what is said of it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace as replaced
from pathlib import Path

import pytest
from msgspec.structs import replace

from reprocheck.child.reprocheck_child.resume.archives import SAVERS
from reprocheck.resume.gap.explanation import LIBRARIES, explained, own_end
from reprocheck.resume.gap.ladder import RankGaps, gaps_of
from reprocheck.resume.gap.mersenne_twister import Twister, seeded
from reprocheck.resume.model import Explained
from reprocheck.rules.catalogue import entry
from reprocheck.trace.deep import DeepTrace, Leaf, Seen
from tests.verdict.verdict_runs import run as run_of

K = 2


def tensor(content: str, dtype: str = "float32") -> list[tuple[str, Leaf]]:
    return [("", Leaf(hash=content, dtype=dtype, shape=(4,)))]


def raw(seed: int, draws: int = 0) -> str:
    """A state of NumPy's generator, as the recorder has it: the words, then the position."""
    state = seeded("numpy", seed)
    if draws:
        state = Twister(state.after().words, draws)
    words = (*state.words, state.drawn)
    return b64encode(b"".join(word.to_bytes(4, "little") for word in words)).decode()


def boundary(iteration: int, states: str, *, draws: bool = True, **changed: str) -> list[Seen]:
    """What a training holds there, and one iteration."""

    def held(name: str, **keys: object) -> Seen:
        content = tensor(changed.get(name, name))
        return Seen(kind="held", place=name, iteration=iteration, outputs=content, **keys)

    def content(name: str) -> str:
        return changed.get(name, f"{name} {iteration - base}")

    base = K if iteration > K else 0
    number = iteration
    moved = {"numpy": "moved"} if draws else {}
    rate = Leaf(value=float(changed.get("lr", 0.1)))
    return [
        Seen(kind="boundary", iteration=number, before={"numpy": states[:8]}),
        Seen(kind="state", place="numpy", iteration=number, raw=states),
        held("body.weight"),
        held("head.weight"),
        held("body.weight:exp_avg", optimizer=0),
        Seen(
            kind="call",
            place="body",
            class_="Noise",
            iteration=number,
            inputs=tensor(content("x")),
            outputs=tensor(content("h")),
            before={"numpy": states[:8]} if draws else {},
            after=moved,
        ),
        Seen(kind="loss", place="loss", iteration=number, outputs=[("0", Leaf(value=1.0))]),
        Seen(kind="hyper", place="Adam[0]", iteration=number, outputs=[("lr", rate)]),
    ]


def trace(facts: Sequence[Seen], *, ended: bool = False) -> DeepTrace:
    return DeepTrace(rank=0, path=Path("none"), seen=tuple(facts), algorithm="x", ended=ended)


FIRST = [
    Seen(kind="weights", place=name, iteration=1, outputs=tensor(f"first {name}"))
    for name in ("body.weight", "head.weight")
]
CONTINUED = trace([*FIRST, *boundary(K + 1, raw(0, 100))])


def said(resumed: Sequence[Seen]) -> Explained:
    return explained([gaps_of(CONTINUED, trace(resumed), K)])


def first(found: Explained) -> tuple[str, str, str]:
    """The first rung that differs, its place, and the code of the mechanism."""
    assert found.first is not None and found.mechanism is not None
    return found.first.name, found.first.place, found.mechanism.code


def test_a_right_resume_differs_on_no_rung() -> None:
    found = said(boundary(1, raw(0, 100)))
    assert found.first is None and found.mechanism is None
    statuses = {rung.name: rung.status for rung in found.rungs}
    assert statuses["weights"] == statuses["RNG state"] == statuses["forward"] == "equal"


@pytest.mark.parametrize(
    ("changed", "rung", "place", "code"),
    [
        ({"head.weight": "first head.weight"}, "weights", "head.weight", "RC119"),
        ({"body.weight:exp_avg": "other"}, "optimizer state", "body.weight:exp_avg", "RC118"),
        ({"lr": "0.2"}, "hyper-parameters", "Adam[0] lr", "RC118"),
    ],
)
def test_state_that_is_not_put_back_is_named(
    changed: dict[str, str], rung: str, place: str, code: str
) -> None:
    assert first(said(boundary(1, raw(0, 100), **changed))) == (rung, place, code)


def test_an_optimizer_that_begins_anew_is_told_from_one_with_other_moments() -> None:
    facts = boundary(1, raw(0, 100))
    (moment,) = [fact for fact in facts if fact.optimizer is not None]
    moment.outputs = [("", Leaf(hash="zeros", dtype="float32", shape=(4,), norm=0.0))]
    found = said(facts)
    assert found.first is not None and "moments are zero" in found.first.detail


def test_a_model_that_was_built_again_is_known_by_its_names_without_their_numbers() -> None:
    facts = boundary(1, raw(0, 100))
    for fact in facts:
        fact.place = fact.place.replace("body", "body_2")
    found = said([fact for fact in facts if fact.kind in ("boundary", "state", "held")])
    assert found.first is None
    assert {rung.name: rung.status for rung in found.rungs}["optimizer state"] == "equal"


def with_attribute(facts: list[Seen], content: str, **returned: str) -> DeepTrace:
    """An iteration with a tensor that the module `body` keeps, which returns something else."""
    kept = Seen(kind="held", class_="attribute", place="body.mean", outputs=tensor(content))
    kept.iteration = facts[0].iteration
    return trace([facts[0], kept, *facts[1:]])


def test_a_tensor_that_no_state_dict_holds_is_named_where_all_else_agrees() -> None:
    continued = with_attribute([*boundary(K + 1, raw(0, 100))], "mean")
    for changed, first_rung in (({"h": "other"}, "weights"), ({"head.weight": "x"}, "weights")):
        resumed = with_attribute(boundary(1, raw(0, 100), **changed), "zero")
        found = explained([gaps_of(continued, resumed, K)])
        assert found.first is not None and found.mechanism is not None
        assert (found.first.name, found.mechanism.code) == (first_rung, "RC119")
        assert ("no state_dict" in found.first.detail) == ("h" in changed)


def test_a_tensor_that_is_written_anew_in_each_forward_pass_is_no_difference() -> None:
    continued = with_attribute([*boundary(K + 1, raw(0, 100))], "mean")
    found = explained([gaps_of(continued, with_attribute(boundary(1, raw(0, 100)), "zero"), K)])
    assert found.first is None


def test_a_model_with_its_first_values_names_no_part() -> None:
    found = said(
        boundary(
            1,
            raw(0, 100),
            **{name: f"first {name}" for name in ("body.weight", "head.weight")},
        )
    )
    assert found.first is not None and found.first.name == "weights"
    assert "before the first update" in found.first.detail


RESTORE = Seen(kind="restore", place="numpy", line="train.py:7")
BY_LIBRARY = Seen(kind="restore", place="numpy", line="train.py:7", by="lightning")
SEED = Seen(kind="seed", place="numpy", line="train.py:9", outputs=[("seed", Leaf(value=0))])


@pytest.mark.parametrize(
    ("before", "state", "code", "words"),
    [
        ([SEED], raw(0), "RC112", "back at the seed 0"),
        ([SEED], raw(0, 7), "RC112", "7 32-bit draws after the seed 0"),
        ([SEED, RESTORE], raw(0, 102), "RC109", "put back at train.py:7, and is one 64-bit draw ahead"),
        ([RESTORE, SEED], raw(0), "RC110", "seeded again with 0 at train.py:9"),
        ([RESTORE], raw(5), "RC112", "to another state"),
        ([BY_LIBRARY], raw(5), "RC112", "was put back by lightning at train.py:7 to another state"),
    ],
)  # fmt: skip
def test_a_generator_that_stands_elsewhere_is_told_by_what_was_done_to_it(
    before: Sequence[Seen], state: str, code: str, words: str
) -> None:
    found = said([*before, *boundary(1, state)])
    assert first(found) == ("RNG state", "numpy", code)
    assert found.first is not None and words in found.first.detail


def test_the_state_of_another_rank_is_known() -> None:
    others = {1: {"numpy": raw(5)}}
    found = explained([gaps_of(CONTINUED, trace(boundary(1, raw(5))), K, states=others)])
    assert first(found) == ("RNG state", "numpy", "RC111")
    assert found.first is not None and "the state of rank 1" in found.first.detail


def test_a_rank_with_the_state_of_another_comes_before_what_all_ranks_show() -> None:
    restore = Seen(kind="restore", place="numpy", line="train.py:9")
    others = {1: {"numpy": raw(5, 90)}}
    given = [restore, *boundary(1, raw(5, 92))]
    drawn = gaps_of(CONTINUED, trace([restore, *boundary(1, raw(0, 102))]), K, states=others)
    of_rank = gaps_of(CONTINUED, trace(given), K, states=others)
    found = explained([drawn, RankGaps(rank=7, gaps=of_rank.gaps, iterations=of_rank.iterations)])
    assert first(found) == ("RNG state", "numpy", "RC111")
    assert found.first is not None and (found.first.rank, found.first.ranks) == (7, (0, 7))
    said = "put back at train.py:9 to the state of rank 1, and is one 64-bit draw ahead of that"
    assert said in found.first.detail


def test_a_generator_that_was_not_put_back_is_not_that_of_another_rank_by_its_seed() -> None:
    others = {1: {"numpy": raw(5)}}
    found = explained([gaps_of(CONTINUED, trace(boundary(1, raw(5, 92))), K, states=others)])
    assert first(found) == ("RNG state", "numpy", "RC112")


def test_a_generator_that_nothing_draws_from_may_stand_anywhere() -> None:
    quiet = trace([*FIRST, *boundary(K + 1, raw(0, 100), draws=False)])
    found = gaps_of(quiet, trace(boundary(1, raw(9), draws=False)), K)
    assert found.first is None


def walked(iteration: int, indices: Sequence[int]) -> list[Seen]:
    """A pass whose order is drawn from NumPy's generator, and its first batch."""
    leaves = tensor(f"samples {indices}")
    return [
        Seen(
            kind="epoch",
            place="loader",
            iteration=iteration,
            indices=list(indices),
            after={"numpy": "drawn"},
        ),
        Seen(
            kind="batch",
            place="loader",
            iteration=iteration,
            indices=list(indices),
            outputs=leaves,
        ),
    ]


def test_an_order_is_told_by_the_generator_that_it_was_drawn_from() -> None:
    def run(iteration: int, indices: Sequence[int], draws: int) -> list[Seen]:
        return [*walked(iteration, indices), *boundary(iteration, raw(0, draws), draws=False)]

    continued = trace(run(K + 1, [3, 1], 100))
    restored = Seen(kind="restore", place="numpy", line="train.py:9", iteration=1)
    found = explained([gaps_of(continued, trace([restored, *run(1, [2, 0], 102)]), K)])
    assert first(found) == ("batch", "", "RC109")


def test_a_generator_beside_another_batch_is_said_and_does_not_decide() -> None:
    def run(iteration: int, indices: Sequence[int], draws: int) -> list[Seen]:
        epoch, batch = walked(iteration, indices)
        quiet = replace(epoch, after={})
        given = [("", Leaf(hash=f"samples {indices}", shape=(4,)))]
        step = [
            replace(fact, inputs=given) if fact.kind == "call" else fact
            for fact in boundary(iteration, raw(0, draws))
        ]
        return [quiet, batch, *step]

    continued = trace([*FIRST, *run(K + 1, [3, 1], 100)])
    restored = Seen(kind="restore", place="numpy", line="train.py:9", iteration=1)
    found = explained([gaps_of(continued, trace([restored, *run(1, [2, 0], 102)]), K)])
    assert found.first is not None and found.first.name == "batch"
    rungs = {rung.name: rung for rung in found.rungs}
    assert rungs["RNG state"].status == "not_compared"
    assert "is one 64-bit draw ahead, and `body` (Noise) draws from it" in rungs["RNG state"].detail
    assert found.mechanisms["RNG state"].code == "RC109"
    same = explained([gaps_of(continued, trace(run(1, [2, 0], 100)), K)])
    assert {rung.name: rung.status for rung in same.rungs}["RNG state"] == "equal"


def test_batches_that_the_script_draws_itself_are_those_of_its_generator() -> None:
    def run(iteration: int, draws: int, content: str) -> list[Seen]:
        samples = [("", Leaf(hash=f"{content} {iteration}", shape=(4,)))]
        given = Seen(kind="batch", place="inputs of Net", iteration=iteration, outputs=samples)
        looks = [
            Seen(kind="rng", iteration=iteration + number, before={"numpy": f"{draws + number}"})
            for number in range(2)
        ]
        return [given, *boundary(iteration, raw(0, draws), draws=False), *looks]

    continued = trace([*FIRST, *run(1, 50, "a"), *run(K + 1, 100, "a")])
    found = explained([gaps_of(continued, trace(run(1, 50, "a")), K)])
    assert first(found) == ("batch", "", "RC112")
    where = {rung.name: rung.detail for rung in found.rungs}
    assert where["batch"] == (
        "instead of the batch of iteration 3 came the batch of iteration 1 again"
    )
    assert "was not put back: " in where["RNG state"] and "the script draws" in where["RNG state"]
    consumed = Seen(kind="restore", place="numpy", line="train.py:9", iteration=1)
    found = explained([gaps_of(continued, trace([consumed, *run(1, 102, "b")]), K)])
    assert first(found) == ("batch", "", "RC109")


def test_a_batch_that_the_script_draws_is_seen_between_modules_that_draw() -> None:
    def run(iteration: int, stand: Sequence[str], content: str) -> list[Seen]:
        """A batch is drawn in front of the model, whose dropout draws, or within it."""
        start, noise, end, behind = stand
        samples = [("", Leaf(hash=f"{content} {iteration}", shape=(4,)))]
        given = Seen(kind="batch", place="inputs of Net", iteration=iteration, outputs=samples)
        held = boundary(iteration, raw(0, len(content)), draws=False)
        calls = [
            Seen(
                kind="call",
                place=place,
                iteration=iteration,
                before={"numpy": before},
                after={"numpy": end},
            )
            for place, before in (("drop", noise), ("", start))
        ]
        look = Seen(kind="rng", iteration=iteration, before={"numpy": behind})
        first_look = Seen(kind="rng", iteration=iteration, before={"numpy": start})
        return [given, *held, first_look, *calls, look]

    restored = Seen(kind="restore", place="numpy", line="train.py:9", iteration=1)
    ahead = [restored, *run(1, "pqrs", "ab")]
    drawing = trace([*FIRST, *run(K + 1, ["a", "b", "c", "d"], "a")])
    found = explained([gaps_of(drawing, trace(ahead), K)])
    assert first(found) == ("batch", "", "RC109")
    assert "and the script draws from it" in {r.name: r.detail for r in found.rungs}["RNG state"]
    # here the model alone draws, with a function in front of the module within it
    quiet = trace([*FIRST, *run(K + 1, ["a", "b", "c", "c"], "a")])
    found = explained([gaps_of(quiet, trace(ahead), K)])
    assert found.mechanism is None


def test_a_generator_of_the_scripts_own_is_named_by_its_variable_with_its_own_fix() -> None:
    name = "data.rng (numpy.random.Generator)"

    def run(iteration: int, content: str) -> list[Seen]:
        state = Seen(kind="state", place=name, iteration=iteration, raw=content)
        step = boundary(iteration, raw(0, 100), draws=False)
        drawn = Seen(
            kind="batch",
            place="DataLoader[0]",
            iteration=iteration,
            before={name: content},
            after={name: "moved"},
        )
        return [*step[:2], state, *step[2:], drawn]

    continued = trace([*FIRST, *run(K + 1, "c3RhdGU=")])
    found = explained([gaps_of(continued, trace(run(1, "b3RoZXI=")), K)])
    assert first(found) == ("RNG state", name, "RC112")
    assert found.rungs[4].detail == (
        f"the script's own generator {name} was not put back: it stands in another state, and"
        " DataLoader[0] draws from it"
    )
    assert found.mechanism is not None
    assert "rng.bit_generator.state = saved" in found.mechanism.fix
    same = explained([gaps_of(continued, trace(run(1, "c3RhdGU=")), K)])
    assert same.first is None


def test_a_run_that_ends_before_its_first_iteration_leaves_an_epoch_out() -> None:
    continued = trace([*walked(K + 1, [3, 1]), *boundary(K + 1, raw(0, 100))], ended=True)
    loaded = Seen(kind="load", place="model", iteration=1)
    ended = trace([loaded], ended=True)
    found = explained([gaps_of(continued, ended, K)])
    assert first(found) == ("batch", "", "RC115")
    assert not found.coverage
    by_an_error = own_end(ended, run_of(2, ended="failed").record)
    assert explained([gaps_of(continued, by_an_error, K)]).first is None


def test_steps_are_compared_with_their_numbers_shifted() -> None:
    found = said(boundary(1, raw(0, 100), h="other"))
    assert found.first is not None
    assert (found.first.name, found.first.iteration) == ("forward", 1)
    assert found.mechanism is None


def test_where_the_losses_agree_only_what_is_held_for_later_counts() -> None:
    resumed = trace(boundary(1, raw(9), lr="0.2", h="other"))
    rungs = explained([gaps_of(CONTINUED, resumed, K, equal=True)]).rungs
    assert [rung.name for rung in rungs if rung.status == "differs"] == ["hyper-parameters"]


def test_the_rank_with_the_lowest_rung_leads() -> None:
    right = gaps_of(CONTINUED, trace(boundary(1, raw(0, 100))), K)
    wrong = gaps_of(CONTINUED, trace(boundary(1, raw(0, 100), lr="0.2")), K)
    both = explained([right, RankGaps(rank=1, gaps=wrong.gaps, compared=wrong.compared)])
    assert both.first is not None
    assert (both.first.name, both.first.rank) == ("hyper-parameters", 1)


def test_a_side_without_its_point_says_so() -> None:
    unmarked = [fact for fact in boundary(1, "") if fact.kind not in ("boundary", "state", "held")]
    found = said(unmarked)
    assert found.coverage and {rung.name: rung.status for rung in found.rungs}["weights"] == (
        "not_recorded"
    )


def test_a_rung_of_which_nothing_was_recorded_is_not_equal() -> None:
    facts = ("boundary", "held", "call", "loss")

    def bare(iteration: int) -> DeepTrace:
        weights = [fact for fact in boundary(iteration, "") if fact.kind in facts]
        return trace([fact for fact in weights if fact.optimizer is None])

    rungs = explained([gaps_of(bare(K + 1), bare(1), K)]).rungs
    statuses = {rung.name: rung.status for rung in rungs}
    assert statuses["weights"] == "equal"
    for name in ("optimizer state", "hyper-parameters", "step counter", "RNG state"):
        assert statuses[name] == "not_recorded"


def test_a_library_that_saves_has_a_fix_of_its_own() -> None:
    assert set(LIBRARIES) <= {name for _, _, name, _ in SAVERS}
    words = {
        "accelerate": "register_for_checkpointing",
        "lightning": "ckpt_path",
        "transformers": "save_only_model",
        "torch.distributed.checkpoint": "set_state_dict",
    }
    assert set(words) == set(LIBRARIES.values())
    for library, word in words.items():
        assert word in entry("RC118").fix_for((library, "torch"))


def test_a_rate_that_a_callback_of_keras_sets_gets_a_fix_of_its_own() -> None:
    found = gaps_of(CONTINUED, trace(boundary(1, raw(0, 100), lr="0.2")), K)
    words = {"keras": "rate_of(epoch)", "torch": "scheduler.load_state_dict"}
    for framework, word in words.items():
        said = explained([replaced(found, frameworks=(framework,))])
        assert said.mechanism is not None and word in said.mechanism.fix


def averaged(iteration: int, contents: Sequence[str], *counts: int) -> list[Seen]:
    """What an average of a script's own holds where the training goes on, and one iteration
    later.
    """
    facts = boundary(iteration, raw(0, 100))
    for later, (content, count) in enumerate(zip(contents, counts, strict=True)):
        held = {"body": f"body {content}", "head": f"head {content}"}
        facts += [
            Seen(
                kind="held",
                place=f"ema.shadow['{name}']",
                class_="own weight",
                iteration=iteration + later,
                outputs=tensor(value),
            )
            for name, value in held.items()
        ]
        number = [("", Leaf(value=count))]
        facts.append(
            Seen(
                kind="held",
                place="ema.updates",
                class_="own number",
                iteration=iteration + later,
                outputs=number,
            )
        )
    return facts


def said_of(continued: Sequence[Seen], resumed: Sequence[Seen], *, equal: bool = True) -> Explained:
    return explained([gaps_of(trace(continued), trace(resumed), K, equal=equal)])


def test_an_average_of_the_scripts_own_that_was_lost_is_named_with_its_count() -> None:
    found = said_of(averaged(K + 1, ["a", "b"], 2, 3), averaged(1, ["x", "y"], 0, 1))
    assert first(found) == ("weights", "ema.shadow['body']", "RC119")
    details = {rung.name: rung.detail for rung in found.rungs}
    assert details["hyper-parameters"] == (
        "the value of ema.updates was 2 and is 0 after the resume"
    )
    count = said_of(averaged(K + 1, ["a", "b"], 2, 3), averaged(1, ["a", "b"], 0, 1))
    assert first(count) == ("hyper-parameters", "ema.updates", "RC118")
    assert found.beside == ("ema.shadow['body']", "ema.shadow['head']", "ema.updates")
    assert count.beside == ("ema.updates",)
    assert found.mechanism is not None and "average.shadow" in found.mechanism.fix
    assert count.mechanism is not None and "average.updates" in count.mechanism.fix


@pytest.mark.parametrize(
    ("saver", "word"),
    [
        ("", 'saved["average"] = average.state_dict()'),
        ("Accelerator.save_state", "register_for_checkpointing(average)"),
        ("Trainer.save_checkpoint", "on_save_checkpoint"),
        ("torch.distributed.checkpoint.save", 'average.load_state_dict(saved["average"])'),
    ],
)
def test_an_average_of_the_weights_that_was_lost_gets_a_fix_of_its_own(
    saver: str, word: str
) -> None:
    def with_average(iteration: int, content: str) -> list[Seen]:
        names = ("ema.n_averaged", "ema.module.body.weight")
        held = [
            Seen(kind="held", place=name, iteration=iteration, outputs=tensor(content))
            for name in names
        ]
        return [*boundary(iteration, raw(0, 100)), *held]

    found = gaps_of(trace(with_average(K + 1, "was")), trace(with_average(1, "now")), K, equal=True)
    said = explained([replaced(found, frameworks=(LIBRARIES.get(saver, ""), "torch"))])
    assert first(said) == ("hyper-parameters", "ema.n_averaged", "RC118")
    assert said.first is not None and said.mechanism is not None
    assert said.first.detail == (
        "ema.n_averaged, ema.module.body.weight are not what they were at the checkpoint"
    )
    assert word in said.mechanism.fix


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (["a", "b"], ["x", "b"]),  # made anew by each step, as a copy of the gradients
        (["a", "a"], ["x", "x"]),  # held for as long as the process lives
        (["a", "b"], ["a", "b"]),
    ],
)
def test_copies_that_carry_nothing_on_are_not_lost(was: list[str], now: list[str]) -> None:
    found = said_of(averaged(K + 1, was, 7, 7), averaged(1, now, 9, 9))
    assert found.first is None


def test_copies_are_not_blamed_for_what_differs_before_the_first_update() -> None:
    resumed = [*averaged(1, ["x", "y"], 0, 1)]
    states = {
        rung.name: rung
        for rung in said_of(
            averaged(K + 1, ["a", "b"], 2, 3),
            [
                replace(fact, outputs=tensor("other")) if fact.kind == "call" else fact
                for fact in resumed
            ],
            equal=False,
        ).rungs
    }
    assert states["forward"].status == "differs"
    assert states["weights"].status == "equal"


def test_a_run_that_passes_over_all_batches_of_each_pass_applies_its_offset_again() -> None:
    continued = trace([*walked(K + 1, [3, 1]), *boundary(K + 1, raw(0, 100))], ended=True)
    loaded = Seen(kind="load", place="model", iteration=1)
    passed = trace([loaded, *walked(1, [3, 1])], ended=True)
    found = explained([gaps_of(continued, passed, K)])
    assert first(found) == ("batch", "", "RC114")
    other = trace([loaded, *walked(1, [0, 2])], ended=True)  # a validation
    assert first(explained([gaps_of(continued, other, K)])) == ("batch", "", "RC115")
