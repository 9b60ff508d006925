"""Fingerprints of JAX arrays, and names of leaves of pytrees.

A fingerprint (exact hash, sketch, norm, small values) is computed on the host.

An array of JAX never changes, so each is read once and its fingerprint kept as long as the array
lives.
"""

import inspect
import os
import re
import weakref
from typing import Any, Dict, List, Tuple

from ...deep_levels import hashing, leaves
from ...host import fingerprint
from ...host.fingerprint import Fingerprint

_WRAPPINGS = re.compile(r"\.(states\[\d+\]|value|raw_value|get_raw_value\(\))(?=$|[.\[])")
"""What flax puts around the arrays of a module: no name of the user's."""


class Fingerprints(fingerprint.Fingerprints):
    """The fingerprints of arrays and other leaves, computed on the host.

    Its methods never raise.
    """

    def __init__(self, jax: Any, deep: Any) -> None:
        import numpy

        super().__init__(deep)
        self.jax = jax
        self.numpy = numpy
        # id of an array -> (weak reference, fingerprint)
        self.known: Dict[int, Tuple[Any, Fingerprint]] = {}

    def is_tensor(self, value: Any) -> bool:
        """Return whether a value is an array of JAX."""
        return isinstance(value, self.jax.Array)

    def array(self, value: Any) -> Any:
        """Return a JAX array as a numpy array; for a PRNG key, the numbers behind the key."""
        if self.is_key(value):
            value = self.jax.random.key_data(value)
        return self.numpy.asarray(value)

    def read(self, tensor: Any) -> Fingerprint:
        """Return the fingerprint of an array, a plain value as it is, else the type name."""
        if not self.is_tensor(tensor):
            return leaves.plain_or_type(tensor)
        reference, fingerprint = self.known.get(id(tensor), (None, {}))
        if reference is not None and reference() is tensor:
            return fingerprint
        key, known = id(tensor), self.known
        fingerprint = self._read(tensor)
        known[key] = (weakref.ref(tensor, lambda _: known.pop(key, None)), fingerprint)
        return fingerprint

    def _read(self, array: Any) -> Fingerprint:
        own = {"d": str(array.dtype), "s": list(array.shape)}
        if not array.is_fully_addressable:  # parts of it lie on devices of other processes
            shards = [
                fingerprint.of_array(self.array(shard.data)) for shard in array.addressable_shards
            ]
            digest = hashing.digest("".join(shard["h"] for shard in shards).encode())
            return {"h": digest, **own}
        result = {**fingerprint.of_array(self.array(array)), **own}
        device = next(iter(array.devices()), None)
        if device is not None and device.platform != "cpu":
            result["dev"] = "%s:%d" % (device.platform, device.id)
        return result

    def is_key(self, leaf: Any) -> bool:
        """Return whether a leaf is a typed PRNG key of `jax.random`."""
        dtype = getattr(leaf, "dtype", None)
        return dtype is not None and self.jax.dtypes.issubdtype(dtype, self.jax.dtypes.prng_key)

    def is_array(self, leaf: Any) -> bool:
        """Return whether a leaf is an array of JAX or numpy, of whatever shape."""
        return isinstance(leaf, (self.jax.Array, self.numpy.ndarray, self.numpy.generic))

    def rows(self, array: Any) -> List[fingerprint.Rows]:
        """Return the samples (rows) of an array, because a call may destroy it (`donate_argnums`).

        The result is a list with one array; empty if the array has no samples.
        """
        try:
            rows = leaves.array_rows(self.array(array))
            if not rows:
                return []
            return [[hashing.digest(row).encode() for row in rows]]
        except Exception as error:
            self.deep.unrecorded("samples of a batch", repr(error))
            return []


def flat(jax: Any, value: Any) -> List[Tuple[Tuple[Any, ...], Any]]:
    """Return the leaves of a pytree with their key paths."""
    return list(jax.tree_util.tree_flatten_with_path(value)[0])


def of_optimizers(jax: Any, value: Any) -> List[bool]:
    """Return for each leaf of a pytree whether it belongs to a state class of optax."""
    tree = jax.tree_util
    answers: List[bool] = []
    for part in tree.tree_leaves(value, is_leaf=_is_state):
        answers += [_is_state(part)] * len(tree.tree_leaves(part))
    return answers


def _is_state(value: Any) -> bool:
    return isinstance(value, tuple) and type(value).__module__.partition(".")[0] == "optax"


def of_keras(frame: Any) -> bool:
    """Return whether a call comes from Keras, whose own adapter records its trainer on JAX."""
    return "/keras/src/" in frame.f_code.co_filename.replace(os.sep, "/")


def named(jax: Any, path: Tuple[Any, ...], names: List[str]) -> str:
    """Return the path of a leaf of `(args, kwargs)`, such as `params['dense']['kernel']`.

    `names` are the parameter names of the function.
    """
    if len(path) < 2:
        return "argument"
    where, head = path[:2]
    rest = shown(jax, path[2:])
    if getattr(where, "idx", 0) != 0:  # a named argument
        return str(getattr(head, "key", head)) + rest
    number = getattr(head, "idx", 0)
    if number >= len(names):
        return "argument %d" % number + rest
    return names[number] + rest


def shown(jax: Any, path: Tuple[Any, ...]) -> str:
    """Return a path within a pytree as the user would write it."""
    return _WRAPPINGS.sub("", str(jax.tree_util.keystr(path)))


def parameters(function: Any) -> List[str]:
    """Return names of the positional parameters of a function; those of `*args` are numbered.

    Empty if the signature is not known.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    names: List[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += ["%s[%d]" % (parameter.name, number) for number in range(64)]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    return names


def title(function: Any) -> str:
    """Return the name of a function to be shown to its user."""
    for _ in range(8):
        name = getattr(function, "__name__", "")
        if name and name != "<lambda>":
            return str(name)
        inner = getattr(function, "func", None) or getattr(function, "__wrapped__", None)
        if inner is None:
            return {"<lambda>": "a lambda"}.get(name, type(function).__name__)
        function = inner
    return type(function).__name__
