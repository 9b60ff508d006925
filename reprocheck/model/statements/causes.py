"""What speaks for a cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.statement import Statement

Doing = Literal[
    "a draw",
    "a draw, seedless",
    "a draw, seedless or of the system",
    "a draw of the system or the clock",
    "a draw before the seed",
    "a draw from it",
    "a draw from an unseeded generator",
    "a draw that feeds",
    "a generator or a draw",
    "a generator or its seed",
    "a seed of the system",
    "a default seed of the system",
    "a hash seed, too late",
    "the clock or the system",
    "the system or the clock",
    "the clock that feeds",
    "the clock at a branch",
    "the system at a branch",
    "a duration",
    "an unfilled tensor",
    "an unfilled tensor that feeds",
    "an unfilled array",
    "an order of a set",
    "an order of a listing",
    "an order of addresses",
    "an order of arrival",
    "a random file name",
    "a split",
    "a choice by timing",
    "a change of gradients",
    "a write of others",
    "a function beside the training",
    "a function for several samples",
    "a compilation",
    "a possible difference",
]
"""What a line of the user's does, or has to do with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LineDoes(Statement):
    """A line of the user's code fits a cause.

    kind    what the line does
    call    the full name of the function that the line calls
    source  the line as `file:line`
    """

    kind: Doing
    call: str
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Circumstance(Statement):
    """A fact about the runs that speaks for a cause, besides the place that differs."""

    kind: Literal[
        "repeated runs agree",
        "large terms cancel",
        "no seed of the pipeline",
        "hashes are not fixed",
        "whole numbers differ",
        "inputs agree, rounding differs",
        "inputs agree, no draw",
        "weights in another order",
        "no state of a generator",
        "states agree",
        "like left-over memory",
        "nothing seeded before it",
        "raised in the backward pass",
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranks(Statement):
    """The run has several ranks.

    `add`: what the ranks sum up, "" if the sum is not what differs.
    """

    number: int
    add: Literal["", "gradients", "equal gradients"] = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class OperationThere(Statement):
    """An operation, or a class of modules, where the difference begins.

    kind  it lies there; it draws, and shows no state; it draws, and the default generators agree
    """

    name: str
    kind: Literal["there", "draws unseen", "draws by itself"]


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentFact(Statement):
    """A fact of the environment of a run differs from that of run 1."""

    key: str
    reference: str
    value: str
    run: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Unseeded(Statement):
    """Nothing seeded these generators before they were drawn from; empty: no seed was recorded."""

    generators: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SeededAfterwards(Statement):
    """A generator was seeded only after the first draw, with a known number.

    by     the package that seeded the generator; "" if the script did
    line   the line (`file:line`) that seeded the generator
    """

    generator: str
    by: str
    line: str
    seed: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnBeforeSeed(Statement):
    """A generator was seeded with an unknown number only after the first draw.

    `seed`: the line that seeded the generator, "" if unknown.
    """

    generator: str
    seed: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SeededUnequally(Statement):
    """A generator was given another number in each run.

    `folded`: the number was folded into its key.
    """

    generator: str
    seeds: tuple[str, str]
    folded: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class SeededEqually(Statement):
    """Generators were seeded with the same numbers, but their states differ.

    `key`: the generator stands for JAX PRNG keys.
    """

    generators: tuple[str, ...]
    key: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeByWorkers(Statement):
    """Worker processes made the batches; `worker`: the one that made this batch."""

    worker: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SeededByWorker(Statement):
    """A worker process seeded a generator by itself.

    `seeds`: None if the numbers came from OS entropy.
    """

    worker: int | None
    generator: str
    seeds: tuple[str, str] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FilesOfRun1(Statement):
    """A later run read files that run 1 had written.

    first   the first of the files, if no other is known
    number  how many of the files the later run read before it wrote to them itself
    """

    number: int = 0
    first: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class NotInCheckpoint(Statement):
    """A checkpoint that was loaded into a module did not hold the weight."""

    module: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherNumberOfWeights(Statement):
    """The weights have other shapes in each run."""

    shapes: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedFile(Statement):
    """A file of weights differs between the runs.

    Who may have drawn the weights, or only that the file differs.
    """

    file: str
    kind: Literal["written by each run", "not the same", "drawn by its writer"]


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherLine(Statement):
    """A line of a file is another text in each run."""

    file: str
    line: int
    texts: tuple[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeAtStart(Statement):
    """The command, or a file that it starts, makes the differing value from something.

    `by` is what the value is made from.
    """

    by: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class EndedWith(Statement):
    """A run ended with the message of an error."""

    run: int
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RefusedOperator(Statement):
    """The operator that an error message names.

    `source`: the line that calls the operator, or "".
    """

    operator: str
    source: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class OnlyLine(Statement):
    """Only one line of the user's code makes a layer of this class."""

    source: str
    kind: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundByScan(Statement):
    """The scan finds something on a line; `precedes`: seen to run before the first difference."""

    message: str
    precedes: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class MakesSeed(Statement):
    """A line makes the number that another line (`source`) sets as a seed."""

    source: str
