"""Draws each batch while the one before is trained with, and saves the one that is due."""
import os
import torch
from torch import nn

torch.manual_seed(0)
text = torch.arange(600) * 7 % 31
net = nn.Sequential(nn.Embedding(31, 8), nn.Dropout(0.2), nn.Linear(8, 31))
opt = torch.optim.AdamW(net.parameters(), 0.01)


def draw():
    at = torch.randint(0, 590, (4,))
    rows = torch.stack([text[i : i + 9] for i in at])
    return rows[:, :-1], rows[:, 1:]


def loss_of(batch):
    return nn.functional.cross_entropy(net(batch[0]).flatten(0, 1), batch[1].flatten())


first, state = 0, None
if os.path.exists("state.pt"):
    state = torch.load("state.pt", weights_only=False)
    net.load_state_dict(state["net"])
    opt.load_state_dict(state["opt"])
    torch.set_rng_state(state["rng"])
    first = state["step"]
batch = draw() if state is None else state["batch"]
for step in range(first, 24):
    for _ in range(2):
        loss = loss_of(batch) / 2
        batch = draw()
        loss.backward()
    opt.step()
    opt.zero_grad()
    if (step + 1) % 4 == 0:
        state = {"net": net.state_dict(), "opt": opt.state_dict(), "rng": torch.get_rng_state()}
        torch.save({**state, "batch": batch, "step": step + 1}, "state.pt")
print(float(loss))
