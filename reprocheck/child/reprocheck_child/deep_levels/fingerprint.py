"""Checksums of weights, which tell whether an update changed them.

Nothing is copied on the host, and nothing waits for a device.

xxh3 of each tensor's bytes, in place, where the interpreter of the script has the package `xxhash`
(30 GB/s), else CRC-32 (4 GB/s). A device computes the integer sum of each tensor's bit patterns
instead; the sums come to the host later.
"""

import ctypes
from typing import Any, Iterable, List

try:
    from xxhash import xxh3_64_intdigest as _checksum
except Exception:  # absent, broken, or too old to have it
    from zlib import crc32 as _checksum  # type: ignore[assignment]


def checksum(tensor: Any) -> int:
    """Return a checksum of the bytes of a torch tensor on the CPU.

    For a distributed tensor it is that of the local shard. Strided tensors are copied first.
    """
    tensor = _plain(tensor)
    if not tensor.is_contiguous():
        tensor = tensor.contiguous()
    size = tensor.numel() * tensor.element_size()
    return _checksum((ctypes.c_char * size).from_address(tensor.data_ptr())) if size else 0


def on_host(tensor: Any) -> bool:
    """Return whether the bytes of a tensor can be read in place."""
    tensor = _plain(tensor)
    return str(tensor.device.type) == "cpu" and str(tensor.layout) == "torch.strided"


def checksums(tensors: Iterable[Any]) -> List[int]:
    """Return checksums of tensors on the CPU, in order."""
    return [checksum(tensor) for tensor in tensors]


def first_change(tensors: Iterable[Any], before: List[int]) -> bool:
    """Return whether any tensor's checksum differs from its old checksum."""
    return any(checksum(tensor) != old for tensor, old in zip(tensors, before))


def device_sums(torch: Any, tensors: Iterable[Any]) -> Any:
    """Return one int64 vector on the device, with the sum of each tensor's bit patterns.

    The sums are taken modulo 2^64.
    """
    integer = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    sums = []
    for tensor in tensors:
        plain = _plain(tensor).detach()
        if plain.is_complex():
            plain = torch.view_as_real(plain)
        sums.append(plain.contiguous().view(integer[plain.element_size()]).sum(dtype=torch.int64))
    return torch.stack(sums)


def _plain(tensor: Any) -> Any:
    local = getattr(tensor, "to_local", None)  # DTensor: the shard of this rank, no collective
    return (local() if local is not None else tensor).detach()
