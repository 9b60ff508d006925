"""The controls for PyTorch and its backends, put in place right after torch's own import.

The script's next line runs later.
"""

ACTS = (
    ("numerics:deterministic", ("deterministic",)),
    ("numerics:single_thread", ("single-thread",)),
    ("numerics:no_compile", ("no-compile",)),
    ("memory:fill_memory", ("fill-memory",)),
    ("devices:cpu_rng", ("cpu-rng",)),
    ("seeds:reseeding", ("private-rng", "entropy")),
    ("seeds:seed", ("seed",)),
    ("data:single_worker", ("single-worker",)),
    ("data:late_batches", ("arrival",)),
    ("data:more_workers", ("workers",)),
    ("order:data_order", ("data-order",)),
    ("dropout:dropout_off", ("dropout-off",)),
    ("modules:hand_written_dropout", ("dropout-off",)),
    ("augment:augment_off", ("augment-off",)),
)
"""What acts, and the controls and variations that need it, in the order in which they act."""
