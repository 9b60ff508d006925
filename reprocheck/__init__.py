"""reprocheck says whether two runs of a training script agree: `reprocheck run train.py`.

`load(folder)` reads a recorded check, `log_loss(value)` names the loss where no hook can see it, `seed_all(seed, mode)` fixes the
randomness of a script that calls it. All are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Seeded", "__version__", "load", "log_loss", "seed_all"]

if TYPE_CHECKING:
    from reprocheck.check import load
    from reprocheck.child.reprocheck_child.seed_all import Seeded, seed_all
    from reprocheck.log import log_loss

_SEEDING = "reprocheck.child.reprocheck_child.seed_all"
_HOMES = {"Seeded": _SEEDING, "load": "reprocheck.check", "log_loss": "reprocheck.log", "seed_all": _SEEDING}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'reprocheck' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
