"""Reads tensors and variables of TensorFlow, and of Keras on any backend, as numpy arrays.

Nothing here imports a framework: classes are known by their modules and names.
"""

import sys
from typing import Any, Dict, List, Tuple

from ..deep_levels import leaves
from .fingerprint import Fingerprint, Fingerprints

_PARTS = {
    "IndexedSlices": ("values", "indices"),
    "IndexedSlicesValue": ("values", "indices"),
    "SparseTensor": ("values", "indices", "dense_shape"),
    "RaggedTensor": ("flat_values", "nested_row_splits"),
}
_PACKAGES = frozenset({"tensorflow", "keras", "jax", "jaxlib", "torch"})
_READABLE = ("__array__", "detach")
"""A tensor has one of these: numpy's own protocol, or PyTorch's way out of a graph."""
_WITHOUT_VALUE = frozenset({"Tracer", "KerasTensor", "SymbolicTensor"})
"""Classes that stand for a value while JAX, Keras or TensorFlow traces a program."""


class Prints(Fingerprints):
    """The fingerprints of tensors and variables.

    Its methods never raise, except `read`.
    """

    PARTS = _PARTS

    def is_tensor(self, value: Any) -> bool:
        """Return whether a value is a tensor or variable of a framework."""
        return is_tensor(value)

    def array(self, value: Any) -> Any:
        """Return a tensor, variable or array as a numpy array."""
        return array(value)

    def unread(self, tensor: Any) -> Fingerprint:
        """Return the class name and an empty hash, because a symbolic shape may raise."""
        return {"h": "", "d": leaves.type_name(tensor)}

    def arguments(self, args: Tuple[Any, ...], named: Dict[str, Any]) -> List[List[Any]]:
        """Return the tensors and arrays among the arguments of a call."""
        return [leaf for leaf in super().arguments(args, named) if "s" in leaf[1]]


def is_tensor(value: Any) -> bool:
    """Return whether a value is a tensor or variable of a framework."""
    kind = type(value)
    if kind.__name__ in _PARTS:
        return True
    return any(map(_is_tensor_class, kind.__mro__[:-1]))


def _is_tensor_class(kind: type) -> bool:
    package = kind.__module__.split(".")[0]
    return package in _PACKAGES and any(hasattr(kind, name) for name in _READABLE)


def concrete(value: Any) -> bool:
    """Return whether a tensor holds a value.

    A tensor of a graph, of a program that is being traced, or without data does not.
    """
    kind = type(value)
    if not _WITHOUT_VALUE.isdisjoint(base.__name__ for base in kind.__mro__):
        return False
    parts = _PARTS.get(kind.__name__)
    if parts is not None:
        return concrete(getattr(value, parts[0]))
    return getattr(value, "_value", value) is not None


def array(value: Any) -> Any:
    """Return a tensor, variable or array as a numpy array."""
    if hasattr(value, "path"):  # a variable of Keras, around one of its backend
        inner = getattr(value, "_value", None)
        value = value if inner is None else inner
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":  # `Tensor.numpy` refuses it
            value = value.float()
    read = getattr(value, "numpy", None)
    if callable(read):
        value = read()
    return sys.modules["numpy"].asarray(value)
