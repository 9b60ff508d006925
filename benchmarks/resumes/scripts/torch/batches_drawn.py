"""Draws each batch with NumPy, whose generator is not saved: the batches of the start come again."""
import os
import numpy as np
import torch

torch.manual_seed(0)
np.random.seed(0)
x = np.random.normal(size=(48, 8)).astype("float32")
y = x.sum(1, keepdims=True)
net = torch.nn.Linear(8, 1)
opt = torch.optim.SGD(net.parameters(), 0.05)
first = 0
if os.path.exists("state.pt"):
    state = torch.load("state.pt")
    net.load_state_dict(state["net"])
    opt.load_state_dict(state["opt"])
    first = state["step"]
for i in range(first, 30):
    at = np.random.randint(0, 48, 8)
    a = torch.from_numpy(x[at])
    loss = ((net(a) - torch.from_numpy(y[at])) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if (i + 1) % 5 == 0:
        torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "step": i + 1}, "state.pt")
print(float(loss))
