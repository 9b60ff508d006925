"""Wrong programs that the scan missed in the third round."""

from __future__ import annotations

WALK = """
        import os

        def walk(root):
            for folder, _, names in os.walk(root):
                for name in names:
                    yield os.path.join(folder, name)
"""
MISSED: dict[str, tuple[str, list[tuple[int, str]]]] = {
    "a generator as the default of a field": (
        """
        from dataclasses import dataclass, field

        import numpy as np

        @dataclass
        class Loader:
            rows: list
            rng: np.random.Generator = field(default_factory=np.random.default_rng)

            def __iter__(self):
                return iter(self.rng.permutation(self.rows))

        for row in Loader([1, 2, 3]):
            print(row)
        """,
        [(8, "RC502")],
    ),
    "a dict that has no seed": (
        """
        import numpy as np
        import torch

        settings = {"lr": 0.1}
        np.random.seed(settings.get("seed"))
        torch.manual_seed(0)
        order = torch.from_numpy(np.random.permutation(8))
        """,
        [(5, "RC402")],
    ),
    "the hash of a field of a table": (
        """
        import csv
        import random

        import torch

        torch.manual_seed(0)
        rows = list(csv.DictReader(open("rows.csv")))
        starts = [random.Random(hash(row["name"])).random() for row in rows]
        """,
        [(8, "RC402")],
    ),
    "the hash of an annotated name": (
        """
        def bucket(name: str, buckets: int) -> int:
            return hash(name) % buckets
        """,
        [(2, "RC505")],
    ),
    "threads of mindspore draw from numpy": (
        """
        import mindspore as ms
        import mindspore.dataset as ds
        import numpy as np

        ms.set_seed(1)
        data = ds.NumpySlicesDataset({"x": np.ones((8, 2))}, shuffle=False)
        data = data.map(lambda x: x + np.random.rand(2), input_columns=["x"])
        """,
        [(7, "RC509")],
    ),
    "threads of a pool draw from one generator": (
        """
        import random
        from concurrent.futures import ThreadPoolExecutor

        import torch

        def noisy(number):
            return random.gauss(number, 1)

        random.seed(0)
        torch.manual_seed(0)
        with ThreadPoolExecutor(4) as pool:
            numbers = torch.tensor(list(pool.map(noisy, range(4))), requires_grad=True)
        numbers.sum().backward()
        """,
        [(12, "RC509")],
    ),
    "threads that are started in a loop draw from one generator": (
        """
        import threading

        import numpy as np
        import torch

        def fill(rows, number):
            rows[number] = np.random.rand()

        np.random.seed(0)
        rows = torch.zeros(4)
        for number in range(4):
            threading.Thread(target=fill, args=(rows, number)).start()
        torch.nn.Parameter(rows).sum().backward()
        """,
        [(12, "RC509")],
    ),
    "sets in a dict of sets": (
        """
        from collections import defaultdict

        import torch

        tags = defaultdict(set)
        for line in open("tags.txt"):
            word, tag = line.split()
            tags[word].add(tag)
        pairs = []
        for word, found in tags.items():
            for tag in found:
                pairs.append((word, tag))
        torch.manual_seed(0)
        TRAIN
        """,
        [(11, "RC505")],
    ),
    "sets that are made on the way": (
        """
        tags = {}
        for line in open("tags.txt"):
            word, tag = line.split()
            tags.setdefault(word, set()).add(tag)
        index = {}
        for word in tags:
            for tag in tags[word]:
                index[word, tag] = len(index)
        """,
        [(7, "RC505")],
    ),
    "files that a generator hands on": (
        WALK
        + """
        import numpy as np
        import torch

        torch.manual_seed(0)
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for path in list(walk("data")):
            optimizer.zero_grad()
            model(torch.from_numpy(np.load(path))).sum().backward()
            optimizer.step()
        """,
        [(4, "RC104")],
    ),
    "a sample is drawn in a call": (
        """
        import numpy as np
        import torch

        class Chosen:
            def __call__(self, rows):
                return np.random.default_rng().choice(rows)

        torch.manual_seed(0)
        Chosen()([1, 2])
        TRAIN
        """,
        [(6, "RC407")],
    ),
    "a bar around what is ready, and collected": (
        """
        from concurrent.futures import ThreadPoolExecutor, as_completed

        import torch

        class Bar:
            def __init__(self, parts):
                self.parts = parts

            def __iter__(self):
                for part in self.parts:
                    yield part

        loaded = []
        with ThreadPoolExecutor(4) as pool:
            for job in Bar(as_completed([pool.submit(torch.load, name) for name in "abc"])):
                loaded.append(job.result())
        torch.manual_seed(0)
        TRAIN
        """,
        [(15, "RC508")],
    ),
    "a checkpoint that an option loads": (
        """
        import argparse

        import torch

        parser = argparse.ArgumentParser()
        parser.add_argument("--resume", default="")
        args = parser.parse_args()
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        if args.resume:
            model.load_state_dict(torch.load(args.resume)["model"])
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "last.pt")
        """,
        [(13, "RC102")],
    ),
    "files that keep random names in the folder that is sorted": (
        """
        import os
        import tempfile

        import torch

        torch.manual_seed(0)
        for number in range(4):
            torch.save(number, tempfile.mkstemp(suffix=".pt", dir="shards")[1])
        for name in sorted(os.listdir("shards")):
            TRAIN
        """,
        [(9, "RC105")],
    ),
}
