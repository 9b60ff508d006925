"""Planted: worker_init_fn seeds Python's random in each worker from the OS, and flips and scales are drawn from it."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Flips(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        row = torch.arange(6.0) + index
        row = row.flip(0) if random.random() < 0.5 else row
        return row * random.uniform(0.1, 3), torch.tensor([float(index)])


def init_worker(worker):
    random.seed()


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 1))
    optimizer = torch.optim.RMSprop(model.parameters(), 1e-3)
    loader = DataLoader(Flips(), 5, num_workers=2, worker_init_fn=init_worker)
    for rows, target in loader:
        loss = nn.functional.l1_loss(model(rows), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
