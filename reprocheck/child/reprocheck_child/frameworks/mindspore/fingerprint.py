"""Fingerprints of MindSpore tensors, read through host memory: exact hash, sketch, norm, small
values.

Every value is read anew: a tensor of MindSpore does not say when an operator writes into it.
"""

from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from ... import hashing, leaves, sketch

Fingerprint = Dict[str, Any]
Rows = Tuple[int, Callable[[int], Any]]


class Fingerprints:
    """Reads tensors and the values that hold them. Never raises."""

    def __init__(self, mindspore: Any, deep: Any) -> None:
        import numpy

        self.numpy = numpy
        self.deep = deep
        self.tensor = mindspore.Tensor
        self._announced = False

    def forked(self) -> None:
        """The file of a forked process names the algorithms again."""
        self._announced = False

    def of(self, tensor: Any) -> Fingerprint:
        """The fingerprint of a tensor or array; without a hash where it cannot be read."""
        self._announce()
        try:
            return (
                leaves.array(tensor)
                if isinstance(tensor, self.numpy.ndarray)
                else self._tensor(tensor)
            )
        except Exception as error:
            self.deep.unrecorded(
                "a value of class " + type(tensor).__name__, "it could not be read: %r" % error
            )
            return {"h": "", "d": _dtype(tensor), "s": _shape(tensor)}

    def _announce(self) -> None:
        if not self._announced:
            self._announced = True
            self.deep.recorder.emit(
                {"e": "fingerprints", "hash": hashing.NAME, "sketch": sketch.NAME}
            )

    def _tensor(self, tensor: Any) -> Fingerprint:
        if _is_sparse(tensor):
            parts = [self.of(part) for part in (tensor.indices, tensor.values)]
            return {
                **parts[1],
                "h": hashing.digest((parts[0]["h"] + parts[1]["h"]).encode()),
                "d": type(tensor).__name__,
            }
        if getattr(tensor, "has_init", False):
            self.deep.unrecorded(
                str(getattr(tensor, "name", "a tensor")),
                "its values are made when the graph is compiled",
            )
            return {"h": "", "d": _dtype(tensor), "s": _shape(tensor)}
        array = tensor.asnumpy()
        if array.dtype.kind != "V":
            return leaves.array(array)
        plain = self.numpy.ascontiguousarray(array).reshape(-1)
        found: Fingerprint = {
            "h": hashing.digest(plain.view("uint8") if plain.size else b""),
            "d": _dtype(tensor),
            "s": _shape(tensor),
        }
        if found["d"] == "bfloat16":  # the upper half of a float32
            wide = leaves.array((plain.view("uint16").astype("uint32") << 16).view("float32"))
            found.update((key, wide[key]) for key in ("k", "z", "v") if key in wide)
        return found

    # -------------------------------------------------------------------------------- nested values

    def leaves(self, value: Any) -> List[List[Any]]:
        """The leaves of a nested value with their paths."""
        self._announce()
        try:
            return leaves.leaves(value, self._leaf)
        except Exception as error:
            self.deep.unrecorded(
                "a value of class " + type(value).__name__, "it could not be read: %r" % error
            )
            return []

    def arguments(self, args: Tuple[Any, ...], named: Dict[str, Any]) -> List[List[Any]]:
        """The leaves of the arguments of a call; None is left out."""
        given: Dict[str, Any] = {
            str(number): value for number, value in enumerate(args) if value is not None
        }
        given.update((name, value) for name, value in named.items() if value is not None)
        return self.leaves(given)

    def _leaf(self, value: Any) -> Optional[Fingerprint]:
        return self.of(value) if isinstance(value, self.tensor) or _is_sparse(value) else None

    def tensors(self, value: Any, path: str = "", depth: int = 8) -> Iterator[Tuple[str, Any]]:
        """The tensors in nested tuples, lists and dictionaries, with their paths."""
        if isinstance(value, self.tensor):
            yield path, value
        elif depth and isinstance(value, (list, tuple, dict)):
            for name, part in leaves.parts(value) or ():
                yield from self.tensors(
                    part, "%s.%s" % (path, name) if path else str(name), depth - 1
                )

    def samples(self, batch: Any) -> Optional[List[str]]:
        """Hash of each sample of a batch; None where it has none."""
        found = [rows for rows in map(self._rows, _flat(batch)) if rows is not None]
        return leaves.samples(found)

    def _rows(self, leaf: Any) -> Optional[Rows]:
        return leaves.array_rows(leaf.asnumpy() if isinstance(leaf, self.tensor) else leaf)


def _flat(batch: Any) -> Iterator[Any]:
    if isinstance(batch, (list, tuple, dict)):
        for part in batch.values() if isinstance(batch, dict) else batch:
            yield from _flat(part)
    else:
        yield batch


def _is_sparse(value: Any) -> bool:
    return type(value).__name__ in ("COOTensor", "CSRTensor", "RowTensor") and hasattr(
        value, "indices"
    )


def _dtype(tensor: Any) -> str:
    return str(getattr(tensor, "dtype", "")).rsplit(".", 1)[-1].lower()


def _shape(tensor: Any) -> List[int]:
    return [int(size) for size in getattr(tensor, "shape", ())]
