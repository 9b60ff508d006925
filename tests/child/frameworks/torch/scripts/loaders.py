"""One pass over loaders of each kind; prints what came out of each, and where the generators stand at the end."""

import os
import pickle
import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler, Sampler, SubsetRandomSampler, WeightedRandomSampler

LENGTH = 24


class Samples(Dataset):
    def __len__(self):
        return LENGTH

    def __getitem__(self, index):
        noise = torch.rand(3) + random.random() + float(np.random.rand())
        return {"x": torch.full((3,), float(index)) + noise, "name": f"s{index}", "y": index}


class Stream(IterableDataset):
    def __iter__(self):
        for index in range(12):
            yield {"x": torch.tensor([float(index)])}


class Shuffled(Sampler):
    def __iter__(self):
        order = list(range(LENGTH))
        random.shuffle(order)
        return iter(order)

    def __len__(self):
        return LENGTH


class Pairs(Sampler):
    def __iter__(self):
        pairs = [[index, index + 1] for index in range(0, LENGTH, 2)]
        random.shuffle(pairs)
        yield from pairs


class Dies(Samples):
    def __getitem__(self, index):
        os._exit(3)


def loaders():
    data, private = Samples(), torch.Generator()
    private.manual_seed(11)
    return {
        "shuffled": DataLoader(data, 6, shuffle=True),
        "private": DataLoader(data, 6, shuffle=True, generator=private),
        "own": DataLoader(data, 6, sampler=Shuffled()),
        "pairs": DataLoader(data, batch_sampler=Pairs()),
        "single": DataLoader(data, batch_size=None),
        "workers": DataLoader(data, 6, shuffle=True, num_workers=2),
        "persistent": DataLoader(data, 6, num_workers=2, persistent_workers=True),
        "unordered": DataLoader(data, 6, num_workers=2, in_order=False),
        "subset": DataLoader(data, 7, sampler=SubsetRandomSampler(range(10, LENGTH))),
        "weighted": DataLoader(data, 6, sampler=WeightedRandomSampler([1.0] * LENGTH, LENGTH)),
        "replacement": DataLoader(data, 6, sampler=RandomSampler(data, replacement=True, num_samples=48)),
        "dropped": DataLoader(data, 5, shuffle=True, drop_last=True),
        "stream": DataLoader(Stream(), 4),
    }


if __name__ == "__main__":
    random.seed(3)
    np.random.seed(4)
    torch.manual_seed(5)
    assert pickle.loads(pickle.dumps(torch.manual_seed)) is torch.manual_seed
    assert pickle.loads(pickle.dumps(np.random.seed)) is np.random.seed
    for name, loader in loaders().items():
        for _ in range(2 if name in ("shuffled", "persistent") else 1):
            batches = [sorted(batch["x"].flatten().tolist()) for batch in loader]
            print(name, sum(sum(batch) for batch in sorted(batches)).hex())
    try:
        list(DataLoader(Dies(), 2, num_workers=1))
    except RuntimeError:
        print("died")
    model = torch.nn.Linear(2, 2)
    torch.save({"weight": model.weight, "more": model.bias}, "last.pt")
    model.load_state_dict(torch.load("last.pt"), strict=False)
    print(torch.rand(1).item().hex(), random.random().hex(), float(np.random.rand()).hex(), torch.initial_seed())
