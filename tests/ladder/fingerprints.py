"""What two fingerprints as they stand in a trace say of two tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from reprocheck.ladder.size import relative_difference, size_of
from reprocheck.model import Size
from reprocheck.trace.deep import Sketched


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """What two fingerprints say: `comparable` is False where they were made by different algorithms,
    or one tensor could not be read.
    """

    comparable: bool
    equal: bool | None = None
    relative: float | None = None
    size: Size | None = None


def recorded(fields: Mapping[str, Any]) -> Sketched:
    """Return the fingerprint written as `fields` in a trace."""
    return msgspec.convert(dict(fields), Sketched)


def difference(a: Sketched, b: Sketched) -> Difference:
    """Compare two fingerprints."""
    if "" in (a.hash, b.hash) or a.algorithm != b.algorithm:
        return Difference(comparable=False)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return Difference(comparable=True, equal=False, size="gross")
    if a.hash == b.hash:
        return Difference(comparable=True, equal=True, relative=0.0)
    relative = relative_difference(a, b)
    return Difference(
        comparable=True, equal=False, relative=relative, size=size_of(relative, a.dtype)
    )
