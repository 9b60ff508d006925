"""The order of samples that a sampler has already drawn, read off its suspended iterator: nothing
is drawn and no code of a script runs.

A sampler draws its order at once and hands it out index by index. The list that it walks through
hangs in its iterator: as what a list iterator is positioned in, in the frame of a suspended
generator, below a `zip` or an `islice`. The garbage collector knows who holds what.
"""

import array
import gc
import itertools
import sys
from types import FrameType, GeneratorType
from typing import Any, Iterator, List, Optional, Tuple

LIMIT = 100_000
"""Indices of an epoch that are written; the hash is that of all."""
_OBJECTS = 500
_DEPTH = 8


class _Indexed:
    def __getitem__(self, index: int) -> int:
        raise IndexError


_POSITIONS: Tuple[type, ...] = (
    type(iter([])),
    type(iter(())),
    type(iter(range(0))),
    type(iter(_Indexed())),
)
_HOLDERS = (GeneratorType, FrameType, zip, enumerate, itertools.islice, itertools.chain, tuple)


def epoch(iterator: Any, sampler: Any, first: List[Any]) -> "Tuple[Optional[List[Any]], bool]":
    """(the order of the epoch, whether it is whole) once `iterator` over `sampler` has handed out
    the indices `first`.

    Of several sequences that fit, as a counter does where 0 was handed out last, it is the longest.
    """
    found = []
    for values, position in _positions(iterator):
        order = _matching(values, position, first)
        if order is None:
            order = _mapped(sampler, values, position, first)
        if order is not None:
            found.append(order)
    return (max(found, key=len), not _in_chunks(sampler)) if found else (None, False)


def plain(indices: Any) -> Optional[List[Any]]:
    """What a sampler handed out for one batch as a flat list of numbers and texts; None where it
    says nothing.
    """
    found = [_index(one) for one in (indices if isinstance(indices, (list, tuple)) else [indices])]
    return None if all(one is None for one in found) else found


def content(order: List[Any]) -> bytes:
    """The bytes that a hash of an order is taken of."""
    try:
        return array.array("q", order).tobytes()
    except (TypeError, OverflowError):
        return repr(order).encode("utf-8", "surrogatepass")


def _positions(iterator: Any) -> "Iterator[Tuple[Any, int]]":
    """(a sequence, how much of it was handed out) of each iterator over a sequence that `iterator`
    holds, the nearest first.
    """
    level, seen = [iterator], {id(iterator)}
    for _ in range(_DEPTH):
        below: List[Any] = []
        for one in level:
            if isinstance(one, _POSITIONS):
                parts: Any = one.__reduce__()
                if len(parts) > 2 and parts[1]:
                    yield parts[1][0], parts[2]
            for held in _held(one):
                if (
                    id(held) not in seen
                    and len(seen) < _OBJECTS
                    and isinstance(held, _HOLDERS + _POSITIONS)
                ):
                    seen.add(id(held))
                    below.append(held)
        level = below


def _held(one: Any) -> List[Any]:
    if isinstance(one, _POSITIONS):
        return []
    held = gc.get_referents(one)
    if isinstance(one, _HOLDERS):
        return held
    attributes = getattr(one, "__dict__", None)  # an iterator of the script's own, or of a library
    return held + (list(attributes.values()) if isinstance(attributes, dict) else [])


def _matching(values: Any, position: int, first: List[Any]) -> Optional[List[Any]]:
    """The sequence as a flat list of indices, if what was handed out of it ends with `first`."""
    if not isinstance(values, (list, tuple, range)):
        if (
            type(values).__module__ != "numpy"
            or not hasattr(values, "tolist")
            or getattr(values, "ndim", 0) != 1
        ):
            return None
        values = values.tolist()
    if position <= 0 or not len(values) or (isinstance(values, range) and position < len(first)):
        return None
    if isinstance(values[0], (list, tuple)):  # whole batches
        if plain(values[position - 1]) != first:
            return None
        return [_index(one) for batch in values for one in batch]
    handed = [_index(one) for one in values[max(0, position - len(first)) : position]]
    return [_index(one) for one in values] if handed and handed == first[-len(handed) :] else None


def _mapped(sampler: Any, values: Any, position: int, first: List[Any]) -> Optional[List[Any]]:
    """As `_matching` for a `SubsetRandomSampler`, which walks through positions in its indices."""
    sampler = _innermost(sampler)
    indices = getattr(sampler, "indices", None)
    if (
        type(sampler).__name__ != "SubsetRandomSampler"
        or not isinstance(values, list)
        or not isinstance(indices, (list, tuple, range))
    ):
        return None
    if not all(type(one) is int and 0 <= one < len(indices) for one in values):
        return None
    return _matching([indices[one] for one in values], position, first)


def _in_chunks(sampler: Any) -> bool:
    """Whether more lists follow the one that is walked through: drawn with replacement, or more
    samples than the data set has.
    """
    sampler = _innermost(sampler)
    if type(sampler).__name__ != "RandomSampler":
        return False
    return (
        bool(getattr(sampler, "replacement", False))
        or getattr(sampler, "_num_samples", None) is not None
    )


def _innermost(sampler: Any) -> Any:
    for _ in range(_DEPTH):
        inner = vars(sampler).get("sampler") if hasattr(sampler, "__dict__") else None
        if inner is None:
            break
        sampler = inner
    return sampler


def _index(value: Any) -> Any:
    """An index as the trace has it."""
    if value is None or type(value) in (int, str):
        return value
    if isinstance(value, (list, tuple)):
        return [_index(one) for one in value[:100]]
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and isinstance(value, numpy.generic):
        return value.item() if isinstance(value, (numpy.integer, numpy.str_)) else repr(value)[:200]
    if (
        torch is not None
        and isinstance(value, torch.Tensor)
        and value.is_cpu
        and value.numel() == 1
    ):
        with torch._C.DisableTorchFunction():
            return value.item()
    return repr(value)[:200] if isinstance(value, (float, bool, bytes)) else type(value).__name__
