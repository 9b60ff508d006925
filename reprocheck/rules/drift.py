"""Classes of differences between two environments, read from `drift.toml`: what each makes one
expect.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from reprocheck.model import Expects

TABLE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, kw_only=True, slots=True)
class DriftClass:
    """A class, as `Drift` has it.

    `facts`: patterns of the keys in it; `cause`: name of the entry of the catalogue, empty for
    none.
    """

    name: str
    title: str
    expects: Expects
    why: str
    reference: str
    cause: str
    facts: tuple[str, ...]


@cache
def drift_classes() -> tuple[DriftClass, ...]:
    """Return all classes; the last one takes every fact."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["class"]
    return tuple(DriftClass(**{**row, "facts": tuple(row["facts"])}) for row in rows)


def drift_class(key: str) -> DriftClass:
    """Return the class of a fact of the environment, such as `torch.threads`."""
    return next(
        found
        for found in drift_classes()
        if any(fnmatchcase(key, pattern) for pattern in found.facts)
    )
