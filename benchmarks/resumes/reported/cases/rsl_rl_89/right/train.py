import glob
import os

import torch
from policy import Policy
from torch import nn

torch.manual_seed(1)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
iteration = 0
models = sorted(glob.glob("logs/model_*.pt"))
if models:
    loaded = torch.load(models[-1])
    policy.load_state_dict(loaded["model_state_dict"])
    optimizer.load_state_dict(loaded["optimizer_state_dict"])
    iteration = loaded["iter"]
while iteration < 20:
    observations = 3 + torch.randn(16, 4, generator=torch.Generator().manual_seed(iteration))
    loss = nn.functional.cross_entropy(policy(observations), (observations[:, 0] > 3).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    iteration += 1
    if iteration % 5 == 0:
        os.makedirs("logs", exist_ok=True)
        torch.save(
            {
                "model_state_dict": policy.state_dict(),
                "optimizer_state_dict": optimizer.state_dict(),
                "iter": iteration,
            },
            f"logs/model_{iteration:03}.pt",
        )
