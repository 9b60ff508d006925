"""Controls for PyTorch and every backend that plugs into it: put in place right after torch's own
import, before the script's next line.
"""

from importlib import import_module
from typing import Any

TABLE = (
    ("numerics", "deterministic", ("deterministic",)),
    ("numerics", "single_thread", ("single-thread",)),
    ("numerics", "no_compile", ("no-compile",)),
    ("memory", "fill_memory", ("fill-memory",)),
    ("devices", "cpu_rng", ("cpu-rng",)),
    ("seeds", "reseeding", ("private-rng", "entropy")),
    ("seeds", "seed", ("seed",)),
    ("data", "single_worker", ("single-worker",)),
    ("order", "data_order", ("data-order",)),
    ("dropout", "dropout_off", ("dropout-off",)),
    ("modules", "hand_written_dropout", ("dropout-off",)),
    ("augment", "augment_off", ("augment-off",)),
)
"""Module, function and the controls that need it, in the order in which they act."""


def install(torch: Any, active: Any) -> None:
    """Put the controls that are on in place; one that cannot act says so, and the others act."""
    for module, function, controls in TABLE:
        needed = [control for control in controls if control in active.names]
        if needed:
            try:
                getattr(import_module("." + module, __name__), function)(torch, active)
            except Exception as error:
                active.recorder.problem("controls: " + module, error)
                for control in needed:
                    active.unavailable(control, "in torch %s: %r" % (torch.__version__, error))
