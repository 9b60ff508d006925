"""The fix of missing_keys.py: the head that the checkpoint lacks is drawn from a seeded generator."""

import torch
from torch import nn


class Finetuned(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(9, 18), nn.ReLU(), nn.Linear(18, 18), nn.ReLU())
        self.head = nn.Linear(18, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def published():
    shapes = {"backbone.0.weight": (18, 9), "backbone.0.bias": (18,), "backbone.2.weight": (18, 18), "backbone.2.bias": (18,)}
    return {name: torch.linspace(-0.4, 0.5, torch.Size(shape).numel()).reshape(shape) for name, shape in shapes.items()}


torch.manual_seed(0)
model = Finetuned(5)
model.load_state_dict(published(), strict=False)
inputs, labels = torch.linspace(-2, 2, 360).reshape(40, 9), torch.arange(40) % 5
optimizer = torch.optim.AdamW(model.parameters(), 2e-3)
for _ in range(4):
    for batch, target in zip(inputs.split(10), labels.split(10), strict=True):
        loss = nn.functional.cross_entropy(4 * model(batch), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
