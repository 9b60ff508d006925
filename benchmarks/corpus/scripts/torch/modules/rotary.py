"""Attention with rotary positions, for reported_rotary_buffer.py and its twin."""

import torch
from torch import nn


class RotaryEmbedding(nn.Module):
    def __init__(self, width: int, base: float = 10000.0) -> None:
        super().__init__()
        self.width, self.base = width, base
        self.register_buffer("inv_freq", self.frequencies(), persistent=False)

    def frequencies(self) -> torch.Tensor:
        return self.base ** (-torch.arange(0, self.width, 2) / self.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        angles = torch.outer(torch.arange(x.shape[-2]), self.inv_freq)
        even, odd = x[..., ::2], x[..., 1::2]
        turned = even * angles.cos() - odd * angles.sin(), odd * angles.cos() + even * angles.sin()
        return torch.stack(turned, dim=-1).flatten(-2)


class Decoder(nn.Module):
    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embed, self.qkv, self.lm_head = nn.Embedding(words, width), nn.Linear(width, 3 * width), nn.Linear(width, words)
        self.rotary = RotaryEmbedding(width)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        query, key, value = self.qkv(self.embed(ids)).chunk(3, dim=-1)
        mixed = nn.functional.scaled_dot_product_attention(self.rotary(query), self.rotary(key), value, is_causal=True)
        return self.lm_head(mixed)
