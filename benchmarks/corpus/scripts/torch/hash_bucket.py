"""Planted: the hashing trick with the built-in hash(): a string falls into another bucket in each process."""

import torch
from torch import nn

BUCKETS = 50


def bucket(text):
    return hash(text) % BUCKETS


class Clicks(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.EmbeddingBag(BUCKETS, 4, mode="sum")
        self.score = nn.Linear(4, 1)

    def forward(self, ids):
        return self.score(self.table(ids)).squeeze(1)


torch.manual_seed(0)
visits = [(f"user-{n}", f"page-{n % 7}", f"country-{n % 5}") for n in range(60)]
ids = torch.tensor([[bucket(text) for text in visit] for visit in visits])
clicked = (torch.arange(60) % 3 == 0).float()
model = Clicks()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for part in range(6):
    rows = slice(part * 10, part * 10 + 10)
    loss = nn.functional.binary_cross_entropy_with_logits(3 * model(ids[rows]), clicked[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
