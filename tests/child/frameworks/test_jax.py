"""JAX: each way to train is seen at each level, none of it changes a number, and what differs is
found where it was made.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from reprocheck.child.reprocheck_child.frameworks.jax import controls
from tests.child.controls.torch_runs import Start
from tests.child.frameworks.keras_runs import SCRIPTS, Recorded, Started
from tests.conftest import check
from tests.e2e.pairs import explained

pytestmark = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
needs_flax = pytest.mark.skipif(
    find_spec("flax") is None or find_spec("optax") is None,
    reason="flax and optax are not installed",
)


def recorded(
    script: str, folder: Path, *levels: str, boundaries: Sequence[int] = ()
) -> dict[str, Recorded]:
    """A script by itself and at some levels, side by side."""
    started = {
        level: Started(folder / (level or "plain"), script, level=level, boundaries=boundaries)
        for level in ("", *levels)
    }
    return {level or "plain": one.end() for level, one in started.items()}


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Recorded]]:
    yield recorded("jax_forms.py", tmp_path_factory.mktemp("forms"), "auto", "module")


@pytest.fixture(scope="module")
def flax(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Recorded]]:
    folder = tmp_path_factory.mktemp("flax")
    yield recorded("jax_flax.py", folder, "module", boundaries=[2, 5, 7])


def losses(run: Recorded) -> list[list[float]]:
    return [event["v"] for event in run.events if event["e"] == "loss"]


def said(run: Recorded, word: str) -> list[float]:
    """The losses that a script printed behind a word."""
    return [
        float.fromhex(line.removeprefix(word).split()[0])
        for line in run.stdout.splitlines()
        if line.startswith(word)
    ]


def test_no_level_changes_a_number(forms: dict[str, Recorded]) -> None:
    assert forms["auto"].stdout == forms["plain"].stdout
    assert forms["module"].stdout == forms["plain"].stdout
    assert forms["module"].stdout.splitlines()[-1] == "True True", (
        "what stands in the place of a compiled function behaves as it does"
    )


def test_level_auto_never_enters_the_deeper_one(forms: dict[str, Recorded]) -> None:
    (left,) = [event for event in forms["auto"].events if event["e"] == "left"]
    why = "its hooks could not be taken off the functions that JAX compiles again"
    assert (left["i"], left["why"]) == (0, why)
    assert not [event for event in forms["auto"].events if event["e"] in ("seen", "deep")]


def test_every_way_to_differentiate(forms: dict[str, Recorded]) -> None:
    at_loss, at_module = losses(forms["auto"]), losses(forms["module"])
    assert at_loss == at_module
    counts = [1] * 4 + [4] * 2 + [4, 1] + [4] * 2 + [1] * 6
    assert [len(one) for one in at_loss[: len(counts)]] == counts
    assert [one[0] for one in at_loss[:2]] == said(forms["plain"], "jit")
    assert [one[0] for one in at_loss[len(counts) - 2 : len(counts)]] == said(
        forms["plain"], "by hand"
    )


def test_rounds_of_a_loop_are_counted_where_the_weights_come_from_around_it(
    forms: dict[str, Recorded],
) -> None:
    nested, branch, fixed_bounds, inner_jit, steps, not_compiled = (
        [3] * 4,
        [1] * 3,
        [3],
        [1] * 3,
        [1] * 3,
        [3],
    )
    expected = nested + branch + fixed_bounds + inner_jit + steps + not_compiled
    counts = [len(one) for one in losses(forms["module"])]
    assert counts[-len(expected) :] == expected


def test_weights_batches_gradients_and_updates_are_seen(forms: dict[str, Recorded]) -> None:
    run = forms["module"]
    assert [event["out"] for event in run.seen("seed")][:1] == [[["seed", {"v": 0}]]]
    first = [kind for kind in run.order(1) if kind != "found"]
    assert first == ["seed", "rng", "hyper", "weights", "batch", "root", "update"], (
        "the gradient stays inside a compiled step"
    )
    assert [leaf[0] for leaf in run.seen("hyper", iteration=1)[0]["out"]] == ["rate"], (
        "a number that a function takes from outside"
    )
    before, after = run.seen("weights", iteration=1)[0], run.seen("update", iteration=1)[0]
    assert (before["p"], after["p"], before["l"]) == (
        "weights",
        "weights",
        f"{SCRIPTS / 'jax_forms.py'}:54",
    )
    assert before["out"][0][1]["v"] == [1.0] * 3 and after["out"][0][1]["v"] != [1.0] * 3
    assert {event["p"] for event in run.seen("batch")} >= {
        "inputs of step",
        "inputs of spread",
        "inputs of sharded",
        "inputs of square",
    }
    outside = [event["i"] for event in run.seen("gradient") if event["i"] <= 16]
    assert outside[-4:] == [13, 14, 15, 16], (
        "gradients that a program returns, and those that are not compiled"
    )
    assert run.order(16)[:4] == ["rng", "batch", "root", "gradient"]


@needs_flax
def test_flax_and_optax(flax: dict[str, Recorded]) -> None:
    assert flax["module"].stdout == flax["plain"].stdout
    run = flax["module"]
    assert [one[0] for one in losses(run)] == [
        loss for word in ("linen", "nnx", "optax") for loss in said(flax["plain"], word)
    ]
    weights = run.places("weights", 1)
    assert "params['Dense_0']['kernel']" in weights and "state.step" in weights
    assert [
        event["p"] for event in run.seen("weights", iteration=1) if not event.get("b")
    ] == weights[: weights.index("state.step")]
    (batch,) = run.seen("batch", iteration=1)
    assert ([leaf[0] for leaf in batch["out"]], len(batch["n"]), "numpy" in batch["g"]) == (
        ["x", "y"],
        16,
        True,
    )
    (call,) = run.seen("call", iteration=1)
    (own,) = [
        event for event in run.seen("seed", iteration=1) if event["out"] == [["seed", {"v": 2}]]
    ]
    assert list(call["g"]) == [own["p"]], "the key that the step is given is that of its line"
    rates = [dict(event["out"]) for event in run.seen("hyper") if event["p"] == "train_step"]
    assert [one["learning_rate"]["v"] for one in rates] == sorted(
        (one["learning_rate"]["v"] for one in rates), reverse=True
    )
    assert {"module['first']['kernel']", "module['last']['bias']"} <= set(run.places("update", 4))
    assert {"w", "b"} == {place[-3] for place in run.places("reduced", 6)}
    assert any(place.startswith("optax.sgd:") for place in run.places("update", 6))


@needs_flax
def test_the_state_of_optax_is_held_where_a_training_goes_on(flax: dict[str, Recorded]) -> None:
    run = flax["module"]
    linen, module, plain = (run.held(iteration) for iteration in (2, 5, 7))
    moment = "state.opt_state.inner_state[0].mu['Dense_0']['kernel']"
    assert linen[moment]["o"] == 0
    assert linen[moment]["out"][0][1]["h"] == run.left(moment, 1), "as update 1 left it"
    assert linen["state.step"]["b"] and "o" not in linen["params['Dense_0']['kernel']"]
    assert "module['first']['kernel']" in module
    trace = "optax.sgd:[0].trace['w']"
    assert plain[trace]["out"][0][1]["h"] == run.left(trace, 6)


CLOCK_KEY = """
import time
import jax
import numpy as np

inputs = np.random.RandomState(0).randn(64, 5).astype("float32")
key = jax.random.key(time.time_ns() % 2**31)
weights = {"w": jax.random.normal(jax.random.key(0), (5,))}


@jax.jit
def step(weights, x, key):
    kept = jax.random.bernoulli(key, 0.5, x.shape) * x
    loss, gradients = jax.value_and_grad(lambda weights: ((kept @ weights["w"] - x.sum(1)) ** 2).mean())(weights)
    return jax.tree.map(lambda w, g: w - 0.05 * g, weights, gradients), loss


for number in range(6):
    weights, loss = step(weights, inputs, jax.random.fold_in(key, number))
"""


def test_what_differs_is_found_where_it_was_made(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workdir / "train.py").write_text(CLOCK_KEY)
    made = explained([sys.executable, "train.py"], workdir, monkeypatch)
    assert made.ladder is not None and made.ladder.first_rung is not None
    first = made.ladder.first_rung
    assert (first.rung, first.place) == ("RNG state", "step"), made.ladder.sentence
    status = [made.ladder.rung(name).status for name in ("initial weights", "batch", "loss")]
    assert status == ["equal", "equal", "differs"]
    cause = made.causes[0]
    assert cause.source is not None
    assert (cause.code, cause.confidence, cause.source.line) == ("RC402", "observed", 7)
    facts = [
        json.loads(line)
        for file in workdir.glob(f"reports/*/{made.record.runs[0].trace}/*.jsonl")
        for line in file.read_text().splitlines()
    ]
    folded = [(fact["out"], fact["l"]) for fact in facts if fact.get("r") == "fold"]
    assert folded[0] == ([["folded", {"v": 0}]], "train.py:19"), (
        "each number that the script folds into a key, and its line"
    )


ACCUMULATION = """
import jax, jax.numpy as jnp
def loss_of(weights, x):
    return ((x @ weights - 1) ** 2).mean()
@jax.jit
def step(weights, micro):
    def body(total, x):
        loss, gradient = jax.value_and_grad(loss_of)(weights, x)
        return total + gradient, loss
    gradient, losses = jax.lax.scan(body, jnp.zeros(3), micro)
    return weights - 0.1 * gradient / len(micro), losses.mean()
weights = jnp.ones(3)
data = jax.random.normal(jax.random.key(0), (5, 2, 8, 3))
for micro in data:
    weights, loss = step(weights, micro)
"""


BY_HAND = """
import jax, jax.numpy as jnp
evaluate = jax.jit(jax.value_and_grad(lambda weights, x: ((x @ weights - 1) ** 2).mean()))
weights = jnp.ones(3)
for micro in jax.random.normal(jax.random.key(0), (5, 2, 8, 3)):
    gradients = [evaluate(weights, x)[1] for x in micro]
    weights = weights - 0.05 * sum(gradients)
"""


def test_microbatches_of_a_loop_in_the_program_are_one_iteration(workdir: Path) -> None:
    (workdir / "train.py").write_text(ACCUMULATION)
    outcome = check("train.py", "--level", "module", cwd=workdir)
    said = " ".join(outcome.stdout.split())
    assert (
        outcome.exit_code == 0
        and "5 iterations" in said
        and "come from the same weights" not in said
    )
    assert [row["iteration"] for row in outcome.report["checks"]] == [1, 2], outcome.report[
        "checks"
    ]


def test_microbatches_of_one_update_are_not_said_to_be_updates_without_effect(
    workdir: Path,
) -> None:
    (workdir / "train.py").write_text(BY_HAND)
    outcome = check("train.py", cwd=workdir)
    said = " ".join(outcome.stdout.split())
    assert outcome.exit_code == 0 and "come from the same weights" in said
    assert "update did not change" not in said and "changed no weight" not in said


@needs_flax
def test_each_control_removes_its_source(tmp_path: Path) -> None:
    script = SCRIPTS / "jax_controls.py"
    harmless = ("seed", "private-rng", "entropy", "clock", "single-thread", "deterministic")
    runs = [Start(script, tmp_path / name, *harmless, steps=None) for name in ("one", "other")]
    runs.append(
        Start(script, tmp_path / "altered", "dropout-off", "data-order", "no-compile", steps=None)
    )
    one, other, altered = (run.end() for run in runs)
    assert {run.status for run in (one, other, altered)} == {0}, one.errors + altered.errors
    first, second, changed = (
        json.loads(run.output.splitlines()[-1]) for run in (one, other, altered)
    )
    assert first == second and one.losses() == other.losses()
    assert (
        first["keys"]["clock"] != changed["keys"]["clock"]
        and first["keys"]["system"] != changed["keys"]["system"]
    )
    assert (first["dropped"], first["attention"], first["disabled"]) == ([True, True], True, False)
    assert (changed["dropped"], changed["attention"], changed["disabled"]) == (
        [False, False],
        False,
        True,
    )
    assert changed["order"] == list(range(16)) != first["order"]
    assert first["threads"] == 1 and "PJRT_NPROC" in one.touched("single-thread")
    assert set(altered.touched("dropout-off")) >= {
        "flax.linen.stochastic.Dropout",
        "flax.nnx.nn.stochastic.Dropout",
    }
    assert list(altered.touched("data-order")) == ["jax.random.permutation"]
    assert not one.events("unavailable") and first["flags"] == "", (
        "without a GPU there is nothing that a flag would change"
    )


def test_a_flag_that_the_compiler_does_not_know_is_found_out_in_another_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[tuple[str, ...]] = []

    class Active:
        override = False

        def __getattr__(self, name: str) -> Callable[..., None]:
            return lambda *values: said.append((name, *values))

    unknown, known = "--xla_no_such_flag=1", "--xla_gpu_deterministic_ops=true"
    monkeypatch.setattr(controls, "ACCELERATED", ("jax",))
    monkeypatch.setattr(controls, "FLAGS", (unknown, known, "--xla_gpu_autotune_level=0"))
    monkeypatch.setenv("XLA_FLAGS", "--xla_gpu_autotune_level=4")
    controls.deterministic(None, Active())
    assert os.environ["XLA_FLAGS"] == f"--xla_gpu_autotune_level=4 {known}"
    assert [one[0] for one in said] == ["conflict", "unavailable", "touched"] and unknown in said[
        1
    ][2]
