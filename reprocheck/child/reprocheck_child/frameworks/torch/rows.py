"""Hashes the samples of a batch, one hash for each sample.

The hash covers the rows that all tensors and lists of the batch hold of the sample.
"""

from typing import Any, Callable, List, Optional, Tuple

from ...deep_levels import leaves
from .memory import memory

Collected = List[Tuple[List[Any], Any]]
"""The bytes of each row, and what holds them."""


def samples(kind: Any, value: Any, flat: Callable[[Any], Any]) -> Optional[List[str]]:
    """Return one hash for each sample of a batch on the host, labels included.

    None if the first dimension is not the batch dimension.

    `kind` is the class of tensors, `flat` a function that makes a tensor flat and contiguous.
    """
    collected: Collected = []
    _rows(kind, value, flat, collected, 0)
    return leaves.samples([rows for rows, _ in collected])


def _rows(
    kind: Any, value: Any, flat: Callable[[Any], Any], collected: Collected, depth: int
) -> None:
    if isinstance(value, kind):
        dense = type(value) is kind and str(value.layout) == "torch.strided"
        if dense and value.is_cpu and value.dim():
            tensor = flat(value)
            collected.append((_tensor_rows(tensor), tensor))
        return
    rows = leaves.array_rows(value)
    if rows is not None:
        collected.append((rows, value))
        return
    if depth >= leaves.DEPTH or len(collected) >= leaves.COUNT:
        return
    is_filled = isinstance(value, (list, tuple)) and value
    if is_filled and all(isinstance(part, (str, int, float)) for part in value):
        labels = value if len(value) <= leaves.SAMPLES else ()
        rows = [repr(label).encode("utf-8", "surrogatepass") for label in labels]
        collected.append((rows, value))
        return
    for _, part in leaves.parts(value) or ():
        _rows(kind, part, flat, collected, depth + 1)


def _tensor_rows(tensor: Any) -> List[Any]:
    """Return the bytes of each row, to be used as long as the tensor is held."""
    count, size = len(tensor), tensor.numel() * tensor.element_size()
    if count > leaves.SAMPLES:
        return []
    data, stride = memory(tensor.data_ptr(), size), size // max(count, 1)
    return [data[row * stride : (row + 1) * stride] for row in range(count)]
