"""Controls for MindSpore: put in place right after its own import, before the script's next line.

Nothing that the graph compiler parses is wrapped: it would compile the wrapper, and the numbers
would change. What takes the place of an operator's function is a plain function in a file
(`functions`); classes are changed where Python makes them.
"""

from importlib import import_module
from typing import Any

TABLE = (
    ("numerics", "deterministic", ("deterministic",)),
    ("numerics", "single_thread", ("single-thread",)),
    ("numerics", "no_compile", ("no-compile",)),
    ("numerics", "launch_blocking", ("launch-blocking",)),
    ("memory", "fill_memory", ("fill-memory",)),
    ("seeds", "reseeding", ("private-rng", "entropy")),
    ("seeds", "private_operators", ("private-rng",)),
    ("seeds", "seed", ("seed",)),
    ("data", "single_worker", ("single-worker",)),
    ("data", "data_order", ("data-order",)),
    ("augment", "augment_off", ("augment-off",)),
    ("dropout", "dropout_off", ("dropout-off",)),
)
"""Module, function and the controls that need it, in the order in which they act."""

CPU_RNG = (
    "MindSpore's random operators run where the network runs, and their seeds are the same on every"
    " device"
)


def install(mindspore: Any, active: Any) -> None:
    """Put the controls that are on in place; one that cannot act says so, and the others act."""
    for module, function, controls in TABLE:
        needed = [control for control in controls if active.on(control)]
        if needed:
            try:
                getattr(import_module("." + module, __name__), function)(mindspore, active)
            except Exception as error:
                active.recorder.problem("controls: " + module, error)
                for control in needed:
                    active.unavailable(
                        control,
                        "in mindspore %s: %r" % (getattr(mindspore, "__version__", "?"), error),
                    )
    if active.on("cpu-rng"):
        active.unavailable("cpu-rng", CPU_RNG)
