"""`seed_all` for Keras."""

from typing import Any

from ...seed_all import Setter


def seed(setter: Setter, keras: Any) -> None:
    """Seed Keras for `seed_all`."""
    setter.call(
        "keras.utils.set_random_seed(%d)" % setter.seed,
        lambda: keras.utils.set_random_seed,
        setter.seed,
    )
