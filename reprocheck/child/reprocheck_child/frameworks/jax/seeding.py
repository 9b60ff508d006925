"""`seed_all` for JAX, which has no global seed."""

from typing import Any

from ...seed_all import Setter


def seed(setter: Setter, jax: Any) -> None:
    """Seed JAX for `seed_all`."""
    setter.advice.append(
        "JAX has no global seed: make every key from it, key = jax.random.key(%d), and split it"
        % setter.seed
    )
    if setter.mode:
        setter.advice.append(
            "JAX on a GPU, before Python starts: export XLA_FLAGS=--xla_gpu_deterministic_ops=true"
        )
