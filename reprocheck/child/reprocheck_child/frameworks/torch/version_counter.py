"""Finds whether a tensor was written to since the last look, without reading the whole tensor."""

from typing import Any

from .memory import memory

LONG = 1 << 16
"""Bytes from which on a tensor is long."""
_SAMPLES = 32


class Glance:
    """A look at a tensor that shows whether it was written to: its version and some elements.

    Writing through `.data` does not change the version, but nearly always one of these elements.
    """

    def __init__(self, torch: Any) -> None:
        self.tensor = torch.Tensor
        self.plain = (torch.Tensor, torch.nn.Parameter)
        self.strided = torch.strided

    def look(self, tensor: Any) -> Any:
        """Return version, address, size, some elements of a long host tensor, else None."""
        # Called for each tensor that a module takes or returns: what is asked first costs least,
        # and a tensor of another kind may not even have what is asked below.
        if type(tensor) is not self.tensor:
            return None
        if tensor.layout is not self.strided or tensor.is_nested:
            return None
        if not tensor.is_cpu:
            return None
        size = tensor.numel() * tensor.element_size()
        if size < LONG:
            return None
        if tensor.is_inference() or not tensor.is_contiguous():
            return None
        address = tensor.data_ptr()
        # `_version` is the counter by which autograd finds out that a saved tensor was modified in
        # place. Nothing public says it. Tensors of inference mode have none: asking raises.
        return tensor._version, address, size, _samples(address, size)

    def mark(self, weight: Any) -> Any:
        """Return a mark of a plain weight that changes with a write; None for other tensors.

        It is the version with some elements, for a short weight all its bytes, on a device the
        version.

        The address in memory is left out, because it may differ between runs.
        """
        if type(weight) not in self.plain:
            return None
        if weight.is_meta or weight.is_inference():
            return None  # no values, or no version (see `look`)
        if weight.layout is not self.strided or weight.is_nested:
            return None
        if not weight.is_cpu or not weight.is_contiguous():
            return weight._version
        size = weight.numel() * weight.element_size()
        if size < LONG:  # all of it: that also shows what wrote through `.data`
            return bytes(memory(weight.data_ptr(), size))
        return weight._version, _samples(weight.data_ptr(), size)


def _samples(address: int, size: int) -> bytes:
    words = size // 8
    samples: bytes = memory(address, words * 8).cast("Q")[:: words // _SAMPLES].tobytes()
    return samples
