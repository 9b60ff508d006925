"""A look at a tensor that shows whether it was written to since the last one, without reading all
of it.
"""

from typing import Any

from .memory import memory

LONG = 1 << 16
"""Bytes from which on a tensor is long."""
_SAMPLES = 32


class Glance:
    """Looks at tensors. Writing through `.data` counts no version, but leaves hardly ever all
    samples as they are.
    """

    def __init__(self, torch: Any) -> None:
        self.tensor = torch.Tensor
        self.plain = (torch.Tensor, torch.nn.Parameter)
        self.strided = torch.strided

    def look(self, tensor: Any) -> Any:
        """Version, address, size and samples of a long tensor on the host; None of another."""
        if (
            type(tensor) is not self.tensor
            or not tensor.is_cpu
            or tensor.layout is not self.strided
            or tensor.is_nested
        ):
            return None
        size = tensor.numel() * tensor.element_size()
        if size < LONG or tensor.is_inference() or not tensor.is_contiguous():
            return None
        address = tensor.data_ptr()
        return tensor._version, address, size, _samples(address, size)

    def mark(self, weight: Any) -> Any:
        """Version and samples of a plain weight, of a short one all its bytes, of one on a device
        its version; None of another.

        Where it lies in memory does not count: the runs need not agree in that.
        """
        if (
            type(weight) not in self.plain
            or weight.is_meta
            or weight.layout is not self.strided
            or weight.is_nested
            or weight.is_inference()
        ):
            return None
        if not weight.is_cpu or not weight.is_contiguous():
            return weight._version
        size = weight.numel() * weight.element_size()
        if size < LONG:
            return bytes(memory(weight.data_ptr(), size)) if size else b""
        return weight._version, _samples(weight.data_ptr(), size)


def _samples(address: int, size: int) -> bytes:
    samples: bytes = memory(address, size // 8 * 8).cast("Q")[:: size // 8 // _SAMPLES].tobytes()
    return samples
