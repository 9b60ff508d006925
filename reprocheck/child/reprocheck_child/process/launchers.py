"""Reads from the launcher's environment variables which rank a process is.

A framework knows it better once it has been told.
"""

from __future__ import annotations

import os

VARIABLES = (
    ("RANK", "WORLD_SIZE"),  # torchrun, accelerate, deepspeed
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),  # mpirun of Open MPI
    ("PMI_RANK", "PMI_SIZE"),  # mpirun of MPICH and Intel MPI
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"),
    # srun; a batch script has the first without the second, and is no rank
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)
"""Rank and number of ranks, by launcher; the first that says a rank counts."""


def world() -> tuple[int | None, int]:
    """Return (rank, number of ranks).

    It is (None, 1) where no launcher names a rank; a number that is not known is 1.
    """
    for rank, size in VARIABLES:
        own, ranks = _integer(rank), _integer(size)
        # a batch script of Slurm has the number of a task, and no tasks
        alone = ranks is None and rank == "SLURM_PROCID"
        if own is not None and not alone:
            return own, ranks or 1
    return None, _integer("WORLD_SIZE") or 1


def ranks_here() -> int:
    """Return how many ranks the launcher has started on this machine; 0 if it does not tell."""
    return _integer("LOCAL_WORLD_SIZE") or 0


def _integer(variable: str) -> int | None:
    text = os.environ.get(variable, "")
    return int(text) if text.isdigit() else None
