"""Checks whether two runs of a training script agree: `reprocheck run train.py`.

`check(function)` does the same from Python, and `explain(function)` searches for the cause.
`check_resume(script)` stops a training, resumes it, and compares that with going on.
`compare(first, second)` compares two recordings; `load(folder)` reads a recorded check.
`log_loss(value)` names the loss where no hook can see it, and `seed_all(seed, mode)` fixes the
randomness of a script that calls it. `KerasCallback`, `LightningCallback`, `MindSporeCallback` and
`TransformersCallback` tell the losses of a trainer. All are imported on first use.
"""

from __future__ import annotations

from reprocheck._version import __version__

TYPE_CHECKING = False  # importing `typing` takes as long as half of a bare start of Python

__all__ = [
    "KerasCallback",
    "LightningCallback",
    "MindSporeCallback",
    "Seeded",
    "TransformersCallback",
    "__version__",
    "check",
    "check_resume",
    "compare",
    "explain",
    "load",
    "log",
    "log_loss",
    "seed_all",
]

if TYPE_CHECKING:
    from typing import Any

    from reprocheck.api import check, check_resume, compare, explain
    from reprocheck.child.reprocheck_child.callbacks import (
        KerasCallback,
        LightningCallback,
        MindSporeCallback,
        TransformersCallback,
    )
    from reprocheck.child.reprocheck_child.seed_all import Seeded, seed_all
    from reprocheck.logs import log, log_loss
    from reprocheck.workflow.replay import load

_SEEDING = "reprocheck.child.reprocheck_child.seed_all"
_CALLBACKS = "reprocheck.child.reprocheck_child.callbacks"
_HOMES = {
    "KerasCallback": _CALLBACKS,
    "LightningCallback": _CALLBACKS,
    "MindSporeCallback": _CALLBACKS,
    "Seeded": _SEEDING,
    "TransformersCallback": _CALLBACKS,
    "check": "reprocheck.api",
    "check_resume": "reprocheck.api",
    "compare": "reprocheck.api",
    "explain": "reprocheck.api",
    "load": "reprocheck.workflow.replay",
    "log": "reprocheck.logs",
    "log_loss": "reprocheck.logs",
    "seed_all": _SEEDING,
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'reprocheck' has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found
