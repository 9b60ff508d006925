"""Which names of arguments and settings stand for the seed of a training."""

from __future__ import annotations

NAMES = (
    "seed",
    "random_seed",
    "randomseed",
    "manual_seed",
    "manualseed",
    "global_seed",
    "base_seed",
    "rng_seed",
    "seed_everything",
    "random_state",
)


def is_seed(name: str) -> bool:
    """Return whether a name stands for the seed: `seed`, `random-seed`, `trainer.seed`.

    >>> is_seed("trainer.seed"), is_seed("data_seed")
    (True, False)
    """
    last = name.lstrip("-").replace("/", ".").rpartition(".")[2]
    return last.replace("-", "_").lower() in NAMES
