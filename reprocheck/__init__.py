"""reprocheck says whether two runs of a training script agree: `reprocheck run train.py`.

`load(folder)` reads a recorded check, `log_loss(value)` names the loss where no hook can see it. Both are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["__version__", "load", "log_loss"]

if TYPE_CHECKING:
    from reprocheck.check import load
    from reprocheck.log import log_loss

_HOMES = {"load": "reprocheck.check", "log_loss": "reprocheck.log"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'reprocheck' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
