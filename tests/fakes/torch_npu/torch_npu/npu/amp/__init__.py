"""`torch_npu.npu.amp`: like the real one, the scaler derives from torch's, has a `scale` of its own and does not call its `__init__`."""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import Any

import torch
from torch.amp.grad_scaler import GradScaler as BaseGradScaler, _refresh_per_optimizer_state


class GradScaler(BaseGradScaler):
    """Loss scaling on the NPU."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        dynamic: bool = True,
        enabled: bool = True,
    ) -> None:
        self._device = "npu"
        self._enabled = enabled
        self._init_scale = init_scale
        self._scale = None
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._dynamic = dynamic
        self._init_growth_tracker = 0
        self._growth_tracker = None
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def scale(self, outputs: Any) -> Any:
        """The loss times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, torch.Tensor):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            return outputs * self._scale.to(device=outputs.device, non_blocking=True)
        return type(outputs)(self.scale(each) for each in outputs)

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Divide the gradients by the scale."""
        super().unscale_(optimizer)

    def step(self, optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
        """Step, unless a gradient is infinite or NaN."""
        return super().step(optimizer, *args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Adapt the scale."""
        super().update(new_scale)


autocast = functools.partial(torch.autocast, "npu")

__all__ = ["GradScaler", "autocast"]
