"""Right programs, which must have no finding but notes, and wrong ones with the lines and codes that they must have."""

from __future__ import annotations

from textwrap import dedent

TRAIN = """\
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
model(torch.ones(2, 4)).sum().backward()
optimizer.step()
"""
SEEDING = """\
import random

import numpy as np
import torch


def fix(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
"""
LIBRARY = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, rate=0.1):
        super().__init__()
        self.line = nn.Linear(4, 4)
        self.drop = nn.Dropout(rate)

    def forward(self, x):
        return self.drop(self.line(x)) + torch.randn_like(x)
"""
SAMPLING = """\
import numpy as np


def sample(rng=None):
    rng = rng or np.random.default_rng()
    return rng.normal()


def other(rng=None):
    if rng is None:
        rng = np.random.RandomState()
    return rng.rand()
"""


def text(source: str) -> str:
    """A program without the indentation that it has here; `TRAIN` stands for a small training."""
    return dedent(source).lstrip("\n").replace("TRAIN\n", TRAIN)


RIGHT: dict[str, str | dict[str, str]] = {
    "a seed in a helper": """
        import torch

        def prepare(seed=3):
            torch.manual_seed(seed)

        prepare()
        TRAIN
    """,
    "a seed in another module": {
        "train.py": "import torch\nfrom tools.seeding import fix\n\nfix(1)\n" + TRAIN,
        "tools/__init__.py": "",
        "tools/seeding.py": SEEDING,
    },
    "a seed by an argument": """
        import argparse
        import torch

        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int, default=0)
        args = parser.parse_args()
        torch.manual_seed(args.seed)
        TRAIN
    """,
    "a seed only where one is given": """
        import argparse
        import torch

        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int)
        args = parser.parse_args()
        if args.seed is not None:
            torch.manual_seed(args.seed)
        TRAIN
    """,
    "a seed from the environment": """
        import os
        import torch

        torch.manual_seed(int(os.environ.get("SEED", 0)) + int(os.environ.get("RANK", 0)))
        TRAIN
    """,
    "lightning": """
        import lightning as L
        import torch
        from torch.utils.data import DataLoader

        L.seed_everything(7, workers=True)
        TRAIN
        loader = DataLoader(range(8), shuffle=True, num_workers=2)
    """,
    "an older lightning": """
        import pytorch_lightning as pl
        import numpy as np
        import torch

        pl.seed_everything(7)
        noise = np.random.rand(3)
        TRAIN
    """,
    "transformers": """
        import random
        import torch
        from transformers import set_seed

        set_seed(42)
        random.shuffle([1, 2])
        TRAIN
    """,
    "transformers in full": """
        import torch
        from transformers.trainer_utils import enable_full_determinism

        enable_full_determinism(42)
        TRAIN
    """,
    "accelerate": """
        import torch
        from accelerate.utils import set_seed as fix

        fix(1)
        TRAIN
    """,
    "the seeding function of this package": """
        import numpy
        import torch
        import reprocheck

        reprocheck.seed_all()
        noise = numpy.random.rand(2)
        TRAIN
    """,
    "a seeding function of a library that nobody knows": """
        import torch
        from company.reproducibility import set_global_seeds

        set_global_seeds(3)
        TRAIN
    """,
    "keras": """
        import keras
        import numpy as np

        keras.utils.set_random_seed(1)
        inputs = np.random.randn(8, 2)
        model = keras.Sequential([keras.layers.Dense(3), keras.layers.Dropout(0.5), keras.layers.RandomFlip()])
        model.compile("sgd", "mse")
        model.fit(inputs, inputs[:, 0])
    """,
    "keras through tensorflow": """
        import tensorflow as tf

        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
        model.fit(tf.random.normal([4, 2]), tf.zeros([4]))
    """,
    "tensorflow": """
        import tensorflow as tf

        tf.random.set_seed(1)
        weights = tf.Variable(tf.random.normal((4, 1)))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weights)
    """,
    "mindspore": """
        import mindspore as ms
        from mindspore import nn, dataset
        from mindspore.dataset import vision

        ms.set_seed(1)
        network = nn.SequentialCell(nn.Dense(4, 16), nn.Dropout(p=0.5))
        data = dataset.Cifar10Dataset("data", shuffle=True).map(vision.RandomCrop(32))
        ms.Model(network).train(1, data)
    """,
    "mindspore with constant weights": """
        import mindspore as ms
        from mindspore import nn

        network = nn.Dense(4, 1, weight_init="ones", bias_init="zeros")
        grad = ms.value_and_grad(network)
    """,
    "jax": """
        import jax

        key = jax.random.PRNGKey(0)
        key, one = jax.random.split(key)
        weights = jax.random.normal(one, (4,))
        gradient = jax.grad(lambda w: (w**2).sum())(weights)
    """,
    "a seeded generator passed through variables": """
        import torch
        from torch.utils.data import DataLoader, random_split

        def generator(seed):
            made = torch.Generator()
            made.manual_seed(seed)
            return made

        torch.manual_seed(0)
        order = generator(4)
        first, second = random_split(range(8), [4, 4], generator=order)
        loader = DataLoader(first, shuffle=True, generator=order)
    """,
    "a seeded generator in an object": """
        import numpy as np
        import torch

        class Noisy(torch.utils.data.Dataset):
            def __init__(self, seed):
                self.rng = np.random.default_rng(seed)

            def __getitem__(self, index):
                return index + self.rng.normal()

        loader = torch.utils.data.DataLoader(Noisy(3))
        for batch in loader:
            pass
    """,
    "a generator from a configuration": """
        import numpy as np
        import yaml

        config = yaml.safe_load(open("config.yaml"))
        rng = np.random.RandomState(config["seed"])
        order = rng.permutation(8)
    """,
    "a generator that a caller may pass": {
        "library.py": SAMPLING,
    },
    "a generator that is seeded a little later": """
        import random
        import torch

        rng = random.Random()
        rng.seed(5)
        own = torch.Generator()
        own.seed()
        own.manual_seed(3)
        print(rng.random(), torch.rand(2, generator=own))
    """,
    "a generator of torch without a seed, which has a constant one": """
        import torch

        noise = torch.rand(4, generator=torch.Generator())
    """,
    "files sorted at once": """
        import glob
        import os
        from pathlib import Path

        images = sorted(glob.glob("data/*.png"))
        labels = [name for name in sorted(os.listdir("labels"))]
        masks = sorted(path for path in Path("masks").iterdir() if path.suffix == ".png")
    """,
    "files sorted later": """
        import os
        from pathlib import Path

        names = os.listdir("data")
        names.sort()
        paths = []
        for path in Path("data").rglob("*.txt"):
            paths.append(path)
        paths = sorted(paths)
        for name in names:
            print(name)
    """,
    "files whose order does not matter": """
        import glob
        import os
        import shutil

        print(len(os.listdir("data")), "x.png" in os.listdir("data"), max(glob.glob("*.pt"), key=os.path.getmtime))
        for name in os.listdir("out"):
            os.remove(os.path.join("out", name))
        sizes = {name: os.path.getsize(name) for name in os.listdir("data")}
        known = set(glob.glob("*.txt"))
    """,
    "sets that are asked, counted and sorted": """
        names = ["cat", "dog", "bird"]
        seen = set(names)
        print(len(seen), "cat" in seen, max(seen))
        index = {name: number for number, name in enumerate(sorted(seen))}
        wanted = [name for name in names if name in seen]
        both = seen & {"cat"}
        for name in sorted(both):
            print(name)
    """,
    "sets of numbers": """
        labels = list(set([3, 1, 2]))
        classes = [label for label in {int(word) for word in "1 2".split()}]
        index = {number: place for place, number in enumerate(set(range(4)))}
    """,
    "a set that becomes a list and is sorted": """
        words = list(set("a b c".split()))
        words.sort()
        index = {word: number for number, word in enumerate(words)}
    """,
    "a hash of bytes": """
        import zlib

        bucket = zlib.crc32("name".encode()) % 10
    """,
    "weights from a checkpoint": """
        import torch

        model = torch.nn.Linear(4, 1)
        model.load_state_dict(torch.load("fixed.pt"))
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        model(torch.ones(1, 4)).sum().backward()
    """,
    "weights that are all set to constants": """
        import torch

        model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Linear(2, 1))
        for parameter in model.parameters():
            torch.nn.init.constant_(parameter, 0.1)
        model(torch.ones(1, 4)).sum().backward()
    """,
    "parameters that are filled": """
        import torch
        from torch import nn

        torch.manual_seed(0)

        class Scaled(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.empty(4))
                self.shift = nn.Parameter(torch.empty(4))
                self.register_buffer("mean", torch.empty(4).fill_(0.0))
                self.reset_parameters()

            def reset_parameters(self):
                nn.init.normal_(self.scale)
                with torch.no_grad():
                    self.shift.zero_()

        model = Scaled()
    """,
    "workers seeded by torch": """
        import random

        import numpy as np
        import torch
        from torch.utils.data import DataLoader

        def seed_worker(worker):
            seed = torch.initial_seed() % 2**32
            np.random.seed(seed)
            random.seed(seed)

        torch.manual_seed(0)
        loader = DataLoader(range(8), shuffle=True, num_workers=2, worker_init_fn=seed_worker)
    """,
    "a split with its state, and one after NumPy's seed": """
        import numpy as np
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.model_selection import KFold, train_test_split

        train, test = train_test_split(range(8), random_state=1)
        folds = KFold(3, shuffle=True, random_state=0)
        plain = KFold(3)
        np.random.seed(0)
        train, rest = train_test_split(train)
        forest = RandomForestClassifier()
    """,
    "times that are only measured": """
        import time

        import torch

        torch.manual_seed(0)
        start = time.time()
        TRAIN
        print(time.time() - start)
        torch.save(model.state_dict(), f"model-{int(time.time())}.pt")
    """,
    "a name with the time beside a seed": """
        import time
        from dataclasses import dataclass

        import torch

        @dataclass
        class Config:
            name: str
            seed: int = 0

        config = Config(name=f"run-{time.time()}")
        torch.manual_seed(config.seed)
        TRAIN
    """,
    "results in the order of their inputs": """
        from concurrent.futures import ThreadPoolExecutor, as_completed

        results = {}
        with ThreadPoolExecutor() as pool:
            futures = {pool.submit(pow, base, 2): base for base in range(8)}
            for future in as_completed(futures):
                results[futures[future]] = future.result()
    """,
    "deterministic mode": """
        import os

        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"

        import torch

        torch.manual_seed(0)
        torch.use_deterministic_algorithms(True)
        torch.backends.cudnn.benchmark = False
        torch.backends.cudnn.deterministic = True
        torch.backends.cudnn.enabled = False
        model = torch.nn.Linear(4, 1).cuda()
        up = torch.nn.functional.interpolate(torch.ones(1, 1, 2, 2).cuda(), scale_factor=2, mode="nearest")
    """,
    "benchmark switched off again": """
        import torch

        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.benchmark = False
    """,
    "ranks with a sampler": """
        import torch
        from torch.utils.data import DataLoader, DistributedSampler

        torch.distributed.init_process_group("gloo")
        torch.manual_seed(0)
        sampler = DistributedSampler(range(8))
        loader = DataLoader(range(8), sampler=sampler, shuffle=(sampler is None))
        for epoch in range(3):
            sampler.set_epoch(epoch)
    """,
    "tf.data with stateless draws": """
        import tensorflow as tf

        tf.random.set_seed(0)
        data = tf.data.Dataset.range(8).map(lambda n: n + tf.random.stateless_uniform([], [0, n], 0, 9, tf.int64), num_parallel_calls=4)
        plain = tf.data.Dataset.range(8).map(lambda n: n + 1, num_parallel_calls=tf.data.AUTOTUNE)
    """,
    "a pause and a port": """
        import random
        import time

        import torch

        torch.manual_seed(0)
        port = random.randint(10000, 20000)
        time.sleep(random.random())
        TRAIN
    """,
    "a checkpoint whose missing keys are looked at": """
        import torch

        torch.manual_seed(0)
        model = torch.nn.Linear(4, 1)
        missing, unexpected = model.load_state_dict(torch.load("a.pt"), strict=False)
        assert not missing
    """,
    "dropout in a seeded program": """
        import torch
        from torch.nn import functional as F

        torch.manual_seed(0)
        TRAIN
        F.dropout(torch.ones(3), 0.5).sum().backward()
    """,
    "a library that leaves seeding to its callers": {
        "layers.py": LIBRARY,
    },
    "an environment for a child": """
        import os
        import subprocess

        environment = dict(os.environ)
        environment["PYTHONHASHSEED"] = "0"
        subprocess.run(["python", "train.py"], env=environment)
    """,
    "libraries that are given a state": """
        import gymnasium as gym
        import pandas as pd
        import tensorflow as tf
        from datasets import load_dataset

        part = pd.read_csv("x.csv").sample(frac=0.8, random_state=1)
        text = load_dataset("imdb")["train"].train_test_split(test_size=0.1, seed=3).shuffle(seed=1)
        data = tf.data.Dataset.range(8).shuffle(4, seed=1)
        environment = gym.make("CartPole-v1")
        environment.reset(seed=1)
        environment.reset()
    """,
    "a new head after a seed": """
        from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments, set_seed

        set_seed(1)
        model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=2)
        Trainer(model=model, args=TrainingArguments("out")).train()
    """,
    "a hash that is a key": """
        class Point:
            def __init__(self, x):
                self.x = x

            def __hash__(self):
                return hash(self.x)

        cache = {hash("a"): 1}
        print(hash("a") == hash("a"))
    """,
}

WRONG: dict[str, tuple[str, list[tuple[int, str]]]] = {
    "weights and shuffle without a seed": (
        """
        import torch
        from torch.utils.data import DataLoader as Loader

        loader = Loader(range(8), shuffle=True)
        TRAIN
        """,
        [(4, "RC501"), (5, "RC301")],
    ),
    "NumPy is seeded, Python is not": (
        """
        import random

        import numpy as np
        import torch

        np.random.seed(0)
        torch.manual_seed(0)
        pick = random.choice([1, 2, 3]) * np.random.rand()
        TRAIN
        """,
        [(8, "RC406")],
    ),
    "a seed from the clock through a helper": (
        """
        import time

        import torch

        def choose():
            return int(time.time() * 1000) % 2**31

        def fix(number):
            torch.manual_seed(number)

        fix(choose())
        """,
        [(9, "RC402")],
    ),
    "a seed that is drawn": (
        """
        import random

        import torch

        seed = random.randint(1, 10000)
        torch.manual_seed(seed)
        TRAIN
        """,
        [(6, "RC402")],
    ),
    "seeds from uuid, entropy and datetime": (
        """
        import os
        import uuid
        from datetime import datetime

        import numpy as np

        np.random.seed(int.from_bytes(os.urandom(4), "little"))
        np.random.seed(uuid.uuid4().int % 2**32)
        np.random.seed(datetime.now().microsecond)
        rng = np.random.default_rng(hash("name") % 100)
        """,
        [(7, "RC402"), (8, "RC402"), (9, "RC402"), (10, "RC402"), (10, "RC505")],
    ),
    "random_state from the clock": (
        """
        import time

        from sklearn.model_selection import train_test_split

        train, test = train_test_split([1, 2], random_state=int(time.time()))
        """,
        [(5, "RC402")],
    ),
    "an explicit None": (
        """
        import random
        import numpy as np

        random.seed(None)
        np.random.seed()
        """,
        [(4, "RC402"), (5, "RC402")],
    ),
    "a vocabulary counted through a set": (
        """
        index = {}
        for word in set("the cat sat".split()):
            index[word] = len(index)
        """,
        [(2, "RC505")],
    ),
    "labels from a set in a list": (
        """
        import torch

        names = ["cat", "dog"]
        classes = list(set(names))
        labels = torch.tensor([classes.index(name) for name in names])
        """,
        [(4, "RC505")],
    ),
    "samples of a set": (
        """
        import random

        random.seed(0)
        chosen = random.sample(list({"a", "b", "c"}), 2)
        """,
        [(4, "RC505")],
    ),
    "files in the order of the disk": (
        """
        import os
        from glob import glob
        from pathlib import Path

        class Images:
            def __init__(self, root):
                self.files = os.listdir(root)
                self.paths = [str(path) for path in Path(root).glob("*.png")]

        data = Images("x")
        for name in glob("*.txt"):
            print(name)
        first = glob("*.ckpt")[0]
        """,
        [(7, "RC104"), (8, "RC104"), (13, "RC104")],
    ),
    "walked without order": (
        """
        import os

        samples = []
        for root, folders, files in os.walk("data"):
            for name in files:
                samples.append(os.path.join(root, name))
        """,
        [(4, "RC104")],
    ),
    "generators in a sampler, a split and a layer": (
        """
        import numpy as np
        import torch
        from torch import nn

        torch.manual_seed(0)
        order = np.random.default_rng().permutation(8)

        class Noise(nn.Module):
            def __init__(self):
                super().__init__()
                self.rng = np.random.RandomState()

            def forward(self, x):
                return x + self.rng.rand()

        Noise()(torch.ones(2))
        """,
        [(6, "RC502"), (11, "RC601")],
    ),
    "a half filled layer": (
        """
        import torch
        from torch import nn

        torch.manual_seed(0)

        class Scaled(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.empty(4))
                self.register_buffer("mean", torch.empty(4))
                nn.init.ones_(self.scale)

        model = Scaled()
        """,
        [(10, "RC303")],
    ),
    "switches that contradict": (
        """
        import torch

        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cudnn.deterministic = True
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.enable = False
        """,
        [(3, "RC012"), (5, "RC706"), (6, "RC010")],
    ),
    "tensorflow's seed and layers of Keras 3": (
        """
        import tensorflow as tf
        from tensorflow import keras

        tf.random.set_seed(1)
        model = keras.Sequential([keras.layers.Dense(3)])
        model.fit(tf.zeros([4, 2]), tf.zeros([4]))
        """,
        [(5, "RC301")],
    ),
    "mindspore without a seed": (
        """
        import mindspore as ms
        import mindspore.dataset as ds
        from mindspore import nn
        from mindspore.dataset import vision

        data = ds.Cifar10Dataset("data")
        data = data.map(vision.RandomHorizontalFlip(), num_parallel_workers=8)
        network = nn.Dense(4, 1)
        ms.Model(network).train(1, data)
        """,
        [(6, "RC501"), (7, "RC514"), (7, "RC511"), (8, "RC301")],
    ),
    "augmentation of torchvision": (
        """
        from torchvision import transforms as T

        flip = T.Compose([T.RandomHorizontalFlip(), T.ToTensor()])
        """,
        [(3, "RC511")],
    ),
    "learning rates": (
        """
        import os
        import time

        import torch

        torch.manual_seed(0)
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3 * (1 + os.getpid() % 3))
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / step)
        for group in optimizer.param_groups:
            group["lr"] = 0.1 * (time.time() % 1)
        """,
        [(8, "RC201"), (11, "RC201")],
    ),
    "threads": (
        """
        import threading

        import torch

        torch.manual_seed(0)
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)

        def train():
            model(torch.ones(1, 4)).sum().backward()
            optimizer.step()

        workers = [threading.Thread(target=train) for _ in range(2)]
        for worker in workers:
            worker.start()
        """,
        [(13, "RC902")],
    ),
    "a pool that does not keep the order": (
        """
        from multiprocessing import Pool

        with Pool() as pool:
            samples = [sample for sample in pool.imap_unordered(abs, range(8))]
        """,
        [(4, "RC508")],
    ),
    "a loader out of order, and workers seeded by the clock": (
        """
        import time

        import numpy as np
        import torch
        from torch.utils.data import DataLoader

        def init(worker):
            np.random.seed(int(time.time()) + worker)

        torch.manual_seed(0)
        loader = DataLoader(range(8), num_workers=2, in_order=False, worker_init_fn=init)
        for batch in loader:
            pass
        """,
        [(8, "RC503"), (11, "RC508")],
    ),
    "seed after the model in main": (
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Conv2d(1, 2, 3)

        def main():
            model = Net()
            torch.manual_seed(0)
            model(torch.ones(1, 1, 4, 4)).sum().backward()

        if __name__ == "__main__":
            main()
        """,
        [(7, "RC302")],
    ),
    "private Keras": ("from tensorflow.python.keras.layers import Dense\n", [(1, "RC013")]),
    "a seed by assignment": ("import numpy as np\nimport torch\n\nnp.random.seed = 42\ntorch.manual_seed\n", [(4, "RC409"), (5, "RC409")]),
    "libraries that draw from NumPy": (
        """
        import pandas as pd
        from datasets import load_dataset

        part = pd.read_csv("x.csv").sample(frac=0.8)
        text = load_dataset("imdb")["train"].train_test_split(test_size=0.1)
        mixed = load_dataset("imdb")["train"].shuffle()
        """,
        [(4, "RC512"), (6, "RC501")],
    ),
    "tf.data without a seed": (
        """
        import tensorflow as tf

        data = tf.data.Dataset.range(8).batch(2).shuffle(4)
        """,
        [(3, "RC501")],
    ),
    "a new head before the trainer seeds": (
        """
        from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

        model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=2)
        trainer = Trainer(model=model, args=TrainingArguments("out"))
        trainer.train()
        """,
        [(3, "RC302")],
    ),
    "a schedule by the clock, and an environment": (
        """
        import time

        import gymnasium as gym
        import torch

        torch.manual_seed(0)
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=lambda epoch: time.time() % 1)
        environment = gym.make("CartPole-v1")
        state, _ = environment.reset()
        """,
        [(9, "RC201"), (11, "RC407")],
    ),
}
