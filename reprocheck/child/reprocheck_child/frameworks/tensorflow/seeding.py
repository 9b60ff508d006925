"""`seed_all` for TensorFlow."""

from typing import Any

from ...seed_all import Setter


def seed(setter: Setter, tensorflow: Any) -> None:
    """Seed TensorFlow for `seed_all`."""
    setter.call(
        "tensorflow.random.set_seed(%d)" % setter.seed,
        lambda: tensorflow.random.set_seed,
        setter.seed,
    )
    if setter.mode:
        text = "tensorflow.config.experimental.enable_op_determinism()"
        setter.call(text, lambda: tensorflow.config.experimental.enable_op_determinism)
    setter.advice.append(
        "in model.fit also: shuffle=False, one worker; tf.random.Generator objects keep their own"
        " seeds"
    )
