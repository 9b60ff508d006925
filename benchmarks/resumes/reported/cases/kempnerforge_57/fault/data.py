"""A loader that goes on within an epoch."""

import torch
from torch.utils.data import DataLoader


class SkipSampler(torch.utils.data.Sampler):
    def __init__(self, size, seed=0):
        self.size, self.seed, self.epoch, self.skip = size, seed, 0, 0

    def set_skip(self, samples):
        self.skip = samples

    def __iter__(self):
        order = torch.randperm(
            self.size, generator=torch.Generator().manual_seed(self.seed + self.epoch)
        ).tolist()
        skip, self.skip = self.skip, 0
        return iter(order[skip:])

    def __len__(self):
        return self.size


class StatefulLoader:
    def __init__(self, dataset, batch_size):
        self.sampler = SkipSampler(len(dataset))
        self.batch_size = batch_size
        self.loader = DataLoader(dataset, batch_size, sampler=self.sampler)
        self.batches_yielded = 0

    def __iter__(self):
        self.batches_yielded = 0
        for batch in self.loader:
            self.batches_yielded += 1
            yield batch
        self.batches_yielded = 0
        self.sampler.epoch += 1

    def state_dict(self):
        return {"batches_yielded": self.batches_yielded, "epoch": self.sampler.epoch}

    def load_state_dict(self, state):
        batches_yielded = state["batches_yielded"]
        self.sampler.set_skip(batches_yielded * self.batch_size)
        self.sampler.epoch = state["epoch"]
