"""Fingerprints of tensors of TensorFlow, and of Keras' on any backend, read through host memory:
exact hash, sketch, norm, small values.

Nothing here imports a framework. Every value is read anew: a variable does not say when it was
written to.
"""

import sys
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from .. import hashing, leaves, sketch

Fingerprint = Dict[str, Any]
Rows = Tuple[int, Callable[[int], Any]]

_PARTS = {
    "IndexedSlices": ("values", "indices"),
    "IndexedSlicesValue": ("values", "indices"),
    "SparseTensor": ("values", "indices", "dense_shape"),
    "RaggedTensor": ("flat_values", "nested_row_splits"),
}
"""Classes of sparse values and what they consist of, the values first."""
_TENSORS = ("tensorflow", "keras", "jax", "jaxlib", "torch")
_ARRAYS = ("__array__", "detach")


class Prints:
    """Reads tensors and the values that hold them. Never raises."""

    def __init__(self, deep: Any) -> None:
        self.deep = deep
        self._announced = False
        deep.recorder.on_fork.append(self._forked)

    def _forked(self) -> None:
        self._announced = False

    def of(self, value: Any) -> Fingerprint:
        """The fingerprint of a tensor, variable or array; without a hash where it cannot be
        read.
        """
        if not self._announced:
            self._announced = True
            self.deep.recorder.emit(
                {"e": "fingerprints", "hash": hashing.NAME, "sketch": sketch.NAME}
            )
        try:
            parts = _PARTS.get(type(value).__name__)
            return self._of_parts(value, parts) if parts else _of_array(array(value))
        except Exception as error:
            self.deep.unrecorded(
                "a value of class " + type(value).__name__, "it could not be read: %r" % error
            )
            return {"h": "", "d": leaves.type_name(value)}

    def _of_parts(self, value: Any, names: Tuple[str, ...]) -> Fingerprint:
        found = []
        for name in names:
            part = getattr(value, name)
            found += [
                self.of(one)
                for one in (part if isinstance(part, (list, tuple)) else [part])
                if one is not None
            ]
        return {
            **found[0],
            "h": hashing.digest("".join(part["h"] for part in found).encode()),
            "d": type(value).__name__,
        }

    def leaves(self, value: Any) -> List[List[Any]]:
        """The leaves of a nested value with their paths."""
        try:
            return leaves.leaves(value, self._leaf)
        except Exception as error:
            self.deep.unrecorded(
                "a value of class " + type(value).__name__, "it could not be read: %r" % error
            )
            return []

    def arguments(self, args: Tuple[Any, ...], named: Dict[str, Any]) -> List[List[Any]]:
        """The tensors and arrays among the arguments of a call."""
        given: Dict[str, Any] = {str(number): value for number, value in enumerate(args)}
        given.update(named)
        return [
            leaf
            for leaf in self.leaves(
                {name: value for name, value in given.items() if value is not None}
            )
            if "s" in leaf[1]
        ]

    def _leaf(self, value: Any) -> Optional[Fingerprint]:
        return self.of(value) if is_tensor(value) else None

    def samples(self, batch: Any) -> Optional[List[str]]:
        """Hash of each sample of a batch; None where it has none."""
        try:
            return leaves.samples([rows for rows in map(_rows, flat(batch)) if rows is not None])
        except Exception as error:
            self.deep.unrecorded("samples of a batch", "they could not be read: %r" % error)
            return None


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor or variable of a framework."""
    kind = type(value)
    if kind.__name__ in _PARTS:
        return True
    return any(
        base.__module__.split(".")[0] in _TENSORS and any(hasattr(base, name) for name in _ARRAYS)
        for base in kind.__mro__[:-1]
    )


def concrete(value: Any) -> bool:
    """Whether a tensor holds a value: one of a graph, of a program that is being traced, or without
    data does not.
    """
    kind = type(value)
    names = [base.__name__ for base in kind.__mro__]
    if "Tracer" in names or "KerasTensor" in names or "SymbolicTensor" in names:
        return False
    if kind.__name__ in _PARTS:
        return concrete(getattr(value, _PARTS[kind.__name__][0]))
    return getattr(value, "_value", value) is not None


def array(value: Any) -> Any:
    """A tensor, variable or array as a numpy array."""
    inner = getattr(value, "_value", None)
    if inner is not None and hasattr(value, "path"):  # a variable of Keras
        value = inner
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
    read = getattr(value, "numpy", None)
    return sys.modules["numpy"].asarray(read() if callable(read) else value)


def _of_array(value: Any) -> Fingerprint:
    numpy = sys.modules["numpy"]
    if value.dtype.hasobject:  # strings
        return {
            "h": hashing.digest(repr(value.tolist()).encode("utf-8", "surrogatepass")),
            "d": "string",
            "s": list(value.shape),
        }
    if value.dtype.kind != "V":
        return leaves.array(value)
    plain = numpy.ascontiguousarray(value).reshape(-1)  # bfloat16 and the 8-bit types
    found: Fingerprint = {
        "h": hashing.digest(plain.view("uint8") if plain.size else b""),
        "d": str(value.dtype),
        "s": list(value.shape),
    }
    wide = leaves.array(plain.astype("float32"))
    found.update((key, wide[key]) for key in ("k", "z", "v") if key in wide)
    return found


def flat(batch: Any) -> Iterator[Any]:
    """What nested lists, tuples and dictionaries hold."""
    if isinstance(batch, (list, tuple, dict)):
        for part in batch.values() if isinstance(batch, dict) else batch:
            yield from flat(part)
    else:
        yield batch


def _rows(leaf: Any) -> Optional[Rows]:
    if leaf is None or not hasattr(leaf, "shape"):
        return None
    return leaves.array_rows(array(leaf))
