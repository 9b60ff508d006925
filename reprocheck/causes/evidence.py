"""Decide how sure a cause is, by what both runs recorded of one thing, such as one generator.

This is the only module that decides whether a cause is *observed*. Which facts an entry of the
catalogue needs stands in its field `observed_by`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from reprocheck.model import Confidence
from reprocheck.rules import entry

Kind = Literal[
    "state differs",
    "never seeded",
    "seeded equally",
    "key made equally",
    "seeded unequally",
    "seeded by the system",
    "seeded later",
    "drawn before its seed",
    "private state differs",
    "private generator given",
    "memory not filled",
    "key missing",
    "file left by run 1",
    "contents differ",
    "text differs",
    "environment differs",
    "value differs",
    "taken from the set differs",
    "path differs",
    "no producer differs",
    "operation differs",
    "sum over ranks differs",
    "changed after the backward pass",
    "update differs",
    "written beside the optimizer",
    "differs later",
    "agrees when repeated",
    "error",
]
"""What a fact says of the thing that it is of: a generator, a file, an argument, a value, a weight,
an operation.
"""


SEEDED_EQUALLY: frozenset[Kind] = frozenset({"seeded equally", "key made equally"})
"""A generator moves as it is drawn from; a key does not, so that another state of one shows nothing
about the number of draws.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """A recorded fact that supports a cause.

    kind  what was recorded, such as `state differs`
    of    the name of the thing, such as a generator; facts support a cause together only if they
          are of the same thing
    """

    kind: Kind
    of: str


def confidence(name: str, facts: Iterable[Recorded]) -> Confidence:
    """Return *observed* if one thing has all the facts that an entry needs, else *suspected*.

    The facts are one of the lists in `observed_by` of the entry with this name.

    A line of the source is no fact.
    """
    kinds_of: dict[str, set[str]] = {}
    for fact in facts:
        kinds_of.setdefault(fact.of, set()).add(fact.kind)
    for needed in entry(name).observed_by:
        if any(kinds.issuperset(needed) for kinds in kinds_of.values()):
            return "observed"
    return "suspected"
