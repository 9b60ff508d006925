"""A data set augments with a generator of its own, which no checkpoint holds."""
import os
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Shifted(Dataset):
    def __init__(self, rng):
        self.rng = rng
        self.x = np.random.RandomState(0).randn(40, 8).astype("float32")

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return np.roll(self.x[i], self.rng.integers(8)), self.x[i].sum(keepdims=True)


torch.manual_seed(0)
data = Shifted(np.random.default_rng(7))
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), 0.01)
loader = DataLoader(data, batch_size=8, shuffle=True)
first = 0
if os.path.exists("state.pt"):
    state = torch.load("state.pt", weights_only=False)
    net.load_state_dict(state["net"])
    opt.load_state_dict(state["opt"])
    torch.set_rng_state(state["rng"])
    first = state["epochs"]
for epoch in range(first, 4):
    for a, b in loader:
        loss = ((net(a) - b) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    state = {"net": net.state_dict(), "opt": opt.state_dict(), "rng": torch.get_rng_state()}
    torch.save({**state, "own": data.rng.bit_generator.state, "epochs": epoch + 1}, "state.pt")
print(float(loss))
