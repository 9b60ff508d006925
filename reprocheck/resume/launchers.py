"""The command of a launcher with another number of ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from reprocheck.errors import UsageError

MODULE = "-m"


@dataclass(frozen=True, kw_only=True, slots=True)
class Launcher:
    """How a launcher is told the number of ranks.

    options  all names of the option; the first is added where none is given
    behind   the subcommand that the option stands behind
    nodes    options for the number of machines: only one of them is understood
    further  options that say the same number once more, and are replaced where they are given
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
    """The command with so many ranks. Raises UsageError where it is none of a launcher that is
    known, or starts ranks on several machines.

    >>> with_ranks(("torchrun", "--nproc-per-node=2", "train.py"), 4)
    ('torchrun', '--nproc-per-node=4', 'train.py')
    """
    found = _launcher(words)
    if found is None:
        raise _refused(ranks, f"`{words[0]}` is no launcher that is known here")
    launcher, start = found
    end = _end(words, start)
    if _nodes(words[start:end], launcher) not in ("", "1", "1:1"):
        raise _refused(ranks, "the command starts ranks on several machines")
    own = [_replaced(word, before, launcher, ranks) for before, word in _pairs(words[start:end])]
    if not any(_is_given(word, launcher.options) for word in own):
        own = [launcher.options[0], str(ranks), *own]
    return (*words[:start], *own, *words[end:])


def _launcher(words: Sequence[str]) -> tuple[Launcher, int] | None:
    """The launcher, and the index of the first word behind its name."""
    name, index = PurePath(words[0]).name, 1
    if name.startswith("python") and MODULE in words[:-1]:
        index = words.index(MODULE) + 2
        name = words[index - 1]
    launcher = LAUNCHERS.get(name)
    if launcher is None:
        return None
    if launcher.behind:
        if launcher.behind not in words[index:]:
            return None
        index = words.index(launcher.behind, index) + 1
    return launcher, index


def _end(words: Sequence[str], start: int) -> int:
    """The index of the program that is launched: what stands from there on is its own."""
    programs = (n for n, word in enumerate(words) if n >= start and _is_program(word))
    return next(programs, len(words))


def _is_program(word: str) -> bool:
    return word.endswith(".py") or word in (MODULE, "--module", "python", "python3", "--")


def _pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    """Each word with the one before it."""
    return list(zip(("", *words), words, strict=False))


def _replaced(word: str, before: str, launcher: Launcher, ranks: int) -> str:
    names = (*launcher.options, *launcher.further)
    if before in names:
        return str(ranks)
    name, equals, _ = word.partition("=")
    if equals and name in names:
        return f"{name}={ranks}"
    return word


def _is_given(word: str, names: tuple[str, ...]) -> bool:
    return word.partition("=")[0] in names


def _nodes(words: Sequence[str], launcher: Launcher) -> str:
    """The number of machines as it was given; "" where it was not."""
    for before, word in _pairs(words):
        if before in launcher.nodes:
            return word
        name, equals, value = word.partition("=")
        if equals and name in launcher.nodes:
            return value
    return ""


def _refused(ranks: int, why: str) -> UsageError:
    return UsageError(
        f"--ranks {ranks}: {why}.",
        "Start the ranks with torchrun, accelerate launch, mpirun, srun or msrun on one machine."
        " Where the script takes their number itself, resume it with that option: --resume-with"
        f" '--ranks {ranks}'.",
    )
