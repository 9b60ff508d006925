"""Hashes the samples of a batch, one hash for each sample.

The hash covers the rows that all tensors and lists of the batch hold of the sample.
"""

from typing import Any, Callable, List, Optional, Tuple

from ...deep_levels import leaves
from .memory import memory

Rows = Tuple[int, Callable[[int], Any]]


def samples(kind: Any, value: Any, flat: Callable[[Any], Any]) -> Optional[List[str]]:
    """Return one hash for each sample of a batch on the host, labels included.

    None if the first dimension is not the batch dimension.

    `kind` is the class of tensors, `flat` a function that makes a tensor flat and contiguous.
    """
    rows: List[Rows] = []
    _rows(kind, value, flat, rows, 0)
    return leaves.samples(rows)


def _rows(
    kind: Any, value: Any, flat: Callable[[Any], Any], collected: List[Rows], depth: int
) -> None:
    if isinstance(value, kind):
        dense = type(value) is kind and str(value.layout) == "torch.strided"
        if dense and value.is_cpu and value.dim():
            collected.append(_tensor_rows(flat(value)))
        return
    rows = leaves.array_rows(value)
    if rows is not None:
        collected.append(rows)
        return
    if depth >= leaves.DEPTH or len(collected) >= leaves.COUNT:
        return
    is_filled = isinstance(value, (list, tuple)) and value
    if is_filled and all(isinstance(part, (str, int, float)) for part in value):
        collected.append(_label_rows(value))
        return
    for _, part in leaves.parts(value) or ():
        _rows(kind, part, flat, collected, depth + 1)


def _label_rows(labels: Any) -> Rows:
    def read(index: int) -> bytes:
        return repr(labels[index]).encode("utf-8", "surrogatepass")

    return len(labels), read


def _tensor_rows(tensor: Any) -> Rows:
    count = len(tensor)
    size = tensor.numel() * tensor.element_size()
    stride = size // max(count, 1)
    data = memory(tensor.data_ptr(), size)

    def read(index: int, tensor: Any = tensor) -> Any:
        begin = index * stride
        return data[begin : begin + stride]  # as long as `tensor` is held

    return count, read
