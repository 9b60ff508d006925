"""Fingerprints of JAX arrays, read through host memory: exact hash, sketch, norm, small values; and
names of leaves of pytrees.

An array of JAX never changes, so each is read once and its fingerprint kept as long as the array
lives.
"""

import inspect
import re
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple

from ... import hashing, leaves, sketch

Fingerprint = Dict[str, Any]
_WRAPPINGS = re.compile(r"\.(states\[\d+\]|value|raw_value|get_raw_value\(\))(?=$|[.\[])")
"""What flax puts around the arrays of a module: no name of the user's."""


class Fingerprints:
    """Reads arrays and other leaves. Never raises."""

    def __init__(self, jax: Any, deep: Any) -> None:
        import numpy

        self.jax = jax
        self.numpy = numpy
        self.deep = deep
        # id of an array -> (weak reference, fingerprint)
        self.known: Dict[int, Tuple[Any, Fingerprint]] = {}
        self._announced = False

    def forked(self) -> None:
        """The file of a forked process names the algorithms again."""
        self._announced = False

    def announce(self) -> None:
        """Name the algorithms, before the first fingerprint."""
        if not self._announced:
            self._announced = True
            self.deep.recorder.emit(
                {"e": "fingerprints", "hash": hashing.NAME, "sketch": sketch.NAME}
            )

    def of(self, value: Any) -> Fingerprint:
        """The fingerprint of an array, a plain value as it is, type of anything else; without a
        hash where it cannot be read.
        """
        self.announce()
        try:
            if isinstance(value, self.jax.Array):
                return self._of_array(value)
            return leaves.plain(value) or {"h": "", "d": leaves.type_name(value)}
        except Exception as error:
            self.deep.unrecorded(
                "a value of class " + type(value).__name__, "it could not be read: %r" % error
            )
            return {
                "h": "",
                "d": str(getattr(value, "dtype", "")),
                "s": [int(size) for size in getattr(value, "shape", ())],
            }

    def _of_array(self, array: Any) -> Fingerprint:
        reference, found = self.known.get(id(array), (None, {}))
        if reference is not None and reference() is array:
            return found
        key, known = id(array), self.known
        found = self._read(array)
        known[key] = (weakref.ref(array, lambda _: known.pop(key, None)), found)
        return found

    def _read(self, array: Any) -> Fingerprint:
        dtype = str(array.dtype)
        if not array.is_fully_addressable:
            digests = [self.host(shard.data) for shard in array.addressable_shards]
            joined = "".join(
                hashing.digest(self.numpy.ascontiguousarray(one).reshape(-1).view("uint8"))
                for one in digests
            )
            return {"h": hashing.digest(joined.encode()), "d": dtype, "s": list(array.shape)}
        host = self.host(array)
        if host.dtype.kind != "V":
            found = leaves.array(host)
        else:  # bfloat16 and its relatives: floats of less than 32 bits
            flat = self.numpy.ascontiguousarray(host).reshape(-1)
            found = leaves.array(flat.astype("float32"))
            found["h"] = hashing.digest(flat.view("uint8") if flat.size else b"")
        found.update(d=dtype, s=list(array.shape))
        device = next(iter(array.devices()), None)
        if device is not None and device.platform != "cpu":
            found["dev"] = "%s:%d" % (device.platform, device.id)
        return found

    def host(self, array: Any) -> Any:
        """The array as numpy has it; of a key the numbers behind it."""
        if self.is_key(array):
            array = self.jax.random.key_data(array)
        return self.numpy.asarray(array)

    def is_key(self, leaf: Any) -> bool:
        """Whether a leaf is a typed key of `jax.random`."""
        dtype = getattr(leaf, "dtype", None)
        return dtype is not None and self.jax.dtypes.issubdtype(dtype, self.jax.dtypes.prng_key)

    def is_array(self, leaf: Any) -> bool:
        """Whether a leaf is an array of JAX or numpy, of whatever shape."""
        return isinstance(leaf, (self.jax.Array, self.numpy.ndarray, self.numpy.generic))

    def rows(self, array: Any) -> Optional[Tuple[int, Callable[[int], Any]]]:
        """The samples of an array as they are told apart, read now: a call may destroy the
        array.
        """
        try:
            found = leaves.array_rows(self.host(array))
            if found is None or found[0] > leaves.SAMPLES:
                return None
            length, read = found
            digests = [hashing.digest(read(number)).encode() for number in range(length)]
            return length, digests.__getitem__
        except Exception as error:
            self.deep.unrecorded("samples of a batch", repr(error))
            return None


def flat(jax: Any, value: Any) -> List[Tuple[Tuple[Any, ...], Any]]:
    """Leaves of a pytree with their key paths."""
    return list(jax.tree_util.tree_flatten_with_path(value)[0])


def named(jax: Any, path: Tuple[Any, ...], names: List[str]) -> str:
    """`params['dense']['kernel']`: the path of a leaf of `(args, kwargs)`, the argument by its
    name.
    """
    where = getattr(path[0], "idx", 0) if path else 0
    rest = path[1:]
    if not rest:
        return "argument"
    head = rest[0]
    if where == 0:
        number = getattr(head, "idx", 0)
        first = names[number] if number < len(names) else "argument %d" % number
    else:
        first = str(getattr(head, "key", head))
    return first + shown(jax, rest[1:])


def shown(jax: Any, path: Tuple[Any, ...]) -> str:
    """A path within a pytree as the user would write it."""
    return _WRAPPINGS.sub("", str(jax.tree_util.keystr(path)))


def parameters(function: Any) -> List[str]:
    """Names of the positional parameters of a function; those of `*args` are numbered.

    Empty where they are not known.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    names: List[str] = []
    for one in signature.parameters.values():
        if one.kind is one.VAR_POSITIONAL:
            names += ["%s[%d]" % (one.name, number) for number in range(64)]
        elif one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD):
            names.append(one.name)
    return names


def title(function: Any) -> str:
    """The name of a function as its user knows it."""
    for _ in range(8):
        name = getattr(function, "__name__", "")
        if name and name != "<lambda>":
            return str(name)
        inner = getattr(function, "func", None) or getattr(function, "__wrapped__", None)
        if inner is None:
            return "a lambda" if name else type(function).__name__
        function = inner
    return type(function).__name__
