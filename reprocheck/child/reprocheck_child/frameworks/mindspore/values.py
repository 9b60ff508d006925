"""Reads losses and weights of MindSpore as host values.

A loss keeps every bit in its own dtype; of weights checksums are taken around an update.
"""

import math
import zlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from ...deep_levels import leaves
from ...host import fingerprint
from ...recorder.lines import whole_or_float

_crc32, _fsum = zlib.crc32, math.fsum

Reading = Callable[[bool], Tuple[List[float], Any]]


class Values:
    """The values of tensors, and the losses before scaling until their gradient is computed."""

    KEPT = 16

    def __init__(self, mindspore: Any) -> None:
        self.tensor = mindspore.Tensor
        # id of the scaled tensor -> (it, the loss before scaling)
        self.unscaled: Dict[int, Tuple[Any, Any]] = {}
        self._names: Dict[Any, str] = {}

    def dtype(self, tensor: Any) -> str:
        """Return the name of the dtype in the spelling of numpy: `float32`, `bfloat16`."""
        name = self._names.get(tensor.dtype)
        if name is None:
            name = self._names[tensor.dtype] = str(tensor.dtype).rsplit(".", 1)[-1].lower()
        return name

    def tensors(self, output: Any, depth: int = 4) -> List[Any]:
        """Return the floating-point tensors in an output, in order.

        It is a tensor, or nested tuples, lists and dictionaries.
        """
        if isinstance(output, self.tensor):
            return [output] if "float" in self.dtype(output) else []
        if isinstance(output, dict):
            output = list(output.values())
        if not depth or not isinstance(output, (list, tuple)):
            return []
        return [tensor for item in output for tensor in self.tensors(item, depth - 1)]

    def first(self, output: Any) -> List[Any]:
        """Return the first floating-point tensor of an output in a list; empty for none."""
        return self.tensors(output)[:1]

    def scalar_first(self, output: Any) -> List[Any]:
        """Return the same as `first`, but prefer a tensor of one element.

        A step function may return predictions and loss in any order.
        """
        tensors = self.tensors(output)
        tensors.sort(key=lambda tensor: tensor.size != 1)  # stable: scalars come first
        return tensors[:1]

    def remember_unscaled(self, outputs: Any, scaled: Any) -> None:
        """Remember the losses before (`outputs`) and after (`scaled`) a loss scaler.

        Both are tensors, or tuples of tensors.
        """
        for output, scaled_output in zip(self.tensors(outputs), self.tensors(scaled)):
            while len(self.unscaled) >= self.KEPT:
                del self.unscaled[next(iter(self.unscaled))]
            self.unscaled[id(scaled_output)] = (scaled_output, output)

    def before_scaling(self, tensor: Any) -> Any:
        """Return the loss that `tensor` was scaled from, or `tensor`."""
        if not self.unscaled:
            return tensor
        scaled, unscaled = self.unscaled.pop(id(tensor), (None, None))
        return unscaled if scaled is tensor else tensor

    def read(self, tensor: Any, scale: float = 1.0) -> float:
        """Return the value of a tensor of one element with every bit.

        For a larger tensor, it is the exactly rounded float64 sum of its elements.
        """
        # `item` costs a thirtieth of `asnumpy`
        alone = tensor.size == 1
        value: Any = whole_or_float(tensor.item()) if alone else total(tensor.asnumpy())
        if scale == 1.0:  # a division would make a double of an integer
            return value
        return value / scale

    def later(self, tensors: Sequence[Any], dtypes: Any, scale: float = 1.0) -> Reading:
        """Return a reading, which reads device tensors when it is called.

        It raises RuntimeError if one was changed in place by then.
        """
        tensors = list(tensors)
        versions = _versions(tensors)

        def read(wait: bool) -> Tuple[List[float], Any]:
            if _versions(tensors) != versions:
                raise RuntimeError("a loss was changed in place before it was read")
            return [self.read(tensor, scale) for tensor in tensors], dtypes

        return read


def _versions(tensors: Sequence[Any]) -> List[Any]:
    # `_version` counts the writes in place; None in versions of MindSpore that have no such number
    return [getattr(tensor, "_version", None) for tensor in tensors]


def listed(value: Any) -> List[Any]:
    """Return what a function takes or returns as a list, be it one value or several."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def total(array: Any) -> float:
    """Return the sum of a numpy array's elements in float64, rounded once.

    Infinities and NaN are added as IEEE 754 says.
    """
    # bfloat16 among them, which MindSpore registers with numpy
    numbers = array.reshape(-1).astype("float64").tolist()
    try:
        return _fsum(numbers)
    except (OverflowError, ValueError):  # inf - inf, or a partial sum out of range
        return float(sum(numbers))


def checksums(parameters: Any) -> Optional[List[int]]:
    """Return the CRC-32 of the bytes of each parameter.

    None where one has no data yet (it is filled when the graph is compiled).
    """
    parameters = list(parameters)
    if any(getattr(parameter, "has_init", False) for parameter in parameters):
        return None
    return list(map(_checksum, parameters))


def changed(parameters: Any, before: Optional[Sequence[int]]) -> Optional[bool]:
    """Return whether any parameter's checksum has changed; None if a checksum is unknown.

    It stops at the first parameter that has changed.
    """
    parameters = list(parameters)
    if not parameters or before is None or len(parameters) != len(before):
        return None
    return any(_checksum(parameter) != old for parameter, old in zip(parameters, before))


def _checksum(parameter: Any) -> int:
    array = parameter.asnumpy()
    if not array.size:  # numpy refuses a view of nothing
        return 0
    if not array.flags["C_CONTIGUOUS"]:
        array = array.copy()
    return _crc32(array.reshape(-1).view("uint8"))


DEPTH = 8
UNFILLED = "its values are made when the graph is compiled"


class Fingerprints(fingerprint.Fingerprints):
    """The fingerprints of tensors and of values that hold tensors.

    Its methods never raise.
    """

    PARTS = {
        "COOTensor": ("values", "indices"),
        "CSRTensor": ("values", "indices", "indptr"),
        "RowTensor": ("values", "indices"),
    }

    def __init__(self, mindspore: Any, deep: Any) -> None:
        super().__init__(deep)
        self.tensor = mindspore.Tensor

    def is_tensor(self, value: Any) -> bool:
        """Return whether a value is a tensor of MindSpore, dense or sparse."""
        return isinstance(value, self.tensor) or type(value).__name__ in self.PARTS

    def array(self, value: Any) -> Any:
        """Return a dense tensor as an array of numpy; anything else as it is."""
        return value.asnumpy() if isinstance(value, self.tensor) else value

    def read(self, tensor: Any) -> fingerprint.Fingerprint:
        """Return the fingerprint of a tensor or array; no hash if it has no values yet."""
        # a tensor with `has_init` holds a recipe: its values are drawn when they are asked for
        if getattr(tensor, "has_init", False):
            self.deep.unrecorded(str(getattr(tensor, "name", "a tensor")), UNFILLED)
            return self.unread(tensor)
        return super().read(tensor)

    def tensors(self, value: Any, path: str = "", depth: int = DEPTH) -> Iterator[Tuple[str, Any]]:
        """Yield the dense tensors in nested tuples, lists and dictionaries, with their paths."""
        if isinstance(value, self.tensor):
            yield path, value
            return
        if not depth or not isinstance(value, (list, tuple, dict)):
            return
        for name, part in leaves.parts(value) or ():
            yield from self.tensors(part, leaves.below(path, name), depth - 1)
