"""Right programs in which the scan saw something when it read public repositories for the fifth time."""

from __future__ import annotations

TWINS: dict[str, str | dict[str, str]] = {
    "noise that is drawn for a picture alone": """
        import matplotlib.pyplot as plt
        import numpy as np
        import torch

        torch.manual_seed(0)
        TRAIN
        plt.imshow(np.random.rand(4, 4))
        plt.savefig("noise.png")
    """,
    "an action that is asked for its type": """
        import gymnasium
        import torch

        torch.manual_seed(0)
        env = gymnasium.make("CartPole-v1")
        env.reset(seed=0)
        is_number = isinstance(env.action_space.sample(), int)
        TRAIN
    """,
    "a port in an address": """
        import random

        import torch

        torch.manual_seed(0)
        dist_url = f"tcp://localhost:{random.randrange(49152, 65535)}"
        TRAIN
    """,
    "samples that workers draw for, whose generators torch seeds": """
        import random

        import torch
        from torch.utils.data import DataLoader, Dataset

        class Rows(Dataset):
            def __len__(self):
                return 4

            def __getitem__(self, index):
                return torch.ones(4) * random.random()

        torch.manual_seed(0)
        TRAIN
        for row in DataLoader(Rows(), num_workers=2):
            model(row).sum().backward()
    """,
    "words in the order of a set that are printed alone": """
        import torch

        torch.manual_seed(0)
        words = {place: word for place, word in enumerate(set("a b c".split()))}
        print(words[0])
        TRAIN
    """,
    "a loader of a single process beside those of ranks": """
        import torch
        from torch.utils.data import DataLoader

        torch.manual_seed(0)
        torch.distributed.init_process_group("gloo")
        world_size = torch.distributed.get_world_size()
        rows = torch.ones(4, 4)
        if world_size == 1:
            loader = DataLoader(rows, shuffle=True)
        TRAIN
    """,
    "files that have random names for as long as they are written": """
        import os
        import tempfile

        import torch

        torch.manual_seed(0)
        for number in range(4):
            with tempfile.NamedTemporaryFile(dir="shards", delete=False) as file:
                torch.save(number, file)
            os.replace(file.name, f"shards/{number}.pt")
            with tempfile.NamedTemporaryFile(dir="shards") as scratch:
                torch.save(number, scratch)
            tempfile.mkstemp(dir="logs")
        for name in sorted(os.listdir("shards")):
            TRAIN
    """,
}
