"""Controls: each removes one source of difference from outside.

Imported only where a run is made under some.

`start` acts for Python and what comes with it; a framework's part is installed by `bootstrap` right
after the framework's import.
"""

from __future__ import annotations

from .active import Active

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping

__all__ = ["Active", "start"]

PARTS = (
    ("surroundings", ()),
    ("order", ("file-order",)),
    ("seeds", ("seed",)),
    ("generators", ("private-rng", "entropy")),
    ("entropy", ("entropy",)),
    ("clock", ("clock",)),
    ("workers", ("single-worker",)),
    ("memory", ("fill-memory",)),
)
"""Modules of this package and the controls that need them; none: all."""


def start(recorder: Any, settings: Mapping[str, Any]) -> Active:
    """Puts the controls of the run in place for this process.

    An error of one is written, and the others act.
    """
    from importlib import import_module

    active = Active(recorder, settings)
    for name, needed in PARTS:
        if not needed or not active.names.isdisjoint(needed):
            try:
                import_module("." + name, __name__).install(active)
            except Exception as error:
                recorder.problem("controls: " + name, error)
                for control in needed:
                    if active.on(control):
                        active.unavailable(control, "it could not be installed: " + repr(error))
    return active
