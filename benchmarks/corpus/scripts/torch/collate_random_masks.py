"""Planted: the collate function masks tokens for a language model from a generator that nobody seeds."""

import torch
from torch import nn
from torch.utils.data import DataLoader


class Masking:
    def __init__(self, share):
        self.share = share
        self.generator = torch.Generator()
        self.generator.seed()

    def __call__(self, samples):
        tokens = torch.stack(samples)
        hidden = torch.rand(tokens.shape, generator=self.generator) < self.share
        return tokens.masked_fill(hidden, 0), tokens


torch.manual_seed(0)
corpus = [torch.arange(start, start + 8) % 29 + 1 for start in range(64)]
loader = DataLoader(corpus, batch_size=8, collate_fn=Masking(0.3))
embed = nn.Embedding(30, 12)
mixer = nn.TransformerEncoderLayer(12, 2, 24, dropout=0.0, batch_first=True)
head = nn.Linear(12, 30)
model = nn.Sequential(embed, mixer, head)
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
for masked, tokens in loader:
    loss = nn.functional.cross_entropy(6 * model(masked).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
