"""Keras on every backend: each way to train is seen, none of it changes a number, and what differs
is found.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from reprocheck.scan import scan
from tests.child.frameworks.keras_runs import SCRIPTS, Recorded, Started
from tests.e2e.pairs import explained

pytestmark = pytest.mark.skipif(
    find_spec("tensorflow") is None or find_spec("jax") is None,
    reason="TensorFlow and JAX are not installed",
)


def kinds(run: Recorded) -> list[str]:
    """The events that bear on iterations, in order: `loss` or `grad`, and `update`."""
    named = {
        "loss": lambda event: {"backward": "loss"}.get(event["k"], event["k"]),
        "update": lambda _: "update",
    }
    return [named[event["e"]](event) for event in run.events if event["e"] in named]


def test_every_way_to_train_with_keras_and_tensorflow(tmp_path: Path) -> None:
    started = [
        Started(tmp_path / (level or "plain"), "keras_forms.py", level=level)
        for level in ("", "auto", "module")
    ]
    expected, shallow, recorded = (one.end() for one in started)
    assert shallow.stdout == expected.stdout == recorded.stdout, "neither level changes a number"
    pairs = ["loss", "update"]
    assert kinds(shallow) == [
        *pairs * 4,
        *pairs,
        *pairs * 2,
        *pairs * 2,
        *pairs * 2,
        *pairs * 2,
        "grad",
        "loss",
        "grad",
        "loss",
    ]
    assert any(
        "steps_per_execution" in str(event) for event in shallow.events if event["e"] == "note"
    )
    (left,) = [event for event in shallow.events if event["e"] == "left"]
    assert (left["i"], left["why"]) == (0, "Keras compiles the training step")
    assert not shallow.seen("batch", "weights", "update")

    losses = [value for event in recorded.events if event["e"] == "loss" for value in event["v"]]
    assert [leaf["v"][0] for event in recorded.seen("root") for _, leaf in event["out"]] == losses
    names = ["dense.kernel", "dense.bias", "dense_1.kernel", "dense_1.bias"]
    assert recorded.places("weights", 1) == names
    assert all(
        event["l"].endswith("keras_forms.py:15") for event in recorded.seen("weights", iteration=1)
    )
    assert recorded.order(3) == ["batch", "call", "root", "rng", "hyper", "reduced", "update"]
    assert recorded.places("call", 3) == ["dropout"], (
        "in a compiled step the layers that draw are known, and no others"
    )
    assert recorded.places("reduced", 3) == names[::-1]
    assert recorded.places("update", 3)[:6] == [
        *names,
        "dense.kernel:momentum",
        "dense.kernel:velocity",
    ]
    (batch,) = recorded.seen("batch", iteration=3)
    assert (batch["p"], len(batch["n"]), [leaf["s"] for _, leaf in batch["out"]]) == (
        "fit",
        16,
        [[16, 5], [16]],
    )
    (epoch,) = recorded.seen("epoch", iteration=1)
    assert sorted(epoch["idx"]) == list(range(64)) != epoch["idx"], "the order of the whole epoch"
    assert "train_on_batch" in recorded.places("batch", 5)
    assert [(event["p"], event["i"]) for event in recorded.seen("written")] == [
        ("dense_1.bias", 5)
    ], "after its update, by hand"
    compiled = recorded.places("weights", 8)
    assert compiled == [
        "sequential_2." + name
        for name in ("dense_4.kernel", "dense_4.bias", "dense_5.kernel", "dense_5.bias")
    ]
    assert not recorded.seen("reduced", iteration=8), "nothing is added to what XLA compiles"
    assert recorded.places("update", 8) == compiled * 2, (
        "the optimizer that lives on and has not stepped makes one iteration of two batches"
    )


def test_weights_that_a_compiled_step_makes_are_seen_before_their_first_update(
    tmp_path: Path,
) -> None:
    started = [
        Started(tmp_path / (level or "plain"), "keras_lazy.py", level=level)
        for level in ("", "module")
    ]
    expected, recorded = (one.end() for one in started)
    assert recorded.stdout == expected.stdout, "the recorder changes no number"
    assert kinds(recorded) == ["loss", "update"] * 4
    for iteration in (1, 3):  # the first of each model
        first = {
            event["p"]: event["out"][0][1]
            for event in recorded.seen("weights", iteration=iteration)
        }
        assert [leaf["s"] for leaf in first.values()] == [[5, 8], [8], [8, 1], [1]]
        assert [leaf["v"] for leaf in first.values() if leaf["s"] == [1]] == [[0.0]], (
            "a bias begins with zero"
        )
        updated = {
            event["p"]: event["out"][0][1] for event in recorded.seen("update", iteration=iteration)
        }
        assert all(first[name]["h"] != updated[name]["h"] for name in first)
    assert len(recorded.seen("weights")) == 8
    assert not [
        event
        for event in recorded.events
        if event["e"] == "unrecorded" and event["where"] != "tf.function"
    ]


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_keras_on_other_backends(backend: str, tmp_path: Path) -> None:
    started = [
        Started(
            tmp_path / (level or "plain"), "keras_backends.py", backend, level=level, boundaries=[3]
        )
        for level in ("", "module")
    ]
    expected, recorded = (one.end() for one in started)
    assert recorded.stdout == expected.stdout, "the recorder changes no number"
    assert kinds(recorded)[:6] == ["loss", "update"] * 3
    assert [len(event["v"]) for event in recorded.events if event["e"] == "loss"] == [1] * 7

    names = ["dense.kernel", "dense.bias", "dense_1.kernel", "dense_1.bias"]
    assert recorded.places("weights")[:4] == names
    for iteration in range(1, 8):
        assert recorded.places("hyper", iteration) == ["Adam[0]"]
        updated = recorded.places("update", iteration)
        assert sorted(updated[:4]) == sorted(names) and "dense.kernel:momentum" in updated
        assert recorded.seen("batch", iteration=iteration)
    seen = {
        place
        for kind in ("weights", "update", "gradient", "reduced", "call", "outgrad")
        for place in recorded.places(kind)
    }
    assert not [place for place in seen if "_functional" in place or "/" in place], (
        "all adapters know a weight by its name in Keras"
    )
    deep = list(range(1, 8))
    if backend == "torch":
        deep = [3, 4]  # on PyTorch, modules are recorded behind a boundary alone
        assert recorded.places("call", 3) == ["dense", "dropout", "dense_1", ""]
    # on PyTorch a layer without a seed draws from the default generator
    generator = {"torch": "torch", "jax": "keras:dropout"}[backend]
    drawn = [event for event in recorded.seen("call") if generator in event.get("g2", ())]
    assert [event["i"] for event in drawn if event["k"] == "Dropout"] == deep

    held = recorded.held(3)
    assert {"dense_1.kernel", "dense.kernel:momentum", "dense.bias:velocity"} <= held.keys()
    for place in ("dense_1.kernel", "dense.kernel:momentum"):
        assert held[place]["out"][0][1]["h"] == recorded.left(place, 2), "as update 2 left it"
    assert held["iteration"]["out"][0][1]["v"] == [2] and "o" in held["iteration"]


def test_what_is_not_seeded_is_found_in_a_compiled_step(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = SCRIPTS / "keras_unseeded.py"
    made = explained([sys.executable, script], workdir, monkeypatch, OMP_NUM_THREADS="1")
    assert made.ladder is not None and made.ladder.first_rung is not None
    rung = made.ladder.first_rung
    assert (rung.rung, rung.place) == ("batch", "fit"), made.ladder.sentence
    assert "same samples, other order, over the epoch" in rung.detail
    before = [made.ladder.rung(name).status for name in ("initial weights", "hyper-parameters")]
    assert before == ["equal", "equal"]
    assert made.ladder.rung("forward").status == "not_recorded"
    assert any("compiled function" in line for line in made.coverage)
    assert made.causes[0].code == "RC501"
    (fix,) = (one.fix for one in scan([script]).findings if one.code == "RC501")
    assert "keras.utils.set_random_seed" in fix


def test_a_seed_after_the_layers_is_too_late_for_weights_that_the_first_batch_makes(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = SCRIPTS / "keras_seeded_late.py"
    made = explained([sys.executable, script], workdir, monkeypatch, OMP_NUM_THREADS="1")
    assert made.ladder is not None
    cause = made.causes[0]
    assert (cause.code, cause.confidence) == ("RC302", "observed"), made.ladder.sentence
    assert cause.source is not None and cause.source.line == 7


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
def test_a_training_of_pytorch_that_imports_tensorflow_is_recorded_at_level_auto(
    tmp_path: Path,
) -> None:
    """TensorFlow imports Keras; neither trains until the last line."""
    run = Started(tmp_path, "torch_beside.py", level="auto").end()
    (left,) = [event for event in run.events if event["e"] == "left"]
    assert (left["i"], left["why"]) == (2, "")
    assert run.seen("gradient", iteration=2)
