"""The fix of torch_pooled_results.py: features are used in the order of submission."""

from concurrent.futures import ThreadPoolExecutor
import threading
import time

import torch
from torch import nn

def load(number):
    if number == 0:
        begun.set()
    else:
        begun.wait()
        time.sleep(0.008)


begun, order = threading.Event(), []
with ThreadPoolExecutor(4) as pool:
    for number in range(4):
        pool.submit(load, number)
        order.append(number)
value = 1.0 + order[0]
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.05)
for step in range(4):
    inputs = torch.linspace(-1, 1, 24).reshape(6, 4) * (step + 1)
    loss = (model(inputs) - value).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
