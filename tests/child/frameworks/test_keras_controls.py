"""Controls on TensorFlow and Keras: each removes its source and says what it touched; what
determinism refuses is explained.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.child.controls.torch_runs import Start, Trained
from tests.child.frameworks.keras_runs import SCRIPTS
from tests.conftest import check

pytestmark = pytest.mark.skipif(
    find_spec("tensorflow") is None, reason="TensorFlow is not installed"
)

SCRIPT = SCRIPTS / "keras_controls.py"
HARMLESS = ("seed", "private-rng", "single-thread", "single-worker", "deterministic")
ALTERING = ("data-order", "dropout-off", "augment-off")


def printed(run: Trained) -> dict[str, Any]:
    """What the script printed last."""
    assert run.status == 0, run.errors[-3000:]
    found: dict[str, Any] = json.loads(run.output.splitlines()[-1])
    return found


def test_each_control_removes_its_source(tmp_path: Path) -> None:
    runs = [
        Start(SCRIPT, tmp_path / "one", *HARMLESS, seed=5, steps=None),
        Start(SCRIPT, tmp_path / "other", *HARMLESS, seed=5, steps=None),
    ]
    runs.append(
        Start(SCRIPT, tmp_path / "altered", *ALTERING, "single-thread", override=True, steps=None)
    )
    one, other, altered = (run.end() for run in runs)
    first, second, changed = printed(one), printed(other), printed(altered)

    assert first == second, "seeded, weights, shuffles, dropout and private generators are the same"
    assert first["deterministic"] and not changed["deterministic"]
    assert first["threads"] == [3, 1] and changed["threads"] == [1, 1], (
        "a value of the script's stands, but not in a trial"
    )
    assert [(event["w"], event["v"]) for event in one.events("conflict", "single-thread")] == [
        ("tf.config.threading.set_intra_op_parallelism_threads", 3)
    ]
    assert altered.events("override", "single-thread")
    assert (first["workers"], changed["workers"]) == (1, 2)
    assert first["dropped"] == [True] * 3 and changed["dropped"] == [False] * 3
    assert any(first["inside"]) and changed["inside"] == [False, False]
    assert first["order"] != changed["order"] == list(range(1, 9))
    assert changed["flipped"] == [True] * 4
    assert changed["drawn"] != first["drawn"] and changed["private"] != first["private"]

    assert (
        set(one.touched("seed")) >= {"random", "tf.random.set_seed"}
        or one.touched("seed")["tf.random.set_seed"] == 1
    )
    acted = {event["w"] for event in one.events("control", "seed") if not event.get("set")}
    assert "numbers drawn from random" in acted, "by this a search knows that the control acted"
    assert one.touched("private-rng")["tf.random.Generator.from_non_deterministic_state"] == 1
    assert set(one.touched("single-worker")) == {"tf.data.Dataset.map", "keras.utils.PyDataset"}
    assert one.touched("deterministic")["tf.config.experimental.enable_op_determinism"] == 1
    assert set(altered.touched("data-order")) == {"tf.data.Dataset.shuffle", "keras.Model.fit"}
    assert {
        "tf.nn.dropout",
        "keras.layers.Dropout",
        "keras.layers.GaussianDropout",
        "keras.random.dropout",
    } <= set(altered.touched("dropout-off"))
    assert set(altered.touched("augment-off")) == {"keras.layers.RandomFlip"}


def test_what_determinism_refuses_is_explained(workdir: Path) -> None:
    outcome = check("--control", "deterministic", SCRIPT, cwd=workdir)
    assert outcome.title == "SCRIPT FAILED"
    cause = outcome.report["causes"][0]
    assert "seed" in cause["title"] and cause["source"]["line"] == 13, cause
    assert "set_random_seed" in cause["fix"] or "set_seed" in cause["fix"]
