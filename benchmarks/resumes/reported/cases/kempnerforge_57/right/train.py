import os

import torch
from data import StatefulLoader
from torch import nn
from torch.utils.data import TensorDataset

torch.manual_seed(0)
inputs = torch.randn(120, 6)
loader = StatefulLoader(TensorDataset(inputs, inputs.sum(1, keepdim=True)), 4)
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
step = 0
if os.path.exists("latest.pt"):
    saved = torch.load("latest.pt")
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    loader.load_state_dict(saved["dataloader"])
    step = saved["step"]
for x, y in loader:
    loss = (model(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 5 == 0:
        state = {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "dataloader": loader.state_dict(),
            "step": step,
        }
        torch.save(state, "latest.pt")
