"""The samples of a batch: one hash for each, made of what all tensors and lists of the batch hold
of it.
"""

from typing import Any, Callable, List, Optional, Tuple

from ... import leaves
from .memory import memory

Rows = Tuple[int, Callable[[int], Any]]
_LABELS = (str, int, float)


def samples(kind: Any, value: Any, flat: Callable[[Any], Any]) -> Optional[List[str]]:
    """One hash for each sample of a batch on the host, labels included; None where the first
    dimension is no batch.

    `kind` is the class of tensors, `flat` makes one contiguous.
    """
    found: List[Rows] = []
    _rows(kind, value, flat, found, 0)
    return leaves.samples(found)


def _rows(kind: Any, value: Any, flat: Callable[[Any], Any], found: List[Rows], depth: int) -> None:
    if isinstance(value, kind):
        if type(value) is kind and _has_rows(value):
            found.append(_tensor_rows(flat(value)))
        return
    rows = leaves.array_rows(value)
    if rows is not None:
        found.append(rows)
        return
    if depth >= leaves.DEPTH or len(found) >= leaves.COUNT:
        return
    if _is_labels(value):
        found.append(_label_rows(value))
        return
    for _, part in leaves.parts(value) or ():
        _rows(kind, part, flat, found, depth + 1)


def _has_rows(tensor: Any) -> bool:
    """Whether the bytes of a tensor are on the host, sample by sample."""
    dense = str(tensor.layout) == "torch.strided"
    return bool(dense and tensor.is_cpu and tensor.dim())


def _is_labels(value: Any) -> bool:
    """Whether this is a plain list of labels, one for each sample."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return all(isinstance(part, _LABELS) for part in value)


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
