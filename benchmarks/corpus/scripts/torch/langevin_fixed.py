"""The fix of langevin.py: the optimizer's generator has a seed."""

import torch
from torch import nn


class Langevin(torch.optim.Optimizer):
    def __init__(self, parameters, lr, temperature):
        super().__init__(parameters, {"lr": lr, "temperature": temperature})
        self.generator = torch.Generator()
        self.generator.manual_seed(0)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            spread = (2 * group["lr"] * group["temperature"]) ** 0.5
            for parameter in group["params"]:
                noise = torch.randn(parameter.shape, generator=self.generator)
                parameter.add_(parameter.grad, alpha=-group["lr"]).add_(noise, alpha=spread)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 1))
inputs = torch.randn(50, 3)
targets = inputs.sum(1, keepdim=True)
optimizer = Langevin(model.parameters(), 0.05, 0.5)
for _ in range(10):
    loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
