"""What a loop of TensorFlow's own holds at the point where a resume is judged."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.child.frameworks.torch.levels import record

SCRIPT = """
import numpy as np
import tensorflow as tf

def trained(name, restored):
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1, name=name)])
    optimizer = tf.keras.optimizers.Adam(0.1)
    noise = tf.random.Generator.from_seed(5)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, noise=noise)
    if restored:
        checkpoint.restore("last-1")

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    for _ in range(2):
        step(noise.normal((4, 2)))
    return checkpoint

trained("first", False).save("last")
trained("second", True)
"""


@pytest.mark.skipif(find_spec("tensorflow") is None, reason="TensorFlow is not installed")
def test_an_optimizer_that_is_built_by_its_first_update_holds_what_was_restored(
    tmp_path: Path,
) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    level = record(script, "module", boundaries=[1, 3])
    assert [one["where"] for one in level.problems] == ["tf.function"]
    assert [fact["p"] for fact in level.seen("boundary")] == ["tensorflow", "tensorflow"]
    held = {(fact["i"], fact["p"]): fact["out"][0][1]["h"] for fact in level.seen("held")}
    left = [fact for fact in level.seen("update", "first.kernel:momentum") if fact["i"] == 2]
    assert held[3, "sequential_1.second.kernel:momentum"] == left[0]["out"][0][1]["h"]
    assert held[1, "first.kernel:momentum"] != left[0]["out"][0][1]["h"]
    states = {(fact["i"], fact["p"]): fact["raw"] for fact in level.seen("state")}
    assert states[3, "tensorflow:Generator[1]"] != states[1, "tensorflow:Generator[0]"]
    drawn = [fact for fact in level.seen("call") if fact.get("k") == "tf.random.Generator"]
    assert [next(iter(fact["g2"])) for fact in drawn[:4]] == [
        *["tensorflow:Generator[0]"] * 2,
        *["tensorflow:Generator[1]"] * 2,
    ]
