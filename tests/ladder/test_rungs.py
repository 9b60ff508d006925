"""Two deep traces -> the ladder: which rung differs first, at what place, who is the culprit and
who a victim.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.causes.cause import causes_of
from reprocheck.model.evidence import CallDiffers, InputsDiffer
from reprocheck.model.record import FileChanges
from reprocheck.wording import say
from tests.ladder.ladder_traces import (
    HASHES,
    HELLO,
    Event,
    call,
    changes,
    check_of,
    climb,
    generators,
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

# ------------------------------------------------------------------------------------- rung by rung


def test_equal_runs_are_an_intermittent_difference(tmp_path: Path) -> None:
    ladder = climb(tmp_path, training(), training())
    assert ladder.first is None
    assert not ladder.came_back
    assert "--runs" in ladder.sentence
    recorded = {name for name, status in statuses(ladder).items() if status == "equal"}
    assert recorded >= {
        "hyper-parameters",
        "initial weights",
        "RNG state",
        "batch",
        "forward",
        "loss",
        "gradient",
        "update",
    }
    assert statuses(ladder)["reduced gradient"] == "not_recorded"


def test_weights_nobody_seeded(tmp_path: Path) -> None:
    ladder = climb(
        tmp_path,
        training(),
        training(weights="other", born="unseeded", hidden="other", target="other"),
    )
    assert ladder.first == "initial weights"
    rung = ladder.rung("initial weights")
    assert rung.place == "body.weight"
    assert rung.iteration is None
    assert rung.source is not None
    assert (rung.source.file, rung.source.line) == ("train.py", 7)
    assert rung.generators.names == ("torch",)
    assert "(1 of 2 parameters and buffers)" in rung.detail
    assert words(ladder.sentence) == (
        "The weights of body differ before the first iteration, because nothing seeds torch before line 7 of train.py builds them."
    )
    assert ladder.rung("forward").status == "differs"
    assert ladder.rung("forward").culprit is None, "a module with other weights is a victim"


def test_a_seed_that_comes_too_late_is_no_seed(tmp_path: Path) -> None:
    seed = seen("seed", "torch", out=[["seed", {"v": 0}]], l="train.py:9")
    one, other = training(), training(weights="other", born="unseeded")
    ladder = climb(tmp_path, [one[0], seed, *one[1:]], [other[0], seed, *other[1:]])
    assert ladder.rung("initial weights").generators.seeded_equally is False
    assert "nothing seeds torch before line 7" in ladder.sentence


@pytest.mark.parametrize(
    ("made_after", "seeds_equal", "said"),
    [(0, False, "nothing seeds torch before line 7"), (1, True, "seeds torch equally")],
)
def test_the_record_says_whether_a_seed_came_before_the_weights(
    tmp_path: Path, made_after: int, seeds_equal: bool, said: str
) -> None:
    seed = seen(
        "seed", "torch", out=[["seed", {"v": 1234}]], l="train.py:9", by="transformers", sn=0
    )
    one, other = (
        [{**event, "sn": made_after} if event.get("r") == "weights" else event for event in events]
        for events in (training(), training(weights="other", born="unseeded"))
    )
    ladder = climb(tmp_path, [one[0], seed, *one[1:]], [other[0], seed, *other[1:]])
    found = ladder.rung("initial weights").generators
    assert (found.seeded_equally, said in ladder.sentence) == (seeds_equal, True)
    afterwards = (
        "`transformers` at line 9 of train.py seeds torch afterwards, with 1234" in ladder.sentence
    )
    assert afterwards is (found.drawn[0].later is not None) is not seeds_equal


def test_memory_that_nobody_filled(tmp_path: Path) -> None:
    other = changes(training(), "weights", "head.weight", out=[["", tensor("garbage", z="nan")]])
    ladder = climb(tmp_path, training(), other)
    rung = ladder.rung("initial weights")
    assert rung.place == "head.weight"
    assert rung.generators.names == ()
    assert rung.measured.like_left_over_memory is True
    assert "never filled" in ladder.sentence


def test_a_generator_that_a_module_draws_from(tmp_path: Path) -> None:
    seeds = [
        seen("seed", "torch", out=[["seed", {"v": value}]], l="train.py:3") for value in (11, 12)
    ]
    one, other = training(drop=""), training(drop="", torch="T", noisy="other")
    ladder = climb(tmp_path, [one[0], seeds[0], *one[1:]], [other[0], seeds[1], *other[1:]])
    assert ladder.first == "RNG state"
    rung = ladder.rung("RNG state")
    assert (rung.place, rung.iteration) == ("noise", 1)
    assert "first module that draws from the differing torch generator is noise (Noise)" in words(
        rung.detail
    )
    (torch,) = rung.generators.drawn
    assert (torch.name, torch.seeded, torch.seeds) == ("torch", "unequally", (11, 12))
    assert "line 3 of train.py seeds torch with another number" in words(ladder.sentence)


def test_a_generator_that_nobody_draws_from_is_unused(tmp_path: Path) -> None:
    ladder = climb(tmp_path, training(), training(numpy="N", noisy="other"))
    assert ladder.rung("RNG state").status == "equal"
    assert ladder.rung("RNG state").unused_generators == ("numpy",)
    assert "nothing recorded draws from it" in ladder.rung("RNG state").detail
    assert ladder.first == "forward"


def test_equal_generators_beside_weights_from_unequal_ones_are_no_contradiction(
    tmp_path: Path,
) -> None:
    seed = seen("seed", "torch", out=[["seed", {"v": 0}]], l="train.py:9")
    one, other = training(), training(weights="other", born="unseeded")
    ladder = climb(tmp_path, [one[0], seed, *one[1:]], [other[0], seed, *other[1:]])
    rung = ladder.rung("RNG state")
    assert rung.status == "equal"
    assert rung.detail.startswith(
        "The state of the torch generator differed when the weights were made; the generators"
    )


def test_the_seed_that_a_loader_draws_for_its_workers_is_no_difference_of_its_own(
    tmp_path: Path,
) -> None:
    def with_epoch(events: list[Event], state: str) -> list[Event]:
        epoch = seen(
            "epoch", "DataLoader[0]", idx=[1, 2, 3], g={"torch": state}, g2={"torch": state + "'"}
        )
        return [*events[:5], epoch, *events[5:]]

    ladder = climb(
        tmp_path / "a",
        with_epoch(training(), "a"),
        with_epoch(training(torch="b", noisy="other"), "b"),
    )
    assert ladder.first == "forward"
    ladder = climb(
        tmp_path / "b",
        with_epoch(training(), "a"),
        with_epoch(training(torch="b", x1="other"), "b"),
    )
    assert ladder.first == "RNG state", "the batch of that loader differs"
    assert ladder.rung("RNG state").place == "DataLoader[0]"


def test_a_draw_by_the_script_itself(tmp_path: Path) -> None:
    def events(state: str, x: str) -> list[Event]:
        batches = [
            seen("batch", "inputs of Model", i, out=[["0", tensor(f"{x}{i}")]]) for i in (1, 2)
        ]
        ends = [generators("after update", i, torch=f"{state}{i}") for i in (1, 2)]
        calls = [call("", f"{x}{i}", f"{x}{i}y", k="Model", i=i) for i in (1, 2)]
        steps = [
            [batch, one, loss(1.0), update(i + 1), end]
            for i, (batch, one, end) in enumerate(zip(batches, calls, ends))
        ]
        return [
            HASHES,
            {"e": "optimizer", "o": 0},
            generators("first forward", torch=f"{state}0"),
            *(e for step in steps for e in step),
        ]

    ladder = climb(tmp_path, events("a", "x"), events("b", "z"))
    assert ladder.first == "RNG state"
    assert ladder.rung("RNG state").evidence.outside is True
    assert "nothing seeds torch" in ladder.sentence


def test_what_a_function_is_given_draws_nothing_itself(tmp_path: Path) -> None:
    def events(state: str, x: str) -> list[Event]:
        states = {"g": {"numpy": state}, "g2": {"numpy": f"{state}1"}}
        batch = seen("batch", "inputs of train_step", 1, out=[["0", tensor(x)]], **states)
        step = call("train_step", x, f"{x}y", k="function")
        start = generators("first forward", numpy=state)
        return [HASHES, {"e": "optimizer", "o": 0}, start, batch, step, loss(1.0), update(1)]

    ladder = climb(tmp_path, events("a", "x"), events("b", "z"))
    assert (ladder.first, ladder.rung("RNG state").evidence.outside) == ("RNG state", True)
    assert "`inputs of train_step` draws" not in ladder.sentence
    assert "the script draws from the numpy generator" in words(ladder.sentence)


@pytest.mark.parametrize(("inner", "rung"), [("", "RNG state"), ("drop", "forward")])
def test_a_draw_by_the_module_around(tmp_path: Path, inner: str, rung: str) -> None:
    """`functional.dropout` in front of a child: the child gets something else, and returns before
    the module that drew.
    """

    def events(state: str, given: str) -> list[Event]:
        after = {"g": {"torch": state}, "g2": {"torch": f"{state}2"}}
        # drew all that `attend` has drawn
        inside = [call("attend.drop", "same", "same", "Dropout", **after)] if inner else []
        return [
            seen("weights", "w", out=[["", tensor("w")]]),
            generators("first forward", torch=state),
            call("attend.out", given, f"{given}-out"),
            *inside,
            call("attend", "x", f"{given}-out", "Attention", **after),
            loss(1.0),
            update(1),
        ]

    ladder = climb(tmp_path, events("a", "y"), events("b", "z"))
    assert ladder.first == rung
    if rung == "RNG state":
        assert (ladder.rung(rung).place, ladder.rung(rung).generators.names) == (
            "attend",
            ("torch",),
        )


@pytest.mark.parametrize(
    ("indices", "other", "order"),
    [
        ([1, 2, 3, 4], [4, 2, 1, 3], "same samples, other order, over the epoch"),
        ([1, 2, 3, 4], [1, 2, 3, 9], "other samples (over the whole epoch)"),
    ],
)
def test_the_order_of_an_epoch(
    tmp_path: Path, indices: list[int], other: list[int], order: str
) -> None:
    first = [*training()[:5], seen("epoch", "DataLoader[0]", idx=indices), *training()[5:]]
    second = [*training()[:5], seen("epoch", "DataLoader[0]", idx=other), *training(x1="other")[5:]]
    ladder = climb(tmp_path, first, second)
    assert ladder.first == "batch"
    rung = ladder.rung("batch")
    assert rung.place == "DataLoader[0]"
    assert order in rung.detail
    assert rung.evidence.whole_epoch is True


@pytest.mark.parametrize(
    ("keys", "others", "order", "subset"),
    [
        (
            {"held": "ab", "bag": "x"},
            {"held": "ba", "bag": "x"},
            "other order",
            False,
        ),
        (
            {"held": "ab", "bag": "x"},
            {"held": "cd", "bag": "y"},
            "other content",
            False,
        ),
        (
            {"idx": [1, 2], "subset": "s"},
            {"idx": [3, 4], "subset": "t"},
            "other samples",
            True,
        ),
        (
            {"idx": [1, 2], "subset": "s"},
            {"idx": [2, 1], "subset": "t"},
            "other order",
            True,
        ),
    ],
)
def test_a_data_set_that_was_built_otherwise(
    tmp_path: Path, keys: dict[str, object], others: dict[str, object], order: str, subset: bool
) -> None:
    """Before anything is drawn from it; a generator that was drawn from before its seed explains
    that.
    """
    early = [
        seen("seed", "torch", out=[["seed", {"v": 0}]], l="train.py:3", g={"torch": state})
        for state in "ab"
    ]
    first = [
        *training()[:4],
        early[0],
        seen("epoch", "DataLoader[0]", **{"idx": [1, 2], **keys}),
        *training()[5:],
    ]
    second = [
        *training()[:4],
        early[1],
        seen("epoch", "DataLoader[0]", **{"idx": [1, 2], **others}),
        *training(x1="other")[5:],
    ]
    ladder = climb(tmp_path, first, second)
    rung = ladder.rung("batch")
    assert (ladder.first, rung.evidence.samples) == ("batch", order)
    assert (rung.evidence.built, rung.evidence.subset) == (True, subset)
    assert rung.evidence.drawn_before_seed == {"torch": "train.py:3"}
    assert "torch was drawn from before line 3 of train.py seeds it" in ladder.sentence


def test_weights_without_states_that_were_drawn_before_the_seed(tmp_path: Path) -> None:
    seeds = [
        seen("seed", "torch", out=[["seed", {"v": 0}]], l="train.py:9", g={"torch": state})
        for state in "ab"
    ]
    weights = [seen("weights", "first", out=[["", tensor(content)]]) for content in "vw"]
    one, other = ([HASHES, seeds[n], weights[n], loss(float(n)), update(1)] for n in (0, 1))
    ladder = climb(tmp_path, one, other)
    assert ladder.rung("initial weights").evidence.drawn_before_seed == {"torch": "train.py:9"}
    assert "torch was drawn from before line 9 of train.py seeds it" in ladder.sentence


def test_a_batch_with_other_content_of_the_same_samples(tmp_path: Path) -> None:
    other = changes(training(x1="other"), "batch", "DataLoader[0]", n=["t1", "t2"], w=3)
    rung = climb(tmp_path, training(), other).rung("batch")
    assert rung.evidence.samples == "other content"
    assert "other content" in rung.detail


def test_batches_seen_without_an_order_of_the_epoch(tmp_path: Path) -> None:
    def batches(*contents: Sequence[str]) -> list[Event]:
        facts = [
            seen("batch", "DataLoader[0]", 1, c=n, out=[["0", tensor("".join(part))]], n=list(part))
            for n, part in enumerate(contents)
        ]
        return [HASHES, *facts, loss(1.0), update(1)]

    same = climb(
        tmp_path / "a", batches(["a", "b"], ["c", "d"]), batches(["c", "b"], ["a", "d"])
    ).rung("batch")
    assert same.evidence.samples == "other order"
    assert "2 batches seen" in same.detail
    other = climb(
        tmp_path / "b", batches(["a", "b"], ["c", "d"]), batches(["a", "x"], ["c", "d"])
    ).rung("batch")
    assert other.evidence.samples == "other samples"


def test_a_module_that_answers_otherwise_to_the_same_inputs(tmp_path: Path) -> None:
    ladder = climb(tmp_path, training(), training(noisy="other", logits="other"))
    assert ladder.first == "forward"
    rung = ladder.rung("forward")
    assert rung.place == "noise"
    assert words(rung.culprit) == "the forward of noise (Noise)"
    assert "private generator or is noisy" in rung.detail
    assert rung.evidence == CallDiffers(class_="Noise")


def test_a_module_whose_inputs_differ_is_not_blamed(tmp_path: Path) -> None:
    ladder = climb(tmp_path, training(), training(hidden_in="other", noisy="other", logits="other"))
    rung = ladder.rung("forward")
    assert rung.place == "noise"
    assert (
        words(rung.culprit)
        == "something between body (Linear) and noise (Noise) that was not recorded"
    )
    assert "nothing that was recorded makes the difference" in rung.detail
    assert rung.evidence == InputsDiffer()


def test_a_container_is_not_the_place_of_what_its_child_does(tmp_path: Path) -> None:
    def events(child: str, parent: str) -> list[Event]:
        calls = [
            call("block.up", "x", "h"),
            call("block.drop", "h", child),
            call("block", "x", parent, k="Block"),
            call("", "x", parent, k="Model"),
        ]
        return [HASHES, *calls, loss(1.0), update(1)]

    assert (
        climb(tmp_path / "a", events("d", "y"), events("D", "Y")).rung("forward").place
        == "block.drop"
    )
    rung = climb(tmp_path / "b", events("d", "y"), events("d", "Y")).rung("forward")
    assert rung.place == "block"
    assert "between block.drop (Linear) and its own output" in words(rung.detail)


def test_what_runs_between_two_calls_inside_a_container(tmp_path: Path) -> None:
    def events(given: str, parent: str) -> list[Event]:
        calls = [
            call("embed", "x", "h"),
            call("block.up", given, given + "u"),
            call("block", given, parent, k="Block"),
            call("", "x", parent),
        ]
        return [HASHES, *calls, loss(1.0), update(1)]

    rung = climb(tmp_path, events("h'", "y"), events("H'", "Y")).rung("forward")
    assert rung.place == "block.up", "the innermost call is the first to return"
    assert (
        words(rung.culprit)
        == "something between embed (Linear) and block (Block) that was not recorded"
    )


def test_labels_of_a_functional_loss(tmp_path: Path) -> None:
    ladder = climb(tmp_path, training(), training(target="other", loss="other"))
    assert ladder.first == "loss"
    rung = ladder.rung("loss")
    assert rung.evidence.only_labels is True
    assert words(rung.detail) == (
        "Weights, RNG states and module outputs agree, the labels that the loss is taken against do not; nothing that was recorded makes the difference."
    )


def test_labels_of_a_loss_module(tmp_path: Path) -> None:
    def events(target: str, value: str) -> list[Event]:
        given = [["0", tensor("logits")], ["1", tensor(target, (4,), "int64")]]
        criterion = seen(
            "call",
            "CrossEntropyLoss",
            k="CrossEntropyLoss",
            **{"in": given, "out": [["", tensor(value, ())]]},
        )
        return [
            HASHES,
            call("", "x", "logits", k="Model"),
            criterion,
            out("root", "loss", value),
            loss(1.0),
            update(1),
        ]

    ladder = climb(tmp_path, events("t", "l"), events("T", "L"))
    assert ladder.first == "forward"
    assert ladder.rung("forward").evidence == InputsDiffer()
    assert (
        "labels that the loss CrossEntropyLoss is taken against do not; nothing that was recorded makes the difference"
        in words(ladder.rung("forward").detail)
    )


def test_a_loss_that_differs_with_everything_before_it_equal(tmp_path: Path) -> None:
    rung = climb(tmp_path, training(), training(loss="other")).rung("loss")
    assert (
        "something between the last module, the model (Model), and the loss that was not recorded"
        in words(rung.culprit)
    )
    assert rung.evidence.only_labels is False


def test_a_noisy_backward(tmp_path: Path) -> None:
    ladder = climb(
        tmp_path,
        training(hidden_in="hidden"),
        training(**{"hidden_in": "hidden", "d body": "other", "dw body": "other", "new": "n"}),
    )
    assert ladder.first == "gradient"
    rung = ladder.rung("gradient")
    assert rung.place == "body"
    assert words(rung.culprit) == "the backward of noise"
    assert "between head (agrees) and body: the backward of noise" in words(rung.detail)
    assert (rung.operations, rung.inside) == (("Noise",), "noise")


def test_a_hook_on_a_parameter(tmp_path: Path) -> None:
    rung = climb(tmp_path, training(), training(**{"dw body": "other"})).rung("gradient")
    assert rung.place == "body.weight"
    assert words(rung.culprit) == "the backward of body (Linear) or a hook on body.weight"
    assert (rung.operations[-1], rung.inside) == ("Linear", "body")


def test_a_gradient_changed_behind_the_backward_pass(tmp_path: Path) -> None:
    ladder = climb(tmp_path, training(), training(reduced="other", new="n"))
    assert ladder.first == "gradient"
    assert ladder.rung("gradient").place == "body.weight"
    assert "between the backward pass and the update" in ladder.rung("gradient").detail
    assert ladder.rung("reduced gradient").status == "not_recorded"


def test_modules_that_return_one_tensor_share_its_gradient(tmp_path: Path) -> None:
    def events(content: str) -> list[Event]:
        calls = [
            call("encoder.last", "x", "h"),
            call("encoder", "x", "h", k="Encoder"),
            call("head", "h", "y"),
            call("", "x", "y", k="Model"),
        ]
        grads = [
            out("outgrad", "head", "d"),
            out("outgrad", "encoder", content),
            out("outgrad", "encoder.last", content),
        ]
        return [HASHES, *calls, loss(1.0), *grads, update(1)]

    rung = climb(tmp_path, events("g"), events("G")).rung("gradient")
    assert rung.place == "encoder.last"
    assert words(rung.culprit) == "the backward of head"


def test_hyper_parameters(tmp_path: Path) -> None:
    ladder = climb(tmp_path, training(), training(**{"0.5": "0.25", "new": "other"}))
    assert ladder.first == "hyper-parameters"
    rung = ladder.rung("hyper-parameters")
    assert rung.place == "lr"
    assert "of SGD[0]" in rung.detail
    assert rung.measured.values == (0.5, 0.25)
    assert rung.relative_difference == pytest.approx(1.0)
    assert ladder.rung("update").culprit is None


def test_an_update_that_differs_by_itself(tmp_path: Path) -> None:
    ladder = climb(tmp_path, training(), training(**{"new": "other", "new weights": "changed"}))
    assert ladder.first == "update"
    assert ladder.rung("update").place == "body.weight"
    assert words(ladder.rung("update").culprit) == "the update by SGD[0]"
    assert (ladder.rung("forward").status, ladder.rung("forward").iteration) == ("differs", 2)


def test_losses_that_differ_later(tmp_path: Path) -> None:
    deeper = pair_of(tmp_path, [text(training())], [text(training())])
    check = check_of(
        tmp_path, deeper=(deeper,), first=(plain(1, 1, 1, 1), plain(1, 1, 1, 2)), unequal=4
    )
    ladder = told(check, tmp_path)
    assert ladder.first == "later"
    assert ladder.came_back
    assert ladder.rung("later").iteration == 4


def test_processes_without_ranks_are_held_against_the_training_that_has_their_losses(
    tmp_path: Path,
) -> None:
    def process(identity: int, events: Sequence[Event]) -> bytes:
        return text([{"e": "origin", "identity": [identity], "task": "", "time": 101.0}, *events])

    other = [
        {**event, "v": [9.0]} if event.get("e") == "loss" else event
        for event in training(weights="other", x1="y1", x2="y2")
    ]
    wrong = changes(other, "gradient", "head.weight", out=[["", tensor("another")]])
    deeper = pair_of(
        tmp_path,
        [process(1, training()), process(2, other)],
        [process(1, wrong), process(2, training())],
    )
    check = check_of(tmp_path, deeper=(deeper,), first=(plain(1.0, 1.0), plain(2.0, 2.0)))
    ladder = told(check, tmp_path)
    assert {name for name, status in statuses(ladder).items() if status == "differs"} == {
        "gradient"
    }
    assert ladder.first == "gradient" and "(rank 1)" in ladder.sentence


def test_a_worker_that_seeds_by_itself_is_recorded_and_observed(tmp_path: Path) -> None:
    batch = seen("batch", "DataLoader[0]", out=[["", tensor("batch")]], idx=[0, 1], w=1)
    traces = []
    for content, number in (("batch", 11), ("other", 12)):
        handed = {**batch, "out": [["", tensor(content)]]}
        seed = seen("seed", "numpy", out=[["seed", {"v": number}]], l="data.py:4", w=1)
        worker = (
            json.dumps({**HELLO, "pid": 77, "ppid": HELLO["pid"]}) + "\n" + json.dumps(seed) + "\n"
        )
        traces.append([text([*training()[:1], handed, *training()[1:]]), worker.encode()])
    deeper = pair_of(tmp_path, *traces)
    check = check_of(tmp_path, deeper=(deeper,), first=(plain(1.0, 1.0, 1.0), plain(2.0, 2.0, 2.0)))
    found = told(check, tmp_path)
    assert found.first == "batch"
    batch = found.rung("batch").evidence
    assert (batch.worker_seeds, batch.seed_line) == ({"numpy": (11, 12)}, "data.py:4")
    assert (
        "because the worker seeds numpy with another number in each run in line 4 of data.py"
        in found.sentence
    )
    assert "process-wide" not in found.sentence
    (cause, *others) = causes_of(replace(check, ladder=found), tmp_path)
    assert (cause.code, cause.confidence) == ("RC503", "observed")
    assert "Worker 1 seeded numpy with 11 in run 1 and 12 in run 2." in map(say, cause.statements)
    assert {other.confidence for other in others} == {"suspected"}


def test_weights_from_a_file_that_does_not_hold_the_same_are_blamed_on_the_file(
    tmp_path: Path,
) -> None:
    """An equal seed of the generator that the process has says nothing of weights that another
    process drew.
    """
    traces = []
    for content, weights in (("file", "weights"), ("other file", "other")):
        seed = seen("seed", "torch", out=[["seed", {"v": 0}]], l="train.py:2", sn=0)
        load = seen(
            "load", "start.pt", k="torch.load", out=[["contents", {"h": content}]], l="train.py:4"
        )
        first, *rest = training(weights=weights)
        events = [first, seed, load, *rest]
        traces.append(
            [
                {
                    key: value
                    for key, value in one.items()
                    if (one.get("r"), key) != ("weights", "g")
                }
                for one in events
            ]
        )
    deeper = pair_of(tmp_path, [text(traces[0])], [text(traces[1])])
    check = check_of(tmp_path, deeper=(deeper,), first=(plain(1.0, 1.0, 1.0), plain(2.0, 2.0, 2.0)))
    found = told(check, tmp_path)
    assert found.first == "initial weights"
    assert (
        "`start.pt` does not hold the same in both runs where it is loaded at line 4 of train.py"
        in found.sentence
    )
    causes = causes_of(replace(check, ladder=found), tmp_path)
    assert [(cause.code, cause.confidence) for cause in causes] == [
        ("RC103", "observed"),
        ("RC301", "suspected"),
    ]


@pytest.mark.parametrize("made_anew", [True, False])
def test_a_file_that_each_run_writes_before_it_loads_it_is_not_left_by_run_1(
    tmp_path: Path, made_anew: bool
) -> None:
    first, *rest = training()
    loads = [
        seen("load", "start.pt", k="torch.load", out=[["contents", {"h": name}]])
        for name in ("one", "other")
    ]
    deeper = pair_of(
        tmp_path,
        [text([first, loads[0], *rest])],
        [text([first, loads[1], *training(weights="other")[1:]])],
    )
    check = check_of(tmp_path, deeper=(deeper,), first=(plain(1.0, 1.0, 1.0), plain(2.0, 2.0, 2.0)))
    written = (
        FileChanges(created=("start.pt",)),
        FileChanges(changed=("start.pt",) if made_anew else ()),
    )
    runs = tuple(
        replace(run, record=replace(run.record, files=files))
        for run, files in zip(check.runs, written, strict=True)
    )
    check = replace(check, runs=runs, state_left=("start.pt",))
    found = told(check, tmp_path)
    assert found.first == ("initial weights" if made_anew else "files and arguments")
    cause = causes_of(replace(check, ladder=found), tmp_path)[0]
    if made_anew:
        assert say(cause.statements[-1]).startswith("Each run writes `start.pt` before it loads it")
        assert (cause.code, cause.confidence) == ("RC301", "suspected")
        assert say(cause.remedy).startswith("# in the program that writes start.pt:")
    else:
        assert cause.code == "RC101"
