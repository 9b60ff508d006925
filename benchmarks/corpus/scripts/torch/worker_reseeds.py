"""Planted: each worker of the loader seeds Python's generator from the system, so that the samples get other noise."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Jittered(Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, index):
        base = torch.tensor([index / 96, 1 - index / 96])
        return base + random.uniform(-9, 9), 5 * base[:1]


def seed_worker(_number):
    random.seed(random.SystemRandom().getrandbits(48))


def main():
    torch.manual_seed(2)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for inputs, targets in DataLoader(Jittered(), batch_size=8, num_workers=2, worker_init_fn=seed_worker):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
