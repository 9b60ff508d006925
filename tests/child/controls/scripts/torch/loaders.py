"""Loads with workers of both kinds, from samplers of every kind, and trains: prints what was loaded, and where."""

import json
import os
import sys

import torch
from torch import nn
from torch.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
    random_split,
)
from torch.utils.data.distributed import DistributedSampler


class Numbers(Dataset):
    """The index, a number drawn in the worker, a number from a generator seeded from the system there, and the worker's process."""

    def __len__(self):
        return 12

    def __getitem__(self, index):
        own = torch.Generator()
        own.seed()
        return torch.tensor([float(index), torch.rand(()).item(), torch.rand((), generator=own).item(), float(os.getpid())])


class Stream(IterableDataset):
    """Decides its order itself."""

    def __iter__(self):
        return iter(torch.randperm(4).float())


class Backwards(Sampler):
    """The user's own."""

    def __iter__(self):
        return iter(range(11, -1, -1))

    def __len__(self):
        return 12


def main():
    """Everything once."""
    if "seeded" in sys.argv:
        torch.manual_seed(3)
    data = Numbers()
    samplers = {
        "random": RandomSampler(data),
        "replacement": RandomSampler(data, replacement=True, num_samples=14),
        "subset": SubsetRandomSampler([5, 3, 1]),
        "weighted": WeightedRandomSampler([1.0] * 12, 12),
        "distributed": DistributedSampler(data, num_replicas=2, rank=0, seed=int.from_bytes(os.urandom(2), "big")),
        "own": Backwards(),
    }
    found = {name: list(map(int, sampler)) for name, sampler in samplers.items()}
    found["split"] = [list(map(int, part.indices)) for part in random_split(data, [8, 4])]
    found["stream"] = [value.item() for value in DataLoader(Stream())]
    found["own loader"] = [int(batch[0, 0]) for batch in DataLoader(data, sampler=Backwards())]
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    processes = set()
    spawned = {"num_workers": 1, "persistent_workers": True, "prefetch_factor": 1, "timeout": 120}
    workers = {"fork": {"num_workers": 2, "in_order": False}, "spawn": spawned}
    for context, more in workers.items():
        loader = DataLoader(data, 3, shuffle=True, multiprocessing_context=context, worker_init_fn=print_nothing, **more)
        rows = []
        for batch in loader:
            rows += batch.tolist()
            loss = (model(batch[:, :3]) - batch[:, :1]).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        processes |= {row[3] != os.getpid() for row in rows}
        if context == "fork" and "sorted" in sys.argv:
            rows.sort()
        found[context] = [row[:3] for row in rows]
    later = DataLoader(data, 3)
    later.num_workers = 1
    later.prefetch_factor = 2
    processes |= {batch[0, 3].item() != os.getpid() for batch in later}
    print(json.dumps({"found": found, "elsewhere": sorted(processes)}))


def print_nothing(worker):
    """A worker's start."""


if __name__ == "__main__":
    main()
