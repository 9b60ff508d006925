"""Wrong programs, with the lines and codes that they must have."""

from __future__ import annotations

KNOWN: dict[str, tuple[str, list[tuple[int, str]]]] = {
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
    "a seed from the number of the job": (
        """
        import os
        import torch

        seed = 42 + int(os.environ.get("SLURM_JOB_ID", 0))
        torch.manual_seed(seed)
        torch.manual_seed(int(os.environ["PBS_JOBID"].split(".")[0]))
        TRAIN
        """,
        [(5, "RC402"), (6, "RC402")],
    ),
    "a batch size by the memory that is free": (
        """
        import torch

        torch.manual_seed(0)
        size = max(1, torch.cuda.mem_get_info()[0] // 2**28)
        loader = torch.utils.data.DataLoader([1, 2, 3], batch_size=size)
        TRAIN
        """,
        [(5, "RC201")],
    ),
    "files with random names, read in the order of these": (
        """
        import glob
        import uuid
        from pathlib import Path
        import torch

        torch.manual_seed(0)
        out = Path("out")
        for part in range(3):
            torch.save(torch.ones(part), out / f"{uuid.uuid4().hex}.pt")
        rows = [torch.load(name) for name in sorted(glob.glob("out/*.pt"))]
        other = [torch.load(name) for name in sorted(glob.glob("in/*.pt"))]
        TRAIN
        """,
        [(10, "RC105")],
    ),
    "kernels of Triton that are timed, and attention of xformers": (
        """
        import torch
        import triton
        from xformers.ops import memory_efficient_attention as attend

        @triton.autotune(configs=[triton.Config({"B": 64}), triton.Config({"B": 128})], key=["n"])
        @triton.jit
        def add(x, y, n, B):
            pass

        @triton.autotune(configs=[triton.Config({"B": 64})], key=["n"])
        @triton.jit
        def one(x, y, n, B):
            pass

        torch.manual_seed(0)
        net = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for x in torch.ones(3, 4):
            attend(net(x), x, x).sum().backward()
            optimizer.step()
        """,
        [(5, "RC004"), (19, "RC703")],
    ),
    "a seed that is drawn": (
        """
        import random

        import torch

        seed = random.randint(1, 10000)
        torch.manual_seed(seed)
        TRAIN
        """,
        [(5, "RC402")],
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
        [(7, "RC402"), (8, "RC402"), (9, "RC402"), (10, "RC402")],
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
    "several environments at once, in wrappers": (
        """
        import gymnasium as gym
        import torch

        def make(number):
            def thunk():
                environment = gym.wrappers.RecordEpisodeStatistics(gym.make("CartPole-v1"))
                environment.action_space.seed(number)
                return environment
            return thunk

        def train():
            torch.manual_seed(0)
            environments = gym.vector.SyncVectorEnv([make(number) for number in range(4)])
            model = torch.nn.Linear(4, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            state, _ = environments.reset()
            model(torch.tensor(state)).sum().backward()
            optimizer.step()

        if __name__ == "__main__":
            train()
        """,
        [(16, "RC407")],
    ),
    "a learner that seeds its environment only where it is told": (
        """
        import gymnasium as gym
        import torch
        from stable_baselines3 import PPO

        torch.manual_seed(0)
        model = PPO("MlpPolicy", gym.make("CartPole-v1"))
        model.learn(total_timesteps=256)
        """,
        [(6, "RC407")],
    ),
    "a model of transformers that is built before the trainer seeds": (
        """
        from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

        model = BertForSequenceClassification(BertConfig(num_hidden_layers=1))
        trainer = Trainer(model=model, args=TrainingArguments("out", seed=1234))
        trainer.train()
        """,
        [(3, "RC302")],
    ),
    "a model of timm that is not pretrained": (
        """
        import timm
        import torch

        model = timm.create_model("resnet18", pretrained=False)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.ones(1, 3, 32, 32)).sum().backward()
        optimizer.step()
        """,
        [(4, "RC301")],
    ),
    "actions of a space that nobody seeds": (
        """
        import gymnasium as gym
        import torch

        torch.manual_seed(0)
        environment = gym.make("CartPole-v1")
        state, _ = environment.reset(seed=0)
        model = torch.nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(20):
            state, *_ = environment.step(environment.action_space.sample())
            model(torch.tensor(state)).sum().backward()
            optimizer.step()
        """,
        [(10, "RC407")],
    ),
    "no seed beside keywords that are not known": (
        """
        import sys

        import numpy as np

        def generator(**options):
            return np.random.default_rng(seed=None, **options)

        print(generator(**dict(one.split("=") for one in sys.argv[1:])).random())
        """,
        [(6, "RC407")],
    ),
    "an environment that is reset with no seed, and says so": (
        """
        import gymnasium as gym
        import torch

        torch.manual_seed(0)
        environment = gym.make("CartPole-v1")
        state, _ = environment.reset(seed=None)
        model = torch.nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(20):
            state, *_ = environment.step(int(model(torch.tensor(state)).argmax()))
            model(torch.tensor(state)).sum().backward()
            optimizer.step()
        """,
        [(6, "RC407")],
    ),
    "pipelines of MindSpore that draw in threads": (
        """
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
            plain.batch(8, per_batch_map=noisy, input_columns=["x"], num_parallel_workers=2),
            ds.GeneratorDataset(
                Source(), ["x"], num_parallel_workers=2, python_multiprocessing=False
            ),
        ):
            print(next(rows.create_tuple_iterator()))
        """,
        [(20, "RC509"), (21, "RC509")],
    ),
}
