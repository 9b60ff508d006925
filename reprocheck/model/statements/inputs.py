"""What goes into a training: batches, random generators, and what the runs were given."""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.model.compared import SourceDifference
from reprocheck.model.evidence import BatchDiffers, FromOutside, SeededAs
from reprocheck.model.statement import Statement
from reprocheck.model.statements.difference import Fact, FirstDifference, Unexplained
from reprocheck.model.verdict import EnvironmentDifference


@dataclass(frozen=True, kw_only=True, slots=True)
class Seeding:
    """One seeding of a generator: the values in the two runs, the place, and the author.

    A value is None if the run did not seed.

    by         the package that seeded the generator, empty if the script did
    by_system  whether no number was given, so that the generator used OS entropy
    folded     whether the number was folded into an existing JAX PRNG key
    """

    generator: str
    first: object
    second: object
    line: str
    by: str = ""
    by_system: bool = False
    folded: bool = False

    @property
    def equal(self) -> bool:
        """Return whether both runs used the same seed."""
        return self.first is not None and self.first == self.second

    @property
    def unequal_seeds(self) -> tuple[object, object] | None:
        """The seeds of both runs, if they differ."""
        if self.equal:
            return None
        return self.first, self.second

    @property
    def how(self) -> SeededAs:
        """Return how the generator was seeded."""
        if self.by_system:
            return "by the system"
        if self.equal:
            return "equally"
        return "unequally"


def is_key(generator: str) -> bool:
    """Return whether the name of a generator stands for the JAX PRNG keys that one line makes."""
    # What the names of generators begin with that stand for keys. A key has no state that draws
    # would move: others are derived from it.
    return generator.partition(" ")[0] == "jax"


@dataclass(frozen=True, kw_only=True, slots=True)
class UnequalState(FirstDifference):
    """A module or a loader draws from generators whose states differ."""

    names: tuple[str, ...]
    fact: Fact
    seeded: tuple[Seeding, ...]
    """How generators were last seeded before."""
    agreed: Fact | None = None
    """The last fact at which their states were still the same."""
    outside: bool = False
    """The script draws itself, and the fact is the first to receive other values."""


INPUTS_OF = "inputs of "
"""How the place of a batch begins that no loader made."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherBatch(Unexplained):
    """A batch, or an order of samples, differs."""

    evidence: BatchDiffers
    fact: Fact
    batches: int
    """How many batches of the loader both runs have."""
    samples: tuple[int, int]
    """How many samples the first batch that differs holds in each run, as far as that is known."""
    changed: int
    """How many of them are not the same, place by place."""
    parts: int
    """How many tensors it holds."""
    unequal_parts: tuple[str, ...]
    moved: tuple[str, ...]
    """The generators that moved for it."""
    own_seeds: tuple[Seeding, ...]
    """The seeds that the worker set by itself."""
    differing: tuple[str, ...]
    """The generators whose states differ, and that something draws from that was not recorded."""


BY_NUMBER = "argument "
"""The name of an argument that has none begins so."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileState:
    """The properties by which a file differs from that of the other run.

    The size, else the hash and the time of the last change, if known.
    """

    size: int
    hash: str = ""
    time: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Given(Statement):
    """An argument, variable or file that differs between the runs.

    first, second: None if that run was not given it. names_the_run: the value only says how the run
    is called or where its results go, which changes no number by itself. made: a file that a
    program of each run makes anew. line: the user's line, `file:line`, that opened the file,
    `written`: the line that wrote the file; "" if unknown.
    """

    kind: FromOutside
    name: str
    first: str | FileState | None
    second: str | FileState | None
    names_the_run: bool = False
    made: bool = False
    line: str = ""
    written: str = ""

    @property
    def of_one_run(self) -> bool:
        """Return whether only one of the runs was given the argument, variable or file."""
        return None in (self.first, self.second)


@dataclass(frozen=True, kw_only=True, slots=True)
class NotGivenAlike(Statement):
    """Source, arguments, variables and files are not the same."""

    code: tuple[SourceDifference, ...]
    others: tuple[Given, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherEnvironment(Statement):
    """Facts of the environment are not the same in a run as in run 1."""

    differences: tuple[EnvironmentDifference, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundState:
    """The log line in which a run says that it found a state, as far as the line is cited."""

    run: int
    line: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftFiles(FirstDifference):
    """Run 2 reads files that run 1 left; `says`: what the log of run 2 says of the files."""

    paths: tuple[str, ...]
    says: FoundState | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftWithoutEffect(Statement):
    """Run 2 reads files of run 1 that do not explain the difference.

    `alike`: run 1 read the same files, else run 2 read them only after the first difference.
    """

    paths: tuple[str, ...]
    alike: bool
