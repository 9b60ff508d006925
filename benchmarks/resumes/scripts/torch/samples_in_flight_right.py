"""The position is what was used, although two batches more were fetched."""

import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset

EPOCHS, SAVE_AT = 4, 2


class Order(Sampler):
    """Another order in each epoch, drawn from a seed and the number of the epoch."""

    def __init__(self, length):
        self.length, self.epoch = length, 0

    def __len__(self):
        return self.length

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.epoch)
        return iter(torch.randperm(self.length, generator=generator).tolist())


class Ahead:
    """Fetches two batches ahead of the training, and counts what it has fetched."""

    def __init__(self, batches):
        self.batches, self.waiting, self.fetched = iter(batches), [], 0

    def __iter__(self):
        while self.fill() or self.waiting:
            yield self.waiting.pop(0)

    def fill(self):
        while len(self.waiting) < 3:
            batch = next(self.batches, None)
            if batch is None:
                return False
            self.fetched += 1
            self.waiting.append(batch)
        return True


torch.manual_seed(0)
x = torch.randn(40, 8)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
order = Order(40)
loader = DataLoader(TensorDataset(x, y), batch_size=8, sampler=order)

first, used, step = 0, 0, 0
if os.path.exists("last.pt"):
    saved = torch.load("last.pt", weights_only=False)
    first, used, step = saved["epoch"], saved["used"], saved["step"]
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])

for epoch in range(first, EPOCHS):
    order.epoch = epoch
    batches = iter(loader)
    passed = used if epoch == first else 0
    for _ in range(passed):
        next(batches)
    ahead = Ahead(batches)
    for number, (inputs, targets) in enumerate(ahead):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        step += 1
        if step == SAVE_AT:
            saved = {
                "model": model.state_dict(),
                "optimizer": optimizer.state_dict(),
                "epoch": epoch,
                "used": passed + number + 1,
                "step": step,
            }
            torch.save(saved, "last.pt")
