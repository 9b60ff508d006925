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
    (names,) = confirmed((SCRIPTS / "keras/weights_alone.py").read_text()).values()
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
