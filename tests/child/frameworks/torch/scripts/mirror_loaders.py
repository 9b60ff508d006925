"""Trains with loaders of which each has a fault, or with twins of them that have none: argument
`faults` or `clean`.
"""

import random
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler, Sampler
from torch.utils.data import get_worker_info

FAULTY = sys.argv[1] == "faults"
CONSTANT = torch.arange(16.0).reshape(2, 8)


class Samples(Dataset):
    def __init__(self, size=24):
        self.data = torch.randn(size, 2)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.data[index]


class OwnGenerator(Samples):
    """A generator of the data set's own, which each worker gets a copy of."""

    def __init__(self):
        super().__init__()
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        if not FAULTY:
            info = get_worker_info()
            if not hasattr(self, "owner"):
                self.owner = self.rng = np.random.default_rng(info.seed)
        return self.data[index] + torch.from_numpy(self.rng.normal(size=2)).float()


class Flipped(Samples):
    def __getitem__(self, index):
        flip = random.random() < 0.5
        noise = torch.tensor(np.random.uniform(size=2), dtype=torch.float32)
        return (-self.data[index] if flip else self.data[index]) + noise


class Projected(Samples):
    """What all workers draw alike, and need not draw apart: one projection, once."""

    def __getitem__(self, index):
        if not hasattr(self, "projection"):
            self.projection = np.random.RandomState(0).normal(size=(2, 2))
            self.rng = np.random.RandomState(0)
            self.rng.permutation(24)
        return self.data[index] @ torch.from_numpy(self.projection).float()


class Stream(IterableDataset):
    def __init__(self, shared):
        self.data = torch.randn(48, 2)
        self.shared = shared

    def __iter__(self):
        info = get_worker_info()
        order = np.random.default_rng(0).permutation(48)
        parts = order if self.shared else order[info.id :: info.num_workers]
        for index in parts:
            yield self.data[index]


class NoisyStream(Stream):
    """The workers share the stream out, and draw the same noise for their parts."""

    def __init__(self):
        super().__init__(shared=False)
        self.rng = np.random.default_rng(3)

    def __iter__(self):
        rng = self.rng if FAULTY else np.random.default_rng(get_worker_info().seed)
        for sample in super().__iter__():
            yield sample + torch.from_numpy(rng.normal(size=2)).float()


class Reseeded(Sampler):
    """Shuffles, but forgets to count its epochs."""

    def __init__(self, size):
        self.size, self.epoch = size, 0

    def __iter__(self):
        generator = torch.Generator()
        generator.manual_seed(self.epoch)
        self.epoch += not FAULTY
        yield from torch.randperm(self.size, generator=generator).tolist()

    def __len__(self):
        return self.size


class ByLength(Sampler):
    """A fixed order that is no shuffle."""

    def __init__(self, size):
        self.order = [*range(0, size, 2), *range(1, size, 2)]

    def __iter__(self):
        return iter(self.order)

    def __len__(self):
        return len(self.order)


def same_seed(worker):
    np.random.seed(7)
    random.seed(7)


def seed_of_worker(worker):
    np.random.seed(100 + worker)
    random.seed(100 + worker)


def from_torch(worker):
    np.random.seed(torch.initial_seed() % 2**32)


def train(net, optimizer, loader, epochs=1):
    for _ in range(epochs):
        for batch in loader:
            loss = net(batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def evaluate(net, loader):
    with torch.no_grad():
        for batch in loader:
            net(batch)


def main():
    torch.manual_seed(1)
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    two = {"batch_size": 3, "num_workers": 2}

    own_generator = DataLoader(OwnGenerator(), shuffle=True, **two)
    train(net, optimizer, own_generator)
    init = same_seed if FAULTY else from_torch
    worker_seed = DataLoader(Flipped(), shuffle=True, worker_init_fn=init, **two)
    train(net, optimizer, worker_seed)
    stream = DataLoader(Stream(shared=FAULTY), **two)
    train(net, optimizer, stream)
    noisy_stream = DataLoader(NoisyStream(), **two)
    train(net, optimizer, noisy_stream)

    init = seed_of_worker if FAULTY else from_torch
    epoch_seed = DataLoader(Flipped(), shuffle=True, worker_init_fn=init, **two)
    train(net, optimizer, epoch_seed, epochs=2)
    sampler = DataLoader(Samples(), batch_size=6, sampler=Reseeded(24))
    train(net, optimizer, sampler, epochs=2)
    data = Samples()
    for _ in range(2):
        generator = torch.Generator()
        generator.manual_seed(5 if FAULTY else random.randrange(2**31))
        fresh = DataLoader(data, batch_size=6, sampler=RandomSampler(data, generator=generator))
        train(net, optimizer, fresh)

    if not FAULTY:
        projected = DataLoader(Projected(), **two)
        train(net, optimizer, projected)
        in_order = DataLoader(Samples(), batch_size=6)
        train(net, optimizer, in_order, epochs=2)
        validation = DataLoader(Flipped(), worker_init_fn=same_seed, **two)
        for _ in range(2):
            evaluate(net, validation)
            train(net, optimizer, in_order)
    by_length = DataLoader(Samples(), batch_size=6, sampler=ByLength(24))
    train(net, optimizer, by_length, epochs=2)


if __name__ == "__main__":
    main()
