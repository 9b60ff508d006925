"""Classify differences between two environments by what each class may change: `drift.toml`."""

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
    """A class of differences between two environments.

    name       of the class
    title      the name in words
    expects    what a difference of this class makes one expect of the results
    why        the reason for that
    reference  the source that says so
    cause      name of the catalogue entry; empty for none
    facts      patterns of the facts that belong to the class, such as `torch.*`
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
    """Return all classes of differences; the last one matches every fact."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["class"]
    return tuple(DriftClass(**{**row, "facts": tuple(row["facts"])}) for row in rows)


def drift_class(key: str) -> DriftClass:
    """Return the class of a difference in a fact of the environment, such as `torch.threads`."""
    return next(
        found
        for found in drift_classes()
        if any(fnmatchcase(key, pattern) for pattern in found.facts)
    )
