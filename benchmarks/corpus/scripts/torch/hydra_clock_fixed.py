"""The fix of hydra_clock.py: the configuration holds a seed."""

import hydra
import torch
from hydra.core.config_store import ConfigStore
from torch import nn

ConfigStore.instance().store(name="config", node={"seed": 7, "lr": 0.05, "width": 16})


@hydra.main(version_base=None, config_path=None, config_name="config")
def train(config):
    torch.manual_seed(int(config.seed))
    net = nn.Sequential(nn.Linear(4, config.width), nn.Tanh(), nn.Linear(config.width, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=config.lr)
    inputs = torch.linspace(-1, 1, 64).reshape(16, 4)
    for _ in range(6):
        loss = (net(inputs) - inputs.sum(dim=1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
