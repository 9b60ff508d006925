"""The fix of resumes_by_itself.py: it resumes only when it is told to."""

import sys
from pathlib import Path

import torch
from torch import nn


class Trainer:
    latest = Path("checkpoints/latest.pt")

    def __init__(self):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
        self.optimizer = torch.optim.Adam(self.model.parameters(), 0.02)
        self.step = 0
        if "--resume" in sys.argv:
            self.restore(torch.load(self.latest))

    def restore(self, state):
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step = state["step"]

    def save(self):
        self.latest.parent.mkdir(exist_ok=True)
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "step": self.step}, self.latest)

    def fit(self, inputs, targets, steps):
        for _ in range(steps):
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(inputs), targets)
            loss.backward()
            self.optimizer.step()
            self.step += 1
            self.save()


grid = torch.linspace(-1, 1, 90).reshape(30, 3)
Trainer().fit(grid, 5 * grid.abs().sum(1, keepdim=True), 10)
