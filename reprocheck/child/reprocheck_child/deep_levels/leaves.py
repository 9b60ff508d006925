"""Takes nested values apart into leaves: tensors, numbers and strings with their paths.

The values are those that were given to a module or returned by it.
"""

from __future__ import annotations

import sys

from . import hashing, sketch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Optional

    ReadTensor = Callable[[Any], Any]
    Rows = list[Any]
    # the bytes of each sample that one leaf of a batch holds

DEPTH = 8
COUNT = 256
TEXT = 200
SAMPLES = 4096
SMALL = 16
"""Elements of an array up to which they stand in the trace, too."""
CUT = ["…", {"v": "more than %d leaves, or deeper than %d" % (COUNT, DEPTH)}]
"""Last leaf of a value of which not everything was read."""


def leaves(value: Any, tensor: ReadTensor) -> list[list[Any]]:
    """Return [path, fingerprint or plain value] of each leaf of a nested value.

    A value that is neither a container nor data (a generator, a function, an iterator) is named by
    its type and not looked into. Of an object that is no dataclass only tensors and arrays are
    taken, because its other attributes may be times, names or counters.

    tensor  returns the fingerprint of a tensor, None for any other value
    """
    walk = _Walk(tensor)
    walk.visit("", value, 0)
    if walk.cut:
        walk.found.append(list(CUT))
    return walk.found


class _Walk:
    def __init__(self, tensor: ReadTensor) -> None:
        self.tensor = tensor
        self.found: list[list[Any]] = []
        self.open: set[int] = set()  # containers that are being walked through
        self.cut = False

    def visit(self, path: str, value: Any, depth: int, arrays: bool = False) -> None:
        """Collect the leaves of a value.

        arrays  whether only tensors and arrays are collected
        """
        if len(self.found) >= COUNT:
            self.cut = True
            return
        read = _PLAIN.get(type(value))
        leaf = read(value) if read is not None else self.tensor(value)
        if leaf is None:
            leaf = plain(value)
        if leaf is not None:
            # a reading stands for a tensor whose fingerprint a device owes; an array has a shape
            if not arrays or callable(leaf) or "s" in leaf:
                self.found.append([path, leaf])
            return
        inside = parts(value)
        if inside is None:
            if not arrays:
                self.found.append([path, {"h": "", "d": type_name(value)}])
        elif depth >= DEPTH or id(value) in self.open:
            self.cut = True
        else:
            self.open.add(id(value))
            arrays = arrays or not _is_data(value)
            for name, part in inside:
                inner = "%s.%s" % (path, name) if path else str(name)
                self.visit(inner, part, depth + 1, arrays)
            self.open.discard(id(value))


def below(path: str, name: object) -> str:
    """Return the path of a part of a value: `model.weight` for the part `weight` of `model`."""
    return "%s.%s" % (path, name) if path else str(name)


def plain(value: Any) -> Optional[dict[str, Any]]:
    """Return a number, a text or other small data as it stands in the trace.

    A numpy array is returned as its fingerprint, anything else as None.
    """
    for kind in type(value).__mro__:
        read = _PLAIN.get(kind)
        if read is not None:
            return read(value)
    # before the other numbers: a complex of numpy is one of Python, too
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return array(numpy.asarray(value))
    if isinstance(value, (set, frozenset)):  # their order is that of the hashes of this process
        if not all(isinstance(part, (bool, int, float, str, bytes)) for part in value):
            return None
        return hashed(_encoded(repr(sorted(map(repr, value)))), type(value).__name__)
    if isinstance(value, (complex, range, slice)) or type(value).__module__ in _DATA:
        return hashed(_encoded(repr(value)), type_name(value))
    return None


def plain_or_type(value: Any) -> dict[str, Any]:
    """Return a small value as `plain` does, or only its type for any other value."""
    return plain(value) or {"h": "", "d": type_name(value)}


def _verbatim(value: Any) -> dict[str, Any]:
    return {"v": value}


def _integer(value: int) -> dict[str, Any]:
    # what readers of JSON hold in 64 bits
    if -(2**63) <= value < 2**63:
        return {"v": value}
    return hashed(repr(value).encode(), "int")


def _float(value: float) -> dict[str, Any]:
    return {"v": number(value)}


def _text(value: str) -> dict[str, Any]:
    if len(value) <= TEXT:
        return {"v": value}
    return hashed_text(value)


def hashed_text(value: str) -> dict[str, Any]:
    """Return a text as a leaf that holds only the text's hash."""
    return hashed(_encoded(value), "str")


def _bytes(value: Any) -> dict[str, Any]:
    return hashed(bytes(value), type(value).__name__)


_PLAIN: dict[type, Callable[[Any], dict[str, Any]]] = {
    type(None): _verbatim,
    bool: _verbatim,
    int: _integer,
    float: _float,
    str: _text,
    bytes: _bytes,
    bytearray: _bytes,
}
_DATA = frozenset({"decimal", "fractions", "datetime", "pathlib", "uuid"})
"""Modules whose objects are data that their `repr` tells whole."""


def hashed(data: bytes, kind: str) -> dict[str, Any]:
    """Return a value as a leaf that holds only the hash of its bytes.

    kind  name of the value's type
    """
    return {"h": hashing.digest(data), "d": kind}


def _encoded(text: str) -> bytes:
    """Return a text as bytes; names of files may hold halves of surrogate pairs."""
    return text.encode("utf-8", "surrogatepass")


def number(value: float) -> Any:
    """Return a float as JSON can hold it: infinities and NaN become strings."""
    return value if value - value == 0 else repr(value)


def type_name(value: Any) -> str:
    """Return `module.Class`; `Class` for builtins."""
    kind = type(value)
    if kind.__module__ == "builtins":
        return kind.__qualname__
    return kind.__module__ + "." + kind.__qualname__


def parts(value: Any) -> Optional[Iterable[tuple[Any, Any]]]:
    """Return the named parts of a container, None for any other value."""
    if isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", None) or ()  # of a named tuple
        if len(names) != len(value):
            names = range(len(value))
        return list(zip(names, value))
    if isinstance(value, dict):
        return list(value.items())
    kind = type(value)
    # an iterator would be used up by whoever looks into it
    if callable(value) or hasattr(kind, "__next__") or kind.__module__ in _OPAQUE:
        return None
    if _wraps(value):
        return list(value.data.items())
    attributes = _attributes(value)
    return None if attributes is None else list(attributes.items())


_OPAQUE = frozenset({"builtins", "types", "_thread"})
"""Modules whose objects are looked into only where they are containers: the rest are locks, code
and the like.
"""


def _is_data(value: Any) -> bool:
    """Return whether all parts of a value are data that the script stored there."""
    if isinstance(value, (list, tuple, dict)) or hasattr(type(value), "__dataclass_fields__"):
        return True
    return _wraps(value)


def _wraps(value: Any) -> bool:
    """Return whether a value is a `UserDict`, as tokenizers return it."""
    if not hasattr(type(value), "keys"):
        return False
    return isinstance((_attributes(value) or {}).get("data"), dict)


def _attributes(value: Any) -> Optional[dict[str, Any]]:
    """Return the attributes of an object without running code of its class.

    The result is None if the object has no `__dict__`.
    """
    try:
        attributes: dict[str, Any] = object.__getattribute__(value, "__dict__")
    except Exception:
        return None
    return attributes


_sketches: Any = None


def array(value: Any) -> dict[str, Any]:
    """Return the fingerprint of a numpy array; only dtype and shape if it holds Python objects."""
    global _sketches
    numpy = sys.modules["numpy"]
    dtype = str(value.dtype)
    if value.dtype.hasobject:
        return {"h": "", "d": "numpy.object", "s": list(value.shape)}
    flat = numpy.ascontiguousarray(value).reshape(-1)
    fingerprint: dict[str, Any] = {"h": digest_of(flat), "d": dtype, "s": list(value.shape)}
    if not flat.size or value.dtype.kind not in "fciub":
        return fingerprint
    if _sketches is None:
        _sketches = sketch.ArraySketch(numpy)
    real = flat.view(flat.real.dtype)  # a complex number as two
    fingerprint["k"], norm = _sketches.of(real)
    fingerprint["z"] = number(norm)
    if sketch.is_cut(real.size, dtype):
        fingerprint["q"] = sketch.sample(real.size)[1]
    if flat.size <= SMALL:
        fingerprint["v"] = list(map(number, real.tolist()))
    return fingerprint


def digest_of(flat: Any) -> str:
    """Return the hash of the bytes of a contiguous numpy array of one dimension."""
    if not flat.size:
        return hashing.digest(b"")  # numpy refuses a view of nothing
    return hashing.digest(flat.view("uint8"))


def samples(batch: list[Rows]) -> Optional[list[str]]:
    """Return one hash for each sample of a batch; None if there are no samples.

    All leaves of the same length as the first are hashed together, so that a sample is compared
    with its label.

    batch  for each leaf, the bytes of each sample
    """
    if not batch or not 0 < len(batch[0]) <= SAMPLES:
        return None
    digest = hashing.digest
    columns = [rows for rows in batch if len(rows) == len(batch[0])]
    if len(columns) == 1:
        return [digest(row)[:16] for row in columns[0]]
    hashes = [[digest(row) for row in rows] for rows in columns]
    return [digest("".join(row).encode())[:16] for row in zip(*hashes)]


def array_rows(value: Any) -> Optional[Rows]:
    """Return the bytes of each row of a numpy array, for `samples`; none if there are too many.

    The result is None if the array has no first dimension.
    """
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray):
        return None
    if not value.ndim or value.dtype.hasobject:
        return None
    if len(value) > SAMPLES:
        return []
    return [row.tobytes() for row in numpy.ascontiguousarray(value)]
