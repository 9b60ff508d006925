"""Device memory: an `npu` tensor is an empty PrivateUse1 tensor whose storage object carries the CPU tensor with its values."""

from __future__ import annotations

import torch


def is_npu(value: object) -> bool:
    """Whether the value is a tensor on the fake device."""
    return isinstance(value, torch.Tensor) and value.device.type == "npu"


def to_npu(values: torch.Tensor) -> torch.Tensor:
    """A new device tensor over this CPU tensor, which it shares: a view on the host is a view on the device."""
    tensor = torch._C._acc.create_empty_tensor(tuple(values.shape), values.dtype)
    tensor.__class__ = _Plain
    tensor.untyped_storage().host = values
    return tensor


def host(tensor: torch.Tensor) -> torch.Tensor:
    """The CPU tensor behind a device tensor."""
    storage = tensor.untyped_storage()
    if not hasattr(storage, "host"):
        storage.host = torch.empty(tuple(tensor.shape), dtype=tensor.dtype)
    values = storage.host
    return values if values.shape == tensor.shape else values.reshape(tensor.shape)


class _Plain(torch.Tensor):
    """Plain tensor behaviour for tensors that Python made: no `__torch_function__`."""

    __torch_function__ = torch._C._disabled_torch_function_impl
