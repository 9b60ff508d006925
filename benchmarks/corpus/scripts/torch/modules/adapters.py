"""Low-rank adapters around the linear layers of a model, for reported_adapter_before_trainer.py and its twin."""

import torch
from torch import nn


class LoraLinear(nn.Module):
    def __init__(self, base: nn.Linear, rank: int, scale: float) -> None:
        super().__init__()
        self.base, self.scale = base.requires_grad_(False), scale
        self.lora_a = nn.Linear(base.in_features, rank, bias=False)
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.scale * self.lora_a(x) @ self.lora_b.T


def get_adapted(model: nn.Module, targets: tuple[str, ...], rank: int = 4, scale: float = 8.0) -> nn.Module:
    for name in targets:
        setattr(model, name, LoraLinear(getattr(model, name), rank, scale))
    return model
