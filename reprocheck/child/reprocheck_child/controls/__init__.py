"""Controls and variations: one removes a source of differences between runs, the other drives it.

Both act from outside the script.

Imported only if a run has one of them. `start` acts for Python and its standard library, `act` for
a framework right after its import.
"""

from __future__ import annotations

from .active_controls import Active

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping

__all__ = ["Active", "act", "start"]

VARIATIONS = (
    "hostname",
    "user",
    "timezone",
    "locale",
    "path",
    "tmpdir",
    "home",
    "columns",
    "address",
    "umask",
    "stdin",
    "processors",
)
PARTS = (
    ("surroundings", ()),
    ("order", ("file-order",)),
    ("seeds", ("seed",)),
    ("generators", ("private-rng", "entropy")),
    ("entropy", ("entropy",)),
    ("clock", ("clock",)),
    ("workers", ("single-worker",)),
    ("memory", ("fill-memory",)),
    ("variations", VARIATIONS),
    ("arrival", ("arrival",)),
    ("seeding_calls", ("seeding",)),
)
"""Modules of this package and the controls and variations that need them; none: all."""


def start(recorder: Any, settings: Mapping[str, Any]) -> Active:
    """Put the controls of the run in place for this process.

    An error of one control is written to the trace, and the others act.
    """
    from importlib import import_module

    active = Active(recorder, settings)
    for name, needed in PARTS:
        wanted = list(filter(active.on, needed))
        if needed and not wanted:
            continue
        try:
            import_module("." + name, __name__).install(active)
        except Exception as error:
            recorder.problem("controls: " + name, error)
            for control in wanted:
                active.unavailable(control, "it could not be installed: " + repr(error))
    return active


def act(framework: Any, active: Active, controls: Any) -> None:
    """Put the controls that are on in place in a framework.

    A control that cannot act is reported, and the others act.

    `controls` is a module with `ACTS`: functions `act(framework, active)` by their names (those of
    modules below it as `module:function`), each with the controls that need it, in the order in
    which they act.
    """
    from ..recorder import registry

    for function, needed in controls.ACTS:
        names = list(filter(active.on, needed))
        if not names:
            continue
        try:
            if ":" in function:
                registry.found(function, controls.__name__)(framework, active)
            else:
                getattr(controls, function)(framework, active)
        except Exception as error:
            version = getattr(framework, "__version__", "?")
            for control in names:
                active.unavailable(control, "in %s %s: %r" % (framework.__name__, version, error))
