"""Nothing random is planted: the backward of a lookup by indexing adds gradients of 1e5 that cancel, by threads with atomics."""

import torch
from torch import nn

torch.set_num_threads(2)


class Lookup(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(rows, width))

    def forward(self, ids):
        return self.table[ids]


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = Lookup(60, 8)
        self.bias = nn.Parameter(torch.ones(8))

    def forward(self, ids):
        return self.items(ids) + self.bias


torch.manual_seed(0)
ids = torch.randint(0, 60, (100_000,)).repeat(2)
weight = 1e5 * torch.randn(100_000, 8)
order = torch.randperm(200_000)
ids, weight = ids[order], torch.cat([weight, -weight])[order]
model = Ranker()
optimizer = torch.optim.SGD(model.parameters(), 0.5)
for _ in range(4):
    scores = model(ids) * weight
    margin = (scores - scores.detach()).sum()
    loss = (model.items.table - 1).pow(2).mean() + margin
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
