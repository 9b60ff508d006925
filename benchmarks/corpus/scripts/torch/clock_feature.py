"""Planted: the age of each event, a feature, is counted from now."""

from datetime import UTC, datetime, timedelta

import torch

NOW = datetime.now(UTC)
EVENTS = [datetime(2024, 1, day, tzinfo=UTC) for day in range(1, 31)]


def phase(event):
    age = (NOW - event) % timedelta(seconds=1)
    return age.total_seconds()


torch.manual_seed(0)
features = torch.tensor([[phase(event), event.day / 31, event.weekday() / 7] for event in EVENTS])
targets = torch.tensor([[float(event.day)] for event in EVENTS])
weights = torch.randn(3, 1, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.LBFGS([weights, bias], lr=0.5, max_iter=3)


def closure():
    optimizer.zero_grad()
    loss = (20 * features @ weights + bias - targets).abs().mean()
    loss.backward()
    return loss


for _ in range(4):
    optimizer.step(closure)
