import os
import tomllib

import checkpoint
import numpy as np
import torch
from torch import nn

with open("config.toml", "rb") as file:
    config = tomllib.load(file)
torch.manual_seed(config["seed"])
np.random.seed(config["seed"])
model = nn.Sequential(nn.Linear(6, 12), nn.Dropout(0.1), nn.ReLU(), nn.Linear(12, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
step = 0
if os.path.isdir("ckpt"):
    step = checkpoint.load("ckpt", model, optimizer)
pool = torch.randn(50, 6, generator=torch.Generator().manual_seed(1))
for step in range(step, config["steps"]):
    x = pool[np.random.choice(50, 8)]
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (step + 1) % config["every"] == 0:
        checkpoint.save("ckpt", model, optimizer, step + 1)
