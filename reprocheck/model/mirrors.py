"""Mirrors: what should differ inside one run and is the same, and what was recorded to find them.

The facts have the form in which `docs/reference/trace-format.md` describes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

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
]
"""The names of the rows `mirror` in the table of relations."""


class Fact(msgspec.Struct, tag_field="e", tag=str.lower, gc=False, frozen=True):
    """Hold one line of a trace that is recorded for the sake of mirrors."""


class Drawing(Fact, rename={"line": "l", "states": "g", "amounts": "a"}, kw_only=True, frozen=True):
    """Draws from generators: the hash of each state before, and how many numbers were drawn."""

    line: str = ""
    states: dict[str, str] = {}
    amounts: dict[str, int] = {}


class Pass(
    Fact,
    rename={
        "place": "p",
        "line": "l",
        "dataset": "d",
        "optimizers": "b",
        "order": "o",
        "count": "c",
        "ascends": "up",
        "shuffles": "sh",
        "processes": "w",
        "fetcher": "f",
        "iterable": "it",
    },
    frozen=True,
):
    """One walk through a loader.

    dataset    its number among those of the process
    optimizers how many were built before
    order      hash of the order of its samples, "" where it is not known as a whole
    count      how many different samples that is
    shuffles   whether its sampler shuffles, None where that is not known
    processes  those that load its samples, in the order of the workers
    fetcher    number of what loads them, where the process does it itself
    """

    place: str
    line: str = ""
    dataset: int = 0
    optimizers: int = 0
    order: str = ""
    count: int = 0
    ascends: bool = False
    shuffles: bool | None = None
    processes: list[int] = []
    fetcher: int | None = None
    iterable: bool = False


class Batch(
    Fact, rename={"place": "p", "iteration": "i", "worker": "w", "samples": "n"}, frozen=True
):
    """A batch that was handed to the training; `iteration`: of how many it saw losses before."""

    place: str
    iteration: int = 0
    worker: int | None = None
    samples: list[str] = []


class Task(
    Drawing, rename={"fetcher": "f", "number": "n", "kind": "k", "dataset": "p"}, frozen=True
):
    """What was drawn while a worker, or the process itself, loaded one batch of samples."""

    fetcher: int = 0
    number: int = 0
    kind: str = ""
    dataset: str = ""


class Draw(
    Drawing, rename={"place": "p", "iteration": "i", "inputs": "in", "class_": "k"}, frozen=True
):
    """What a module drew in a forward pass; `place` is "" for what the script drew before it."""

    place: str = ""
    iteration: int = 0
    inputs: list[str] = []
    class_: str = ""


class Network(Fact, rename={"number": "n", "groups": "r"}, frozen=True):
    """The network that the draws from here on are made in, and the batch before belongs to.

    groups  kinds with their ranks: `data` where each trains on other data, `model` where each holds
            a part
    """

    number: int
    groups: list[tuple[str, tuple[int, ...]]] = []


AnyFact: TypeAlias = Pass | Batch | Task | Draw | Network
FACTS: tuple[type[Fact], ...] = (Pass, Batch, Task, Draw, Network)


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
