"""Batches are fetched ahead; the state of the feed counts what was trained with."""

import os
from collections import deque

import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration, set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, SAVE_AT, AHEAD = 4, 2, 2
SEEDED = DataLoaderConfiguration(use_seedable_sampler=True)


class Feed:
    """Hands out the batches of one epoch after the other, a few of them ready ahead of time."""

    def __init__(self, accelerator, loader):
        self.accelerator, self.loader = accelerator, loader
        self.epoch, self.fetched, self.used = 0, 0, 0

    def state_dict(self):
        return {"epoch": self.epoch, "position": self.used}

    def load_state_dict(self, state):
        self.epoch, self.fetched = state["epoch"], state["position"]

    def __iter__(self):
        self.loader.set_epoch(self.epoch)
        self.used, waiting = self.fetched, deque()
        for batch in self.accelerator.skip_first_batches(self.loader, self.fetched):
            waiting.append(batch)
            self.fetched += 1
            if len(waiting) > AHEAD:
                yield self.hand(waiting)
        while waiting:
            yield self.hand(waiting)
        self.epoch, self.fetched = self.epoch + 1, 0

    def hand(self, waiting):
        self.used += 1
        return waiting.popleft()


set_seed(0)
accelerator = Accelerator(cpu=True, dataloader_config=SEEDED)
x = torch.randn(40, 8)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
feed = Feed(accelerator, loader)
accelerator.register_for_checkpointing(feed)

if os.path.exists("checkpoint"):
    accelerator.load_state("checkpoint")

step = 0
while feed.epoch < EPOCHS:
    for inputs, targets in feed:
        optimizer.zero_grad()
        accelerator.backward(nn.functional.mse_loss(model(inputs), targets))
        optimizer.step()
        step += 1
        if step == SAVE_AT and not os.path.exists("checkpoint"):
            accelerator.save_state("checkpoint")
