"""Batches and orders of samples: what was found out of the first difference of a loader."""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.model.evidence import BatchDiffers
from reprocheck.model.statements.difference import Fact, Unexplained
from reprocheck.model.statements.generators import Seeding

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
