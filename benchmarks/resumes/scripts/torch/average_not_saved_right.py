"""Keeps an average of the weights in a copy of the model, and saves it."""
import copy
from pathlib import Path

import torch
from torch import nn

CHECKPOINT = Path("last.pt")


class Average:
    """An average of the weights, as many scripts have one of their own."""

    def __init__(self, model):
        self.shadow = copy.deepcopy(model)

    @torch.no_grad()
    def update(self, model):
        for kept, weight in zip(self.shadow.parameters(), model.parameters(), strict=True):
            kept.lerp_(weight, 0.1)


torch.manual_seed(0)
inputs = torch.randn(32, 4)
targets = inputs.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
average = Average(model)
first = 0
if CHECKPOINT.exists():
    saved = torch.load(CHECKPOINT)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    average.shadow.load_state_dict(saved["average"])
    first = saved["step"]
for step in range(first, 40):
    part = slice(step % 4 * 8, step % 4 * 8 + 8)
    loss = (model(inputs[part]) - targets[part]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update(model)
    if step % 4 == 3:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "average": average.shadow.state_dict()}
        torch.save({**state, "step": step + 1}, CHECKPOINT)
print(float(average.shadow(inputs).square().mean()))
