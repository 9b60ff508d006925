"""The leaves of a nested value: what was given to a module or returned by it, as tensors, numbers
and strings with their paths.
"""

from __future__ import annotations

import sys

from . import hashing, sketch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Optional

    ReadTensor = Callable[[Any], Any]

DEPTH = 8
COUNT = 256
TEXT = 200
SAMPLES = 4096
CUT = ["…", {"v": "more than %d leaves, or deeper than %d" % (COUNT, DEPTH)}]
"""Last leaf of a value of which not everything was read."""


def leaves(value: Any, tensor: ReadTensor) -> list[list[Any]]:
    """[path, fingerprint or plain value] of each leaf.

    `tensor(value)` gives the fingerprint of a tensor, None of what is no tensor.

    What is neither a container nor data (a generator, a function, an iterator) is named by its type
    and not touched. Of objects that are no dataclass only tensors and arrays are taken: their other
    attributes may be times, names or counters.
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
        """Take the leaves of a value; those that are tensors or arrays alone where that is said."""
        if len(self.found) >= COUNT:
            self.cut = True
            return
        leaf = self.tensor(value)
        if leaf is None:
            leaf = plain(value)
        if leaf is not None:
            if not arrays or "s" in leaf or callable(leaf):
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
            arrays = arrays or not (
                isinstance(value, (list, tuple, dict))
                or hasattr(type(value), "__dataclass_fields__")
                or _wraps(value)
            )
            for name, part in inside:
                self.visit("%s.%s" % (path, name) if path else str(name), part, depth + 1, arrays)
            self.open.discard(id(value))


def plain(value: Any) -> Optional[dict[str, Any]]:
    """A number, a text or other small data as it stands in the trace, a numpy array as its
    fingerprint; None of anything else.
    """
    if value is None or isinstance(value, (bool, int)):
        return (
            {"v": value}
            if value is None or -(2**63) <= value < 2**63
            else hashed(repr(value).encode(), "int")
        )
    if isinstance(value, float):
        return {"v": number(value)}
    if isinstance(value, str):
        return (
            {"v": value}
            if len(value) <= TEXT
            else hashed(value.encode("utf-8", "surrogatepass"), "str")
        )
    if isinstance(value, (bytes, bytearray)):
        return hashed(bytes(value), type(value).__name__)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return array(numpy.asarray(value))
    if isinstance(value, (set, frozenset)) and all(
        isinstance(part, (bool, int, float, str, bytes)) for part in value
    ):
        return hashed(
            repr(sorted(map(repr, value))).encode("utf-8", "surrogatepass"), type(value).__name__
        )
    if isinstance(value, (complex, range, slice)) or type(value).__module__ in (
        "decimal",
        "fractions",
        "datetime",
        "pathlib",
        "uuid",
    ):
        return hashed(repr(value).encode("utf-8", "surrogatepass"), type_name(value))
    return None


def hashed(data: bytes, kind: str) -> dict[str, Any]:
    """A value by the hash of its bytes."""
    return {"h": hashing.digest(data), "d": kind}


def number(value: float) -> Any:
    """A float as JSON has it: what is not finite as its name."""
    return value if value - value == 0 else repr(value)


def type_name(value: Any) -> str:
    """`module.Class`, `Class` for builtins."""
    kind = type(value)
    return (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else kind.__module__ + "." + kind.__qualname__
    )


def parts(value: Any) -> Optional[Iterable[tuple[Any, Any]]]:
    """Named parts of a container, None of what is none."""
    if isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", None)
        return (
            list(zip(names, value))
            if names and len(names) == len(value)
            else list(enumerate(value))
        )
    if isinstance(value, dict):
        return list(value.items())
    kind = type(value)
    if (
        isinstance(value, type)
        or callable(value)
        or hasattr(kind, "__next__")
        or kind.__module__ in ("builtins", "types", "_thread")
    ):
        return None
    if _wraps(value):
        return list(value.data.items())
    try:
        return list(object.__getattribute__(value, "__dict__").items())
    except Exception:
        return None


def _wraps(value: Any) -> bool:
    """Whether a value is a `UserDict`, as tokenizers return it."""
    try:
        return hasattr(type(value), "keys") and isinstance(
            object.__getattribute__(value, "__dict__").get("data"), dict
        )
    except Exception:
        return False


# -------------------------------------------------------------------------------------------- numpy

_sketches: Any = None


def array(value: Any) -> dict[str, Any]:
    """Fingerprint of a numpy array; of one of objects the hash of its `repr`."""
    global _sketches
    numpy = sys.modules["numpy"]
    dtype = str(value.dtype)
    if value.dtype.hasobject:
        return {"h": "", "d": "numpy.object", "s": list(value.shape)}
    flat = numpy.ascontiguousarray(value).reshape(-1)
    found = {
        "h": hashing.digest(flat.view(numpy.uint8) if flat.size else b""),
        "d": dtype,
        "s": list(value.shape),
    }
    if flat.size and value.dtype.kind in "fciub":
        if _sketches is None:
            _sketches = sketch.ArraySketch(numpy)
        found["k"], norm = _sketches.of(flat)
        found["z"] = number(norm)
        if flat.size <= 16:
            wide = flat.view(flat.real.dtype) if value.dtype.kind == "c" else flat
            found["v"] = [number(one) for one in wide.tolist()]
    return found


# ------------------------------------------------------------------------------------------ samples


def samples(batch: list[tuple[int, Callable[[int], Any]]]) -> Optional[list[str]]:
    """One hash a sample, given each leaf of a batch as (length of its first dimension, bytes of
    sample i).

    Leaves as long as the first one are taken together, so that a sample is known with its label.
    None where there are no samples.
    """
    if not batch or not 0 < batch[0][0] <= SAMPLES:
        return None
    parts = [read for length, read in batch if length == batch[0][0]]
    digest = hashing.digest
    if len(parts) == 1:
        read = parts[0]
        return [digest(read(index))[:16] for index in range(batch[0][0])]
    return [
        digest("".join(digest(read(index)) for read in parts).encode())[:16]
        for index in range(batch[0][0])
    ]


def array_rows(value: Any) -> Optional[tuple[int, Callable[[int], Any]]]:
    """A numpy array as a leaf of a batch; None where it has no first dimension."""
    numpy = sys.modules.get("numpy")
    if (
        numpy is None
        or not isinstance(value, numpy.ndarray)
        or not value.ndim
        or value.dtype.hasobject
    ):
        return None
    whole = numpy.ascontiguousarray(value)
    return len(whole), lambda index: whole[index].tobytes()
