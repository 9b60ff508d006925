"""The controls for MindSpore, put in place right after its own import.

The script's next line runs later.

Nothing that the graph compiler parses is wrapped: it would compile the wrapper, and the numbers
would change. What takes the place of an operator's function is a plain function in a file
(`functions`); classes are changed where Python makes them.
"""

from typing import Any

ACTS = (
    ("numerics:deterministic", ("deterministic",)),
    ("numerics:single_thread", ("single-thread",)),
    ("numerics:no_compile", ("no-compile",)),
    ("numerics:launch_blocking", ("launch-blocking",)),
    ("memory:fill_memory", ("fill-memory",)),
    ("seeds:reseeding", ("private-rng", "entropy")),
    ("seeds:private_operators", ("private-rng",)),
    ("seeds:seed", ("seed",)),
    ("data:single_worker", ("single-worker",)),
    ("data:data_order", ("data-order",)),
    ("augment:augment_off", ("augment-off",)),
    ("dropout:dropout_off", ("dropout-off",)),
    ("cpu_rng", ("cpu-rng",)),
)
"""What acts, and the controls that need it, in the order in which they act."""

CPU_RNG = (
    "MindSpore's random operators run where the network runs, and their seeds are the same on every"
    " device"
)


def cpu_rng(mindspore: Any, active: Any) -> None:
    """Report that MindSpore's random operators cannot be run on the CPU instead."""
    active.unavailable("cpu-rng", CPU_RNG)
