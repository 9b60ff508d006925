"""Hashes the samples of a batch, one hash for each sample.

The hash covers the rows that all tensors and lists of the batch hold of the sample.
"""

from typing import Any, Callable, List, Optional

from ...deep_levels import leaves
from .memory import memory


def samples(kind: Any, value: Any, flat: Callable[[Any], Any]) -> Optional[List[str]]:
    """Return one hash for each sample of a batch on the host, labels included.

    None if the first dimension is not the batch dimension.

    `kind` is the class of tensors, `flat` a function that makes a tensor flat and contiguous.
    """
    rows: List[List[Any]] = []
    tensors: List[Any] = []  # whose bytes the rows are
    _rows(kind, value, flat, rows, tensors, 0)
    return leaves.samples(rows)


def _rows(
    kind: Any,
    value: Any,
    flat: Callable[[Any], Any],
    collected: List[List[Any]],
    tensors: List[Any],
    depth: int,
) -> None:
    if isinstance(value, kind):
        dense = type(value) is kind and str(value.layout) == "torch.strided"
        if dense and value.is_cpu and value.dim():
            tensor = flat(value)
            tensors.append(tensor)
            collected.append(_tensor_rows(tensor))
        return
    rows = leaves.array_rows(value)
    if rows is not None:
        collected.append(rows)
        return
    if depth >= leaves.DEPTH or len(collected) >= leaves.COUNT:
        return
    is_filled = isinstance(value, (list, tuple)) and value
    if is_filled and all(isinstance(part, (str, int, float)) for part in value):
        labels = value if len(value) <= leaves.SAMPLES else ()
        collected.append([repr(label).encode("utf-8", "surrogatepass") for label in labels])
        return
    for _, part in leaves.parts(value) or ():
        _rows(kind, part, flat, collected, tensors, depth + 1)


def _tensor_rows(tensor: Any) -> List[Any]:
    """Return the bytes of each row, to be used as long as the tensor is held."""
    count, size = len(tensor), tensor.numel() * tensor.element_size()
    if count > leaves.SAMPLES:
        return []
    data, stride = memory(tensor.data_ptr(), size), size // max(count, 1)
    return [data[row * stride : (row + 1) * stride] for row in range(count)]
