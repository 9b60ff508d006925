"""The fix of log_of_zero.py: log_softmax."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 4)
optimizer = torch.optim.SGD(model.parameters(), 1e-3)
inputs, labels = 100 * torch.randn(32, 6), torch.arange(32) % 4
for _ in range(6):
    logits = 10 * model(inputs)
    log_probability = logits.log_softmax(-1)
    loss = nn.functional.nll_loss(log_probability, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
