"""Random generators: how they were seeded, and who draws from one whose state differs."""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.model.evidence import SeededAs
from reprocheck.model.statements.difference import Fact, FirstDifference


@dataclass(frozen=True, kw_only=True, slots=True)
class Seeding:
    """One time that a generator was seeded: with which values in the two runs (None: only one run
    did), where, and by whom.

    by         the package that seeded it, empty where the script did
    by_system  whether it was given no number, and took one from the operating system
    folded     whether the number was folded into a key, which was made before
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
        """The seeds of both runs, where they are not the same."""
        if self.equal:
            return None
        return self.first, self.second

    @property
    def how(self) -> SeededAs:
        """Return what that says of the generator."""
        if self.by_system:
            return "by the system"
        if self.equal:
            return "equally"
        return "unequally"


def is_key(generator: str) -> bool:
    """Return whether what is called a generator stands for the keys that one line makes."""
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
