"""Random generators: how they were seeded, and who draws from one whose state differs."""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.model.evidence import SeededAs
from reprocheck.model.statements.difference import Fact, FirstDifference


@dataclass(frozen=True, kw_only=True, slots=True)
class Seeding:
    """One seeding of a generator: the values in the two runs (None: the run did not seed), the
    place, and the author.

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
