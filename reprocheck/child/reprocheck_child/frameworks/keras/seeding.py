"""`seed_all` for Keras."""

from typing import Any

from ...seed_all import Setter


def seed(setter: Setter, keras: Any) -> None:
    """Do what `seed_all` does for it."""
    setter.call(
        "keras.utils.set_random_seed(%d)" % setter.seed,
        lambda: keras.utils.set_random_seed,
        setter.seed,
    )
