"""Right twins of what the scan missed in the third round, and right programs in which it saw something."""

from __future__ import annotations

from tests.scan.snippets.found_third import WALK
from tests.scan.snippets.parts import text

TWINS: dict[str, str | dict[str, str]] = {
    "a seeded generator as the default of a field": """
        from dataclasses import dataclass, field

        import numpy as np

        @dataclass
        class Loader:
            rows: list
            rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(3))

            def __iter__(self):
                return iter(self.rng.permutation(self.rows))

        for row in Loader([1, 2, 3]):
            print(row)
    """,
    "a dict that gets its seed later": """
        import numpy as np
        import torch

        settings = {"lr": 0.1}
        settings["seed"] = 3
        np.random.seed(settings.get("seed"))
        torch.manual_seed(settings.get("torch_seed", 0))
        order = torch.from_numpy(np.random.permutation(8))
    """,
    "the hash of a number of a table": """
        import csv
        import random

        import torch

        torch.manual_seed(0)
        rows = list(csv.DictReader(open("rows.csv")))
        starts = [random.Random(hash(int(row["number"]))).random() for row in rows]
    """,
    "a table of one's own that looks at its keys": """
        def find(table: list, name: str):
            place = hash(name) % len(table)
            key, value = table[place]
            if key == name:
                return value
            table[place] = (name, len(name))
            return len(name)
    """,
    "one thread of mindspore, and processes": """
        import mindspore as ms
        import mindspore.dataset as ds
        import numpy as np

        ms.set_seed(1)
        data = ds.NumpySlicesDataset({"x": np.ones((8, 2))}, shuffle=False)
        data = data.map(lambda x: x + np.random.rand(2), input_columns=["x"], num_parallel_workers=1)
        data = data.map(lambda x: x + np.random.rand(2), input_columns=["x"], python_multiprocessing=True)
        data = data.map(lambda x: x + 1, input_columns=["x"], num_parallel_workers=1)
    """,
    "sets in a dict of sets, sorted or asked": """
        from collections import defaultdict

        import torch

        tags, seen = defaultdict(set), {}
        for line in open("tags.txt"):
            word, tag = line.split()
            tags[word].add(tag)
            seen.setdefault(word, set()).add(tag)
        pairs = [(word, tag) for word in tags for tag in sorted(tags[word])]
        known = [word for word in seen if "noun" in seen[word]]
        print({word: len(found) for word, found in tags.items()}, sum(len(found) for found in seen.values()))
        torch.manual_seed(0)
        TRAIN
    """,
    "files that a generator hands on, and that are sorted": WALK.replace("def walk", "def find_files")
    + """
        import numpy as np
        import torch

        torch.manual_seed(0)
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for path in sorted(find_files("data")):
            optimizer.zero_grad()
            model(torch.from_numpy(np.load(path))).sum().backward()
            optimizer.step()
    """,
    "files that a generator hands on, to be removed": WALK
    + """
        import torch

        for path in walk("tmp"):
            os.remove(path)
        size = sum(os.path.getsize(path) for path in walk("data"))
        torch.manual_seed(0)
        TRAIN
    """,
    "folders that a walk is told to go into": """
        import os

        import torch

        for folder, folders, names in os.walk("data"):
            folders.append("more")
            print(folder, len(names))
        torch.manual_seed(0)
        TRAIN
    """,
    "files of what was monitored": """
        import glob

        import torch

        def monitor_files(folder):
            found = []
            for path in glob.glob(folder + "/*.monitor.csv"):
                found.append(path)
            return found

        print(monitor_files("logs"))
        torch.manual_seed(0)
        TRAIN
    """,
    "what tries a module that others import": {
        "parts.py": text("""
            import torch

            def half(x):
                return x / 2

            if __name__ == "__main__":
                print(half(torch.rand(2, 2)))
        """),
        "train.py": text("""
            import torch
            from parts import half

            torch.manual_seed(0)
            TRAIN
            half(model.weight)
        """),
    },
    "a set that holds one, and names that are only asked": """
        import os

        import torch

        def prepare_data(folder, rows):
            endings = {name.rpartition(".")[2] for name in sorted(os.listdir(folder))}
            assert len(endings) == 1
            names = [name for name in os.listdir(folder) if name.startswith("x")]
            return list(endings)[0], [row for row in rows if row in names]

        print(prepare_data("data", ["x1", "y1"]))
        torch.manual_seed(0)
        TRAIN
    """,
    "a queue of its own in each turn": """
        import queue
        import threading

        import torch

        def work(part, ready):
            for number in part:
                ready.put(torch.full((1, 2), float(number)))
            ready.put(None)

        def gone_over(part):
            ready = queue.Queue(2)
            threading.Thread(target=work, args=(part, ready), daemon=True).start()
            while (item := ready.get()) is not None:
                yield item

        torch.manual_seed(0)
        model = torch.nn.Linear(2, 1)
        for part in (range(4), range(8)):
            for item in gone_over(part):
                model(item).sum().backward()
    """,
    "an environment that is only shown": """
        import gymnasium as gym

        environment = gym.make("CartPole-v1")
        print(environment.reset())
    """,
    "threads for a while": """
        import os

        import torch

        def estimate():
            before = torch.get_num_threads()
            torch.set_num_threads(os.cpu_count())
            torch.set_num_threads(before)

        estimate()
        torch.manual_seed(0)
        TRAIN
    """,
    "a port and the number of a session": """
        import random

        import torch

        def free():
            for port in random.SystemRandom().sample(range(10000, 32768), 10):
                return port

        print(free(), {"session_id": round(random.Random().random() * 1e9)})
        torch.manual_seed(0)
        TRAIN
    """,
    "a bar around what is ready": """
        from concurrent.futures import ThreadPoolExecutor, as_completed

        import torch

        class Bar:
            def __init__(self, parts):
                self.parts = parts

            def __iter__(self):
                for part in self.parts:
                    yield part

        with ThreadPoolExecutor(4) as pool:
            for _ in Bar(as_completed([pool.submit(print, name) for name in "abc"])):
                pass
        torch.manual_seed(0)
        TRAIN
    """,
    "each task has a generator of its own, and one thread draws in order": """
        import random
        from concurrent.futures import ThreadPoolExecutor

        import torch

        def noisy(number):
            return random.Random(number).gauss(number, 1)

        def drawn(number):
            return random.gauss(number, 1)

        random.seed(0)
        torch.manual_seed(0)
        with ThreadPoolExecutor(4) as pool:
            numbers = list(pool.map(noisy, range(4)))
        with ThreadPoolExecutor(max_workers=1) as pool:
            numbers += list(pool.map(drawn, range(4)))
        torch.tensor(numbers, requires_grad=True).sum().backward()
    """,
    "a set that is shown, and files of settings": """
        import pathlib

        import torch

        def all_config_paths(folder):
            for path in pathlib.Path(folder).iterdir():
                yield path

        words = set(open("words.txt").read().split())
        for number, word in enumerate(words):
            print(number, word)
        settings = [path.read_text() for path in all_config_paths("settings")]
        torch.manual_seed(0)
        TRAIN
    """,
    "a weight that another function fills": """
        import numpy as np
        import torch

        def start(weight, rng):
            weight.data = torch.from_numpy(rng.normal(size=tuple(weight.shape))).float()

        class Line(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.Tensor(4, 4))
                start(self.weight, np.random.default_rng(0))

            def forward(self, x):
                return x @ self.weight

        torch.manual_seed(0)
        Line()(torch.ones(2, 4)).sum().backward()
    """,
    "a partial load that is counted": """
        import logging

        import torch

        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
        kept = {name: value for name, value in torch.load("old.pt").items() if name in model.state_dict()}
        model.load_state_dict(kept, strict=False)
        logging.info(f"took {len(kept)} of {len(model.state_dict())}")
    """,
    "the other keras where there is one": """
        try:
            import tf_keras as keras
        except ImportError:
            import keras

        keras.utils.set_random_seed(1)
    """,
}
