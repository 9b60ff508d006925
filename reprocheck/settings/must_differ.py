"""Reads what must make a run differ from the table of relations. Imports the table alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from reprocheck.child.reprocheck_child.shared.seed_names import is_seed as is_seed
from reprocheck.settings.relations import TABLE, rows_of

NONE = "none"
PLACEHOLDER = "{seed}"
"""What stands for the seed in a command."""
FIRST_SEED, OTHER_SEED = "1", "2"
"""What is put there: 0 means no seed to many a script."""
_FIELDS = ("name", "does", "frameworks", "limits", "source")


@dataclass(frozen=True, kw_only=True, slots=True)
class MustDiffer:
    """Describe one thing that, when it is another, must make a run differ.

    does        what is other in the further run, as one sentence
    frameworks  what is seen and changed, by the name of the framework
    """

    name: str
    does: str
    frameworks: Mapping[str, str]
    limits: str
    source: str


@cache
def table() -> tuple[MustDiffer, ...]:
    """Return all of them."""
    return tuple(MustDiffer(**row) for row in rows_of(TABLE, "must differ", _FIELDS))


def with_seed(command: Sequence[str], seed: str) -> tuple[str, ...]:
    """Return a command with a seed in the place of `{seed}`."""
    return tuple(word.replace(PLACEHOLDER, seed) for word in command)
