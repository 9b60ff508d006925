"""The command of a launcher with another number of ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from reprocheck.errors import UsageError

MODULE = "-m"
PROGRAMS = (MODULE, "--module", "python", "python3", "--")
"""Words with which what a launcher starts begins, beside the name of a script."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Launcher:
    """How a launcher such as `torchrun` is told the number of ranks.

    options  all names of the option; the first is added if none is given
    behind   the subcommand after which the option stands
    nodes    options for the number of machines: reprocheck supports only one machine
    further  options that repeat the number of ranks, and are replaced if given
    """

    options: tuple[str, ...]
    behind: str = ""
    nodes: tuple[str, ...] = ()
    further: tuple[str, ...] = ()


_TORCH = Launcher(options=("--nproc-per-node", "--nproc_per_node"), nodes=("--nnodes",))
_MPI = Launcher(options=("-n", "-np", "--n", "--np"))
LAUNCHERS: Mapping[str, Launcher] = {
    "torchrun": _TORCH,
    "torch.distributed.run": _TORCH,
    "torch.distributed.launch": _TORCH,
    "accelerate": Launcher(
        options=("--num_processes", "--num-processes"),
        behind="launch",
        nodes=("--num_machines", "--num-machines"),
    ),
    "mpirun": _MPI,
    "mpiexec": _MPI,
    "srun": Launcher(options=("-n", "--ntasks"), nodes=("-N", "--nodes")),
    "deepspeed": Launcher(options=("--num_gpus",), nodes=("--num_nodes",)),
    "horovodrun": Launcher(options=("-np", "--num-proc")),
    "msrun": Launcher(options=("--worker_num",), further=("--local_worker_num",)),
}


def with_ranks(words: Sequence[str], ranks: int) -> tuple[str, ...]:
    """Return the command with so many ranks.

    Raises UsageError where it is none of a launcher that is known, or starts ranks on several
    machines.

    >>> with_ranks(("torchrun", "--nproc-per-node=2", "train.py"), 4)
    ('torchrun', '--nproc-per-node=4', 'train.py')
    """
    launch = _launch(words)
    if launch is None:
        raise _refused(ranks, f"`{words[0]}` is no launcher that is known here")
    launcher, start, end = launch
    own = list(words[start:end])
    if set(_values(own, launcher.nodes).values()) - {"1", "1:1"}:
        raise _refused(ranks, "the command starts ranks on several machines")
    for index, value in _values(own, (*launcher.options, *launcher.further)).items():
        own[index] = own[index].removesuffix(value) + str(ranks)
    if not _values(own, launcher.options):
        own = [launcher.options[0], str(ranks), *own]
    return (*words[:start], *own, *words[end:])


def _launch(words: Sequence[str]) -> tuple[Launcher, int, int] | None:
    """Return the launcher of a command, and the range of the words that are its options."""
    name, start = PurePath(words[0]).name, 1
    if name.startswith("python") and MODULE in words[:-1]:
        start = words.index(MODULE) + 2
        name = words[start - 1]
    launcher = LAUNCHERS.get(name)
    if launcher is None:
        return None
    if launcher.behind:
        if launcher.behind not in words[start:]:
            return None
        start = words.index(launcher.behind, start) + 1
    for end in range(start, len(words)):
        if words[end].endswith(".py") or words[end] in PROGRAMS:
            return launcher, start, end
    return launcher, start, len(words)


def _values(words: Sequence[str], names: tuple[str, ...]) -> dict[int, str]:
    """Return the index -> value, of each word that holds the value of an option of these names."""
    values: dict[int, str] = {}
    for index, (before, word) in enumerate(zip(("", *words), words, strict=False)):
        name, equals, value = word.partition("=")
        if before in names:
            values[index] = word
        elif equals and name in names:
            values[index] = value
    return values


def refuse_ranks(ranks: int, *, with_others: Mapping[str, object]) -> None:
    """Raise UsageError for another number of ranks with an option that needs the same ranks."""
    given = next((name for name, value in with_others.items() if value), None)
    if ranks and given is not None:
        raise UsageError(
            f"--ranks {ranks} and {given}: that needs the same ranks in both runs.",
            f"Check both apart: once with --ranks, and once with {given}.",
        )


def _refused(ranks: int, why: str) -> UsageError:
    return UsageError(
        f"--ranks {ranks}: {why}.",
        "Start the ranks with torchrun, accelerate launch, mpirun, srun or msrun on one machine."
        " Where the script has an option for their number itself, give that to --resume-with.",
    )
