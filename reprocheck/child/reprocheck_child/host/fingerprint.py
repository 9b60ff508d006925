"""Fingerprints of tensors that are copied to the host to be read.

A fingerprint is the exact hash, sketch and norm of a tensor, and the values of a small one.

Nothing here imports a framework: a subclass in the adapter says what its tensors are, and how they
become numpy arrays. Values are read anew each time, unless the subclass knows better: neither a
tensor of MindSpore nor a variable of TensorFlow says when it was written to.
"""

import sys
from operator import attrgetter
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ..deep_levels import hashing, leaves, sketch

Fingerprint = Dict[str, Any]
Rows = List[Any]
"""The bytes of each sample of an array."""


class Fingerprints:
    """The fingerprints of tensors and of values that hold tensors.

    Its methods never raise, except `read`.
    """

    PARTS: Dict[str, Tuple[str, ...]] = {}
    """Classes of sparse values and what they consist of, the values first."""

    def __init__(self, deep: Any) -> None:
        self.deep = deep
        self._announced = False
        deep.recorder.on_fork.append(self._forked)

    def is_tensor(self, value: Any) -> bool:
        """Return whether a value is a tensor of the framework."""
        raise NotImplementedError

    def array(self, value: Any) -> Any:
        """Return a tensor as a numpy array; any other value may be returned unchanged."""
        raise NotImplementedError

    def read(self, tensor: Any) -> Fingerprint:
        """Return the fingerprint of a tensor or array; errors of the framework are raised."""
        names = self.PARTS.get(type(tensor).__name__)
        if names is not None:
            fingerprints: List[Fingerprint] = []
            for part in attrgetter(*names)(tensor):
                several = isinstance(part, (list, tuple))  # the row splits of a ragged tensor
                fingerprints += map(self.of, part if several else [part])
            digest = hashing.digest("".join(part["h"] for part in fingerprints).encode())
            return {**fingerprints[0], "h": digest, "d": type(tensor).__name__}
        return of_array(self.array(tensor))

    def unread(self, tensor: Any) -> Fingerprint:
        """Return dtype, shape and an empty hash for a tensor that cannot be read."""
        dtype = str(getattr(tensor, "dtype", "")).rsplit(".", 1)[-1].lower()
        shape = [int(size) for size in getattr(tensor, "shape", ())]
        return {"h": "", "d": dtype, "s": shape}

    def of(self, tensor: Any) -> Fingerprint:
        """Return the fingerprint of a tensor or array; with an empty hash if reading fails."""
        self.announce()
        try:
            return self.read(tensor)
        except Exception as error:
            self._refused(tensor, error)
            return self.unread(tensor)

    def leaves(self, value: Any) -> List[List[Any]]:
        """Return (path, leaf) of the leaves of a nested value."""
        self.announce()
        try:
            return leaves.leaves(value, self._leaf)
        except Exception as error:
            self._refused(value, error)
            return []

    def arguments(self, args: Tuple[Any, ...], named: Dict[str, Any]) -> List[List[Any]]:
        """Return the leaves of the arguments of a call; arguments that are None are left out."""
        given: Dict[str, Any] = {str(number): value for number, value in enumerate(args)}
        given.update(named)
        return self.leaves({name: value for name, value in given.items() if value is not None})

    def samples(self, batch: Any) -> Optional[List[str]]:
        """Return the hash of each sample of a batch; None if the batch has no samples."""
        try:
            row_hashes = map(self._rows, flat(batch))
            return leaves.samples([rows for rows in row_hashes if rows is not None])
        except Exception as error:
            self.deep.unrecorded("samples of a batch", "they could not be read: %r" % error)
            return None

    def announce(self) -> None:
        """Write the names of the hash and sketch algorithms before the first fingerprint."""
        if not self._announced:
            self._announced = True
            names = {"hash": hashing.NAME, "sketch": sketch.NAME}
            self.deep.recorder.emit({"e": "fingerprints", **names})

    def _forked(self) -> None:
        """Write the names of the algorithms again in the trace of a forked process."""
        self._announced = False

    def _leaf(self, value: Any) -> Optional[Fingerprint]:
        if not self.is_tensor(value):
            return None
        return self.of(value)

    def _rows(self, leaf: Any) -> Optional[Rows]:
        if not hasattr(leaf, "shape"):
            return None
        return leaves.array_rows(self.array(leaf))

    def _refused(self, value: Any, error: Exception) -> None:
        what = "a value of class " + type(value).__name__
        self.deep.unrecorded(what, "it could not be read: %r" % error)


def of_array(value: Any) -> Fingerprint:
    """Return the fingerprint of a numpy array, also of dtypes that numpy cannot calculate with."""
    if value.dtype.hasobject:  # strings
        text = repr(value.tolist()).encode("utf-8", "surrogatepass")
        return {"h": hashing.digest(text), "d": "string", "s": list(value.shape)}
    if value.dtype.kind != "V":
        return leaves.array(value)
    # bfloat16 and the 8-bit floats: numpy has no such types, and `ml_dtypes` and MindSpore each
    # register theirs as void with a cast to float32, which holds every one of their values
    plain = sys.modules["numpy"].ascontiguousarray(value).reshape(-1)
    fingerprint = leaves.array(plain.astype("float32"))
    fingerprint.update(h=leaves.digest_of(plain), d=str(value.dtype), s=list(value.shape))
    return fingerprint


def flat(batch: Any) -> Iterator[Any]:
    """Yield the leaves of nested lists, tuples and dictionaries."""
    if isinstance(batch, dict):
        batch = list(batch.values())
    if not isinstance(batch, (list, tuple)):
        yield batch
        return
    for part in batch:
        yield from flat(part)
