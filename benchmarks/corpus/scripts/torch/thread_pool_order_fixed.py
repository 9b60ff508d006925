"""The fix of thread_pool_order.py: map() keeps the order of the files."""

import random
import time
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse(number):
    time.sleep(random.SystemRandom().uniform(0, 0.01))
    return torch.full((4,), float(number)).sin(), float(number)


with ThreadPoolExecutor(8) as pool:
    parsed = list(pool.map(parse, range(80)))
dataset = TensorDataset(torch.stack([x for x, _ in parsed]), torch.tensor([[y] for _, y in parsed]))
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Softplus(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
for features, target in DataLoader(dataset, 10):
    loss = (model(features) - target).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
