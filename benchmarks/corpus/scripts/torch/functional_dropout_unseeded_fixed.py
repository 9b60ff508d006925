"""The fix of functional_dropout_unseeded.py: the generator keeps its seed."""

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        query, key, value = self.qkv(x).chunk(3, -1)
        scores = (query @ key.mT / x.shape[-1] ** 0.5).softmax(-1)
        return self.out(functional.dropout(scores, 0.4, self.training) @ value)


class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.attend, self.head = nn.Embedding(20, 16), Attention(16), nn.Linear(16, 20)

    def forward(self, ids):
        hidden = self.embed(ids)
        return self.head(4 * (hidden + 4 * self.attend(hidden)))


torch.manual_seed(0)
model, ids = Tiny(), torch.randint(0, 20, (4, 9))
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
for _ in range(8):
    logits = model(ids[:, :-1])
    loss = functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
