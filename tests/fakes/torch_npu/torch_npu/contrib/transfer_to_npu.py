"""Importing this sends CUDA scripts to the NPU: `.cuda()`, `.to("cuda")`, `device="cuda"` and `torch.cuda.*`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from torch_npu import npu

# fmt: off
_SAME_IN_CUDA = (
    "is_available", "device_count", "current_device", "set_device", "synchronize", "manual_seed", "manual_seed_all", "get_rng_state",
    "empty_cache",
)
_FACTORIES = ("empty", "zeros", "ones", "full", "tensor", "arange", "rand", "randn", "randint", "randperm")
# fmt: on


def _translated(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("cuda"):
        return "npu" + value[4:]
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("npu", value.index)
    return value


def _translating(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(
            *map(_translated, args), **{key: _translated(value) for key, value in kwargs.items()}
        )

    return wrapper


def _install() -> None:
    for name in _SAME_IN_CUDA:
        setattr(torch.cuda, name, getattr(npu, name))
    for name in _FACTORIES:
        setattr(torch, name, _translating(getattr(torch, name)))
    for owner in (torch.Tensor, torch.nn.Module):
        owner.to = _translating(owner.to)
        owner.cuda = lambda self, device=None, **_: self.npu(_translated(device))
    torch.autocast = _autocast(torch.autocast)


def _autocast(real: Any) -> Any:
    return lambda device_type, *args, **kwargs: real(_translated(device_type), *args, **kwargs)


_install()
