"""Decide how sure a cause is, by what both runs recorded of one thing, such as one generator.

This is the only module that decides whether a cause is *observed*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from reprocheck.model import Confidence

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


def _one(*kinds: Kind) -> frozenset[Kind]:
    return frozenset(kinds)


_UNSEEDED = (_one("state differs", "never seeded"), _one("state differs", "seeded by the system"))
_UNSEEDED_DATA = (*_UNSEEDED, _one("drawn before its seed"))
_OPERATION = (_one("operation differs"),)
_ERROR = (_one("error"),)

SHOWN_BY: Mapping[str, tuple[frozenset[Kind], ...]] = {
    "version-drift": (_one("environment differs"),),
    "thread-count": (_one("environment differs"),),
    "other-machine": (_one("environment differs"),),
    "intermittent-difference": (_one("agrees when repeated"),),
    "cublas-workspace": _ERROR,
    "no-deterministic-kernel": _ERROR,
    "unseeded-in-deterministic-mode": _ERROR,
    "state-left": (_one("file left by run 1"),),
    "changing-input": (_one("contents differ"),),
    "other-source": (_one("text differs"),),
    "drifting-hyper-parameter": (_one("value differs"),),
    "unseeded-weights": _UNSEEDED,
    "seed-after-model": (_one("state differs", "seeded later"), _one("drawn before its seed")),
    "uninitialised-memory": (_one("memory not filled"),),
    "partial-checkpoint": (_one("key missing"),),
    "unseeded-layer": _UNSEEDED,
    "unseeded-draw": _UNSEEDED_DATA,
    "unseeded-shuffle": _UNSEEDED_DATA,
    "unseeded-augmentation": _UNSEEDED_DATA,
    "unseeded-split": (*_UNSEEDED_DATA, _one("taken from the set differs")),
    "clock-seed": (_one("state differs", "seeded unequally"),),
    "shifted-stream": (_one("state differs", "seeded equally"),),
    "worker-seed": (*_UNSEEDED, _one("seeded unequally")),
    "private-shuffle": (_one("private state differs"),),
    "private-draw": (_one("private generator given"),),
    "private-gradient-noise": (_one("private generator given"),),
    "noisy-forward-kernel": _OPERATION,
    "ascend-kernel": _OPERATION,
    "xla-kernels": _OPERATION,
    "unrecorded-input": (_one("no producer differs"),),
    "different-path": (_one("path differs"),),
    "noisy-backward-kernel": _OPERATION,
    "upsample-backward": _OPERATION,
    "attention-backward": _OPERATION,
    "extension-backward": _OPERATION,
    "convolution-algorithm": _OPERATION,
    "collective-order": (_one("sum over ranks differs"),),
    "gradient-changed": (_one("changed after the backward pass"),),
    "noisy-update": (_one("update differs"),),
    "weights-written": (_one("written beside the optimizer"),),
    "late-drift": (_one("differs later"),),
}
"""Entry of the catalogue -> the facts of one thing that show it; each set is enough.

An entry that is not here is never observed.
"""


def confidence(entry: str, facts: Iterable[Recorded]) -> Confidence:
    """Return *observed* if one thing has all the facts that show the entry, else *suspected*.

    A line of the source is no fact.
    """
    kinds_of: dict[str, set[Kind]] = {}
    for fact in facts:
        kinds_of.setdefault(fact.of, set()).add(fact.kind)
    for needed in SHOWN_BY.get(entry, ()):
        if any(needed <= kinds for kinds in kinds_of.values()):
            return "observed"
    return "suspected"
