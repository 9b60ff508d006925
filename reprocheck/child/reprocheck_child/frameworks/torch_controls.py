"""Controls for PyTorch and every backend that plugs into it: put in place right after torch's own import, before the script's next line."""

from importlib import import_module
from typing import Any

TABLE = (
    ("torch_control_numerics", "deterministic", ("deterministic",)),
    ("torch_control_numerics", "single_thread", ("single-thread",)),
    ("torch_control_numerics", "no_compile", ("no-compile",)),
    ("torch_control_memory", "fill_memory", ("fill-memory",)),
    ("torch_control_devices", "cpu_rng", ("cpu-rng",)),
    ("torch_control_seeds", "reseeding", ("private-rng", "entropy")),
    ("torch_control_seeds", "seed", ("seed",)),
    ("torch_control_data", "single_worker", ("single-worker",)),
    ("torch_control_order", "data_order", ("data-order",)),
    ("torch_control_dropout", "dropout_off", ("dropout-off",)),
    ("torch_control_modules", "hand_written_dropout", ("dropout-off",)),
    ("torch_control_augment", "augment_off", ("augment-off",)),
)
"""Module, function and the controls that need it, in the order in which they act."""


def install(torch: Any, active: Any) -> None:
    """Put the controls that are on in place; one that cannot act says so, and the others act."""
    for module, function, controls in TABLE:
        needed = [control for control in controls if control in active.names]
        if needed:
            try:
                getattr(import_module("." + module, __package__), function)(torch, active)
            except Exception as error:
                active.recorder.problem("controls: " + module, error)
                for control in needed:
                    active.unavailable(control, "in torch %s: %r" % (torch.__version__, error))
