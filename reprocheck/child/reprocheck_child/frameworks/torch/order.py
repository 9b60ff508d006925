"""Reads the order of samples from the suspended iterator of a sampler.

Nothing is drawn and no code of a script runs.

A sampler draws its order at once and returns it index by index. The list of indices is referenced
by its iterator: by a list iterator, in the frame of a suspended generator, below a `zip` or an
`islice`. `gc.get_referents` finds the list.
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
_WALKED = _HOLDERS + _POSITIONS
_SEQUENCES = (list, tuple, range)
_SHUFFLES = {
    "RandomSampler": True,
    "SubsetRandomSampler": True,
    "WeightedRandomSampler": True,
    "SequentialSampler": False,
}
"""Samplers of PyTorch itself that do not say it otherwise."""
_SHUFFLING = frozenset(("randperm", "shuffle", "permutation", "permuted", "multinomial", "sample"))
"""What a sampler that shuffles calls."""
_TEXT = 200
"""Characters that are kept of an index that is neither a number nor a text."""
_AS_IT_IS = frozenset((int, str, type(None)))


def epoch(iterator: Any, sampler: Any, first: List[Any]) -> "Tuple[Optional[List[Any]], bool]":
    """Return (order of the epoch, whether the order is complete) from a sampler's `iterator`.

    `first` are the indices of the first batch, which the iterator has returned already.

    If several sequences fit (a plain counter fits, too, after index 0), the longest is returned.
    """
    inner = _innermost(sampler)
    orders = []
    for values, position in _positions(iterator, len(first)):
        order = _matching(values, position, first)
        if order is None:
            order = _mapped(inner, values, position, first)
        if order is not None:
            orders.append(order)
    if not orders:
        return None, False
    return max(orders, key=len), not _in_chunks(inner)


def shuffles(sampler: Any) -> Optional[bool]:
    """Return whether a sampler, or the one that it takes indices from, shuffles; None if unknown.

    What a sampler has as `shuffle` says it, as that of `DistributedSampler`; else its class, or
    what its code calls. One that shuffles once, before its first epoch, may mean it.
    """
    inner = _innermost(sampler)
    said = getattr(inner, "__dict__", {}).get("shuffle")
    if isinstance(said, bool):
        return said
    for kind in type(inner).__mro__:
        if kind.__name__ in _SHUFFLES:
            return _SHUFFLES[kind.__name__]
        shuffling = [
            name
            for name, method in vars(kind).items()
            if _SHUFFLING.intersection(getattr(getattr(method, "__code__", None), "co_names", ()))
        ]
        if shuffling:
            return True if "__iter__" in shuffling else None
    return False


def plain(indices: Any) -> Optional[List[Any]]:
    """Return the indices of one batch as a flat list of numbers and strings.

    None if the sampler returned something else.
    """
    if not isinstance(indices, (list, tuple)):
        indices = [indices]
    flat = _indices(indices)
    if flat.count(None) == len(flat):
        return None
    return flat


def sequence(values: Any) -> Any:
    """Return a value that may be an order: a sequence, or a one-dimensional array as a list.

    Any other value gives ().
    """
    if isinstance(values, _SEQUENCES):
        return values
    dimensions = getattr(values, "ndim", 0)
    if type(values).__module__ not in ("numpy", "torch") or dimensions != 1:
        return ()
    return values.tolist()


def content(order: List[Any]) -> bytes:
    """Return the bytes of an order of samples, to be hashed."""
    try:
        return array.array("q", order).tobytes()
    except (TypeError, OverflowError):
        return repr(order).encode("utf-8", "surrogatepass")


def _positions(iterator: Any, taken: int) -> "Iterator[Tuple[Any, int]]":
    """Yield (sequence, number of items already returned) of each iterator inside `iterator`.

    The nearest come first. `taken`: how many indices the first batch has.
    """
    level = [iterator]
    seen = {id(iterator)}
    for _ in range(_DEPTH):
        below: List[Any] = []
        for holder in level:
            if isinstance(holder, _POSITIONS):
                yield from _position(holder, taken)
                continue
            for referent in _held(holder):
                new = id(referent) not in seen and len(seen) < _OBJECTS
                if new and isinstance(referent, _WALKED):
                    seen.add(id(referent))
                    below.append(referent)
        level = below


def _position(iterator: Any, taken: int) -> "Iterator[Tuple[Any, int]]":
    # What an iterator over a sequence is pickled as is the only way to read its position without
    # moving it: (iter, (sequence,), position). One that is exhausted has no sequence.
    pickled: Any = iterator.__reduce__()
    sequence, position = pickled[1][0], pickled[-1]
    if type(position) is int:
        yield sequence, position
    elif isinstance(sequence, range):
        # From Python 3.12 on, a range is what is left of it. If the first batch came out of it, it
        # began as many steps before.
        begin = sequence.start - taken * sequence.step
        yield range(begin, sequence.stop, sequence.step), taken


def _held(holder: Any) -> List[Any]:
    referents = gc.get_referents(holder)
    if isinstance(holder, _HOLDERS):
        return referents
    attributes = getattr(
        holder, "__dict__", None
    )  # an iterator of the script's own, or of a library
    if not isinstance(attributes, dict):
        return referents
    # the garbage collector may know only the dict, which is nothing that is walked through
    return referents + list(attributes.values())


def _matching(values: Any, position: int, first: List[Any]) -> Optional[List[Any]]:
    """Return the flat list of indices if its used part ends with `first`, else None."""
    values = sequence(values)
    if position <= 0 or not len(values):
        return None
    if isinstance(values, range) and position < len(first):
        return None
    if isinstance(values[0], (list, tuple)):  # whole batches
        if plain(values[position - 1]) != first:
            return None
        return _indices(itertools.chain.from_iterable(values))
    begin = max(0, position - len(first))
    handed = _indices(values[begin:position])
    if handed != first[-len(handed) :]:
        return None
    return _indices(values)


def _mapped(sampler: Any, values: Any, position: int, first: List[Any]) -> Optional[List[Any]]:
    """Return the same as `_matching` for a `SubsetRandomSampler`.

    Its sequence holds positions in the sampler's `indices`.
    """
    if type(sampler).__name__ != "SubsetRandomSampler" or not isinstance(values, list):
        return None
    indices = getattr(sampler, "indices", None)
    if not isinstance(indices, _SEQUENCES):
        return None
    positions = range(len(indices))
    if not all(type(index) is int and index in positions for index in values):
        return None
    return _matching([indices[index] for index in values], position, first)


def _in_chunks(sampler: Any) -> bool:
    """Return whether a `RandomSampler` draws its order as several lists.

    It does if it draws with replacement, or if `num_samples` is given.
    """
    if type(sampler).__name__ != "RandomSampler":
        return False
    # None where no `num_samples` was given: the public property then says the length of the data.
    # Else the sampler draws one list after the other until it has as many.
    limited = getattr(sampler, "_num_samples", None) is not None
    return limited or bool(getattr(sampler, "replacement", False))


def _innermost(sampler: Any) -> Any:
    for _ in range(_DEPTH):
        # read past `__getattr__` and properties, which may be code of the script
        inner = getattr(sampler, "__dict__", {}).get("sampler")
        if inner is None:
            break
        sampler = inner
    return sampler


def _indices(values: Any) -> List[Any]:
    """Return indices as plain numbers and strings, as the trace stores them.

    A list of numbers alone, the usual case, is not converted one by one.
    """
    indices = list(values)
    if _AS_IT_IS.issuperset(map(type, indices)):
        return indices
    return list(map(_index, indices))


def _index(value: Any) -> Any:
    """Return one index as a number or string, as the trace stores it."""
    if type(value) in _AS_IT_IS:
        return value
    if isinstance(value, (list, tuple)):
        return [_index(part) for part in value[:100]]
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        exact = isinstance(value, (numpy.integer, numpy.str_))
        return value.item() if exact else repr(value)[:_TEXT]
    torch: Any = sys.modules.get("torch")
    tensor = torch is not None and isinstance(value, torch.Tensor)
    if tensor and value.is_cpu and value.numel() == 1:
        # a subclass of Tensor would see `item` in its `__torch_function__`
        with torch._C.DisableTorchFunction():
            return value.item()
    return repr(value)[:_TEXT] if isinstance(value, (float, bool, bytes)) else type(value).__name__
