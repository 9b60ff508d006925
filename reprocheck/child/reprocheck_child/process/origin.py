"""Names a process by where it comes from, not by which process of a run was faster.

Processes of `multiprocessing` carry a number that their parent gave them when it made the object. A
worker of a pool has one too, but which task it gets is a race: there the number of the task counts,
which the parent gave it when it was handed in. Both are private to the standard library; where they
are not found, the process is known by how it was started, as `docs/reference/ranks.md` says.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from types import FrameType


_WORKERS = {
    "worker": ("multiprocessing.pool", "multiprocess.pool", "billiard.pool"),
    "_process_worker": (
        "concurrent.futures.process",
        "joblib.externals.loky.process_executor",
        "loky.process_executor",
    ),
    "_worker": ("concurrent.futures.thread",),
}
"""Function in which a worker of a pool waits for tasks -> the modules that have it."""


def _process() -> object:
    """Return this process's `multiprocessing` object; None if the script uses none."""
    processes = sys.modules.get("multiprocessing.process")
    return getattr(processes, "current_process", _nothing)()


def _nothing() -> None:
    """Return None, because this process does not come from `multiprocessing`."""


def process_name() -> str:
    """Return the name that the parent process gave this process."""
    return str(getattr(_process(), "name", "MainProcess"))


def identity() -> list[int]:
    """Return the `multiprocessing` numbers of this process and its ancestors; () for the first."""
    # private, and the same from Python 3.9 to 3.14
    return list(map(int, getattr(_process(), "_identity", ())))


def worker_frame() -> FrameType | None:
    """Return the frame of a worker's loop if this thread runs a task of a pool."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        modules = _WORKERS.get(frame.f_code.co_name, ())
        if frame.f_globals.get("__name__") in modules:
            return frame
        frame = frame.f_back
    return None


def task(worker: FrameType | None) -> str:
    """Return the name of the task that a worker runs: `0.3` in a pool, `3` in an executor.

    The numbers are those of the job and its part, or of the item. The result is "" between tasks,
    and if there is no worker.
    """
    if worker is None:
        return ""
    variables = worker.f_locals
    job, part = variables.get("job"), variables.get("i")
    item = getattr(variables.get("call_item"), "work_id", None)
    _let_go(variables)
    if item is not None:
        return str(item)
    return "" if job is None else "%s.%s" % (job, part)


def item(worker: FrameType) -> object:
    """Return the object of the item that a thread of an executor runs; None in other workers."""
    variables = worker.f_locals
    item = variables.get("work_item")
    _let_go(variables)
    return item


def _let_go(variables: object) -> None:
    """Drop the variables of a frame, which would keep the arguments of the task alive.

    Up to Python 3.12 the frame keeps a copy of them; from 3.13 on they are a view (PEP 667).
    """
    if type(variables) is dict:
        variables.clear()


def executor(worker: FrameType | None) -> str:
    """Return a name that all workers of an executor share; "" if there is none.

    Each executor counts its items from the start, so that the number alone does not tell the
    executor.

    A forked worker still has the frames of its parent process, in which the executor lists its
    earlier workers. Other workers were given a queue whose lock has a name. A pool needs no such
    name, because the jobs of all pools are counted together.
    """
    if worker is None:
        return ""
    frame = worker.f_back
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if frame.f_code.co_name == "_spawn_process" and module in _WORKERS["_process_worker"]:
            earlier = [
                list(process._identity) for process in frame.f_locals["self"]._processes.values()
            ]
            return "workers from %s on" % min([*earlier, identity()])
        frame = frame.f_back
    variables = worker.f_locals
    lock = getattr(getattr(variables.get("call_queue"), "_rlock", None), "_semlock", None)
    _let_go(variables)
    return str(getattr(lock, "name", None) or "")


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
