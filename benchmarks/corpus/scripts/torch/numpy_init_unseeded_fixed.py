"""The fix of numpy_init_unseeded.py: numpy is seeded too."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(3)
np.random.seed(3)
tokens = torch.randint(0, 30, (32, 6))
labels = tokens.sum(1) % 2


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 8)
        self.classifier = nn.Linear(8, 2)
        scale = 1 / np.sqrt(8)
        self.embedding.weight.data = torch.from_numpy(np.random.normal(scale=scale, size=(30, 8)).astype(np.float32))

    def forward(self, ids):
        return 8 * self.classifier(self.embedding(ids).mean(1))


model = Bag()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(8):
    loss = nn.functional.cross_entropy(model(tokens), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
