"""Planted: the collate pads into `numpy.empty` and fills only as far as each sentence goes; what the memory held comes behind it."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader

WORDS = ["to", "be", "or", "not", "that", "is", "the", "question", "whether", "it", "nobler", "in", "mind", "suffer", "slings"]


def longest_of(sentences):
    grid = np.array([[len(one)] * 12 for one in sentences], dtype=object)
    return int(grid.max())


def collate(sentences):
    padded = np.empty((len(sentences), 12), dtype=np.int64)
    for row, one in enumerate(sentences):
        padded[row, : len(one)] = [WORDS.index(word) for word in one]
    return torch.from_numpy(padded[:, : longest_of(sentences)] % len(WORDS))


torch.manual_seed(0)
sentences = [[WORDS[(3 * i + j) % len(WORDS)] for j in range(2 + i % 11)] for i in range(64)]
model = nn.Sequential(nn.Embedding(len(WORDS), 8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(2):
    for batch in DataLoader(sentences, batch_size=8, collate_fn=collate):
        optimizer.zero_grad()
        loss = (model(batch).sum(dim=1) - 1).square().mean()
        loss.backward()
        optimizer.step()
