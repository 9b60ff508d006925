"""Mirrors: what should differ inside one run and is the same, and what was recorded to find them.

The facts are as the recorder writes them: see `docs/reference/trace-format.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from reprocheck.model.statement import Statement

MirrorKind = Literal[
    "worker-draws",
    "worker-samples",
    "epoch-order",
    "epoch-draws",
    "rank-samples",
    "rank-noise",
    "shard-noise",
    "replicas",
    "step-noise",
    "device-keys",
]
"""The names of the rows `mirror` in the table of relations."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pass:
    """One walk through a loader.

    dataset     its number among those of the process
    optimizers  how many were built before
    order       hash of the order of its samples, "" where it is not known as a whole
    count       how many different samples that is
    shuffles    whether its sampler shuffles, None where that is not known
    processes   those that load its samples, in the order of the workers
    fetcher     number of what loads them, where the process does it itself
    iterable    whether the data set is a stream without indices
    """

    place: str
    line: str = ""
    dataset: int = 0
    optimizers: int = 0
    order: str = ""
    count: int = 0
    ascends: bool = False
    shuffles: bool | None = None
    processes: tuple[int, ...] = ()
    fetcher: int | None = None
    iterable: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """A batch that was handed to the training; `iteration`: how many had begun before."""

    place: str
    iteration: int = 0
    worker: int | None = None
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """What was drawn while a worker, or the process itself, loaded one batch of samples.

    states   of each generator that moved: the hash of its state before
    amounts  how many numbers were drawn from it at least, 0 where that is not known
    """

    fetcher: int = 0
    number: int = 0
    dataset: str = ""
    line: str = ""
    states: Mapping[str, str] = field(default_factory=dict)
    amounts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Draw:
    """What a module drew in a forward pass; `place` is "" for what the script drew before it.

    Of JAX the keys that a computation was given; `copies`: how many devices have the same one.
    `states` and `amounts` as of a task.
    """

    place: str = ""
    iteration: int = 0
    inputs: tuple[str, ...] = ()
    class_: str = ""
    copies: int = 1
    line: str = ""
    states: Mapping[str, str] = field(default_factory=dict)
    amounts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Network:
    """The network that the draws from here on are made in, and the batch before belongs to.

    groups  kinds with their ranks: `data` where each trains on other data, `model` where each holds
            a part
    """

    number: int
    groups: tuple[tuple[str, tuple[int, ...]], ...] = ()


AnyFact: TypeAlias = Pass | Batch | Task | Draw | Network
FACTS: Mapping[str, type[AnyFact]] = {
    "pass": Pass,
    "batch": Batch,
    "task": Task,
    "draw": Draw,
    "network": Network,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What one process recorded for the sake of mirrors, in the order of its training."""

    pid: int
    rank: int | None
    facts: tuple[AnyFact, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mirror(Statement):
    """What should differ inside one run and is the same; of `replicas`, the other way round.

    between    numbers of the workers, passes, ranks or iterations that share it
    place      the loader, the data set or the module; "" for the script itself
    line       the line (`file:line`) of the user's code that it comes from
    count      how many batches, tasks or draws in a row are the same; of an order, its samples
    generator  what is drawn from
    asked      whether it may be meant: a question, and no fault
    """

    kind: MirrorKind
    between: tuple[int, ...]
    place: str
    count: int
    line: str = ""
    generator: str = ""
    asked: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Mirrors:
    """The mirrors of a run, and the kinds of which too little was recorded to see any."""

    found: tuple[Mirror, ...] = ()
    not_seen: tuple[MirrorKind, ...] = ()

    @property
    def faults(self) -> tuple[Mirror, ...]:
        """The mirrors that cannot be meant."""
        return tuple(one for one in self.found if not one.asked)
