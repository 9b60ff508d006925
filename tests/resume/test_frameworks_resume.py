"""`reprocheck explain --resume` on trainings with Keras, MindSpore and JAX: what was lost is put back
into the framework's own variables, or into what a step is given.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from reprocheck.cli import main
from tests.conftest import mindspore_python

SCRIPTS = Path(__file__).resolve().parents[2] / "benchmarks" / "resumes" / "scripts"


def confirmed(text: str, *options: str) -> dict[str, list[str]]:
    """Checks a script; what was put back, of what is confirmed by that."""
    Path("train.py").write_text(text)
    arguments = ["--no-draw", "--at", "first", "--go-on", "3", *options, "train.py"]
    assert main(["explain", "--resume", *arguments]) == 1
    confirmation = place()["confirmation"]
    assert confirmation["confirmed"], confirmation["sentence"]
    last = confirmation["attempts"][-1]
    assert last["rungs"] == confirmation["rungs"] and last["agrees"] is True
    return {rung: list(names) for rung, names in last["names"].items()}


def place() -> dict[str, Any]:
    """The only place of the last check."""
    (found,) = json.loads(Path("reports/latest/report.json").read_text())["places"]
    return dict(found)


@pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")
def test_an_optimizer_of_keras_is_built_and_given_its_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = (SCRIPTS / "keras/weights_alone.py").read_text()
    (names,) = confirmed(script).values()
    assert {"iteration", "dense.kernel:momentum", "dense_1.bias:velocity"} <= {*names}


@pytest.mark.mindspore
def test_a_dataset_of_mindspore_hands_out_the_batches_behind_the_step_that_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = (SCRIPTS / "mindspore/model_part_alone.py").read_text()
    loads = "ms.load_param_into_net(net, first_layer)"
    assert loads in script
    whole = "ms.load_param_into_net(net, saved); ms.load_param_into_net(optimizer, saved)"
    named = confirmed(script.replace(loads, whole), "--python", mindspore_python())
    assert place()["checkpoint"]["iteration"] == 4
    assert {rung: len(names) for rung, names in named.items()} == {"batch": 3}


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
def test_an_update_of_optax_is_given_the_state_of_the_continued_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (names,) = confirmed((SCRIPTS / "jax/parameters_alone.py").read_text()).values()
    assert "optax.adam:[0].count" in names and "optax.adam:[0].mu['a']" in names


ONE_STATE = """
import os, pickle, sys
import jax, jax.numpy as jnp, numpy as np

how = sys.argv[1]
x = np.random.default_rng(0).normal(size=(40, 3)).astype("float32")


@jax.jit
def train_step(state, x):
    key, drop = jax.random.split(state["key"])

    def loss_of(w):
        kept = jax.random.bernoulli(drop, 0.8, x.shape)
        return ((x * kept) @ w - 1.0).__pow__(2).mean()

    loss, change = jax.value_and_grad(loss_of)(state["w"])
    return {"w": state["w"] - 0.1 * change, "step": state["step"] + 1, "key": key}, loss


def batch(number):
    order = np.random.default_rng((5, number // 8)).permutation(40)
    return x[order[number % 8 * 5 :][:5]]


state = {"w": jnp.ones(3), "step": 0, "key": jax.random.key(3)}
if os.path.exists("last.pkl"):
    with open("last.pkl", "rb") as file:
        saved = pickle.load(file)
    state["w"], state["step"] = jnp.asarray(saved["w"]), saved["step"]
    if how != "key":
        state["key"] = jax.random.wrap_key_data(jnp.asarray(saved["key"]))
first = state["step"]
for step in range(first, 16):
    ahead = 1 if how == "ahead" and first else 0
    state, loss = train_step(state, batch(step + ahead))
    if step == 3:
        held = {"w": np.asarray(state["w"]), "step": step + 1}
        held["key"] = np.asarray(jax.random.key_data(state["key"]))
        with open("last.pkl", "wb") as file:
            pickle.dump(held, file)
"""


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
def test_a_step_of_jax_is_given_its_key_also_where_it_counts_on_from_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = confirmed(ONE_STATE.replace("sys.argv[1]", '"key"'))
    assert list(names) == ["RNG state"] and "state['key']" in names["RNG state"]
    mechanism = place()["mechanism"]
    assert mechanism["code"] == "RC112" and "jax.random.wrap_key_data" in mechanism["fix"]
    assert "`train_step` draws from it" in mechanism["evidence"][0]


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
def test_generators_that_a_script_never_draws_from_are_no_cause_of_another_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(ONE_STATE)
    assert main(["resume", "--no-draw", "--at", "first", "--go-on", "3", "train.py", "ahead"]) == 1
    found = place()["mechanism"]
    assert found["code"] == "RC117"
    assert "came batch 5 of epoch 0 (iteration 6)" in found["evidence"][0]
