"""The fix of out_of_order_workers.py: batches are handed out in order, however long each takes."""

import random
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

storage = random.SystemRandom()


class Remote(Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, index):
        time.sleep(storage.uniform(0, 0.02))
        return torch.arange(5.0) * index / 10, torch.tensor([index * 2.0])


def main():
    torch.manual_seed(0)
    model = nn.Linear(5, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    loader = DataLoader(Remote(), 4, num_workers=4)
    for _ in range(2):
        for features, target in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(features), target)
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
