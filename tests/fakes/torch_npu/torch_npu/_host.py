"""Pinned host memory, which torch refuses without a real accelerator: ordinary memory with a mark."""

from __future__ import annotations

import functools
from typing import Any

import torch


def install() -> None:
    """Let `torch.empty(…, pin_memory=True)`, `tensor.pin_memory()` and `tensor.is_pinned()` work."""
    real_empty = torch.empty

    @functools.wraps(real_empty)
    def empty(*args: Any, pin_memory: bool = False, **kwargs: Any) -> torch.Tensor:
        tensor = real_empty(*args, **kwargs)
        if pin_memory:
            tensor.fake_pinned = True
        return tensor

    def pin_memory(self: torch.Tensor, device: Any = None) -> torch.Tensor:
        pinned = self.clone()
        pinned.fake_pinned = True
        return pinned

    torch.empty = empty
    torch.Tensor.pin_memory = pin_memory
    torch.Tensor.is_pinned = lambda self, device=None: getattr(self, "fake_pinned", False)
