"""Controls for MindSpore: put in place right after its own import, before the script's next line.

Nothing that the graph compiler parses is wrapped: it would compile the wrapper, and the numbers would change. What takes the place of an
operator's function is a plain function in a file (`mindspore_control_functions`); classes are changed where Python makes them.
"""

from importlib import import_module
from typing import Any

TABLE = (
    ("mindspore_control_numerics", "deterministic", ("deterministic",)),
    ("mindspore_control_numerics", "single_thread", ("single-thread",)),
    ("mindspore_control_numerics", "no_compile", ("no-compile",)),
    ("mindspore_control_numerics", "launch_blocking", ("launch-blocking",)),
    ("mindspore_control_memory", "fill_memory", ("fill-memory",)),
    ("mindspore_control_seeds", "reseeding", ("private-rng", "entropy")),
    ("mindspore_control_seeds", "private_operators", ("private-rng",)),
    ("mindspore_control_seeds", "seed", ("seed",)),
    ("mindspore_control_data", "single_worker", ("single-worker",)),
    ("mindspore_control_data", "data_order", ("data-order",)),
    ("mindspore_control_augment", "augment_off", ("augment-off",)),
    ("mindspore_control_dropout", "dropout_off", ("dropout-off",)),
)
"""Module, function and the controls that need it, in the order in which they act."""

CPU_RNG = "MindSpore's random operators run where the network runs, and their seeds are the same on every device"


def install(mindspore: Any, active: Any) -> None:
    """Put the controls that are on in place; one that cannot act says so, and the others act."""
    for module, function, controls in TABLE:
        needed = [control for control in controls if active.on(control)]
        if needed:
            try:
                getattr(import_module("." + module, __package__), function)(mindspore, active)
            except Exception as error:
                active.recorder.problem("controls: " + module, error)
                for control in needed:
                    active.unavailable(control, "in mindspore %s: %r" % (getattr(mindspore, "__version__", "?"), error))
    if active.on("cpu-rng"):
        active.unavailable("cpu-rng", CPU_RNG)
