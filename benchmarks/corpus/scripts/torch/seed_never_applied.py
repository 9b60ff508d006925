"""Planted: the configuration holds a seed that the trainer never applies: the encoder's first weights are the generator's choice."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    seed: int = 7
    width: int = 24
    steps: int = 8


class Trainer:
    def __init__(self, config):
        self.config = config
        self.model = nn.ModuleDict({"encoder": nn.Linear(5, config.width), "head": nn.Linear(config.width, 1)})
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3)
        self.criterion = nn.MSELoss()

    def forward(self, inputs):
        return self.model["head"](torch.relu(self.model["encoder"](inputs)))

    def train_step(self, inputs, targets):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.criterion(self.forward(inputs), targets)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, inputs, targets):
        for step in range(self.config.steps):
            print(step, self.train_step(inputs, targets))


if __name__ == "__main__":
    grid = torch.linspace(-2, 2, 200).reshape(40, 5)
    Trainer(Config()).fit(grid, 3 * grid.sum(1, keepdim=True).cos())
