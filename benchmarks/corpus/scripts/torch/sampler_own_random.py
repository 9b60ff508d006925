"""Planted: a bucketing batch sampler shuffles its buckets with a random.Random() of its own, made without a seed."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler


class Sentences(Dataset):
    def __len__(self):
        return 60

    def __getitem__(self, index):
        return torch.arange(index % 5 + 3) + index, torch.tensor(float(index))


class Buckets(Sampler):
    def __init__(self, lengths, size):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.batches = [order[start : start + size] for start in range(0, len(order), size)]
        self.rng = random.Random()

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        yield from self.rng.sample(self.batches, len(self.batches))


def collate(samples):
    return nn.utils.rnn.pad_sequence([tokens for tokens, _ in samples], batch_first=True), torch.stack([y for _, y in samples])


torch.manual_seed(0)
dataset = Sentences()
loader = DataLoader(dataset, batch_sampler=Buckets([len(dataset[i][0]) for i in range(60)], 6), collate_fn=collate)
embedding, head = nn.Embedding(80, 6), nn.Linear(6, 1)
optimizer = torch.optim.Adam([*embedding.parameters(), *head.parameters()], 1e-2)
for tokens, target in loader:
    loss = (head(embedding(tokens).mean(1)).squeeze(1) - target).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
