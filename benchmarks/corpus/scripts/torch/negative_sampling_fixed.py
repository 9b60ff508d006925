"""The fix of negative_sampling.py: the negative words come from a seeded Random."""

import random

import torch
from torch import nn

WORDS = 40


class SkipGram(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.centre, self.context = nn.Embedding(WORDS, width), nn.Embedding(WORDS, width)

    def forward(self, centre, positive, negative):
        vector = self.centre(centre)
        near = (vector * self.context(positive)).sum(-1)
        far = (vector[:, None] * self.context(negative)).sum(-1)
        return -(nn.functional.logsigmoid(near).mean() + nn.functional.logsigmoid(-far).sum(1).mean())


class Sampler:
    def __init__(self):
        self.random = random.Random(9)

    def draw(self, rows, count):
        return torch.tensor([self.random.choices(range(WORDS), k=count) for _ in range(rows)])


torch.manual_seed(0)
centre = torch.arange(40)
positive, sampler, model = (centre + 1) % WORDS, Sampler(), SkipGram(12)
optimizer = torch.optim.Adam(model.parameters(), 0.02)
for _ in range(4):
    for part in torch.arange(40).split(10):
        loss = model(centre[part], positive[part], sampler.draw(len(part), 5))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
