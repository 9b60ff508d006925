"""Right programs: files, sets, weights, workers, time and switches."""

from __future__ import annotations

from tests.scan.snippets.parts import LIBRARY

DATA: dict[str, str | dict[str, str]] = {
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
        time.sleep(0.01 + random.SystemRandom().random() / 50)
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
    "learners that are given a seed, or whose environment and networks have one": """
        import gymnasium as gym
        from stable_baselines3 import DQN, PPO
        from stable_baselines3.common.env_util import make_vec_env
        from stable_baselines3.common.utils import set_random_seed

        DQN("MlpPolicy", gym.make("CartPole-v1"), seed=3).learn(total_timesteps=256)
        set_random_seed(3)
        PPO("MlpPolicy", make_vec_env("CartPole-v1", n_envs=2, seed=3)).learn(total_timesteps=256)
    """,
    "a model of timm that is pretrained": """
        import timm
        import torch

        model = timm.create_model("resnet18", pretrained=True)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.ones(1, 3, 32, 32)).sum().backward()
        optimizer.step()
    """,
    "a model of transformers that is built after a seed": """
        from transformers import BertConfig, BertModel, set_seed

        set_seed(1)
        model = BertModel(BertConfig(num_hidden_layers=1))
        model(input_ids=ids).last_hidden_state.sum().backward()
    """,
    "an environment and its space, both seeded": """
        import gymnasium as gym
        import torch

        torch.manual_seed(0)
        environment = gym.wrappers.RecordEpisodeStatistics(gym.make("CartPole-v1"))
        environment.action_space.seed(0)
        model = torch.nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        state, _ = environment.reset(seed=0)
        for step in range(20):
            state, *_ = environment.step(environment.action_space.sample())
            model(torch.tensor(state)).sum().backward()
            optimizer.step()
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
    "pipelines of MindSpore that draw in one worker, or in processes": """
        import mindspore as ms
        import mindspore.dataset as ds
        import numpy as np

        ms.set_seed(1)
        np.random.seed(1)

        class Source:
            def __len__(self):
                return 64

            def __getitem__(self, index):
                return (np.random.randn(4).astype(np.float32),)

        def noisy(rows, info):
            return ([row + np.random.randn(4).astype(np.float32) for row in rows],)

        plain = ds.NumpySlicesDataset({"x": np.zeros((64, 4), np.float32)}, shuffle=False)
        for rows in (
            plain.batch(8, per_batch_map=noisy, input_columns=["x"], num_parallel_workers=1),
            plain.batch(8, per_batch_map=noisy, input_columns=["x"], python_multiprocessing=True),
            ds.GeneratorDataset(Source(), ["x"], num_parallel_workers=2),
            ds.GeneratorDataset(Source(), ["x"], python_multiprocessing=False),
        ):
            print(next(rows.create_tuple_iterator()))
    """,
}
