"""Planted: files are parsed in a thread pool and appended as they complete, so the order of samples is that of the threads."""

import random
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse(number):
    time.sleep(random.SystemRandom().uniform(0, 0.01))
    return torch.full((4,), float(number)).sin(), float(number)


with ThreadPoolExecutor(8) as pool:
    parsed = [done.result() for done in as_completed([pool.submit(parse, number) for number in range(80)])]
dataset = TensorDataset(torch.stack([x for x, _ in parsed]), torch.tensor([[y] for _, y in parsed]))
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Softplus(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
for features, target in DataLoader(dataset, 10):
    loss = (model(features) - target).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
