"""Planted: the logarithm of a probability that underflows to zero makes the loss infinite and the gradients NaN, in every run."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 4)
optimizer = torch.optim.SGD(model.parameters(), 1e-3)
inputs, labels = 100 * torch.randn(32, 6), torch.arange(32) % 4
for _ in range(6):
    logits = 10 * model(inputs)
    log_probability = logits.softmax(-1).log()
    loss = nn.functional.nll_loss(log_probability, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
