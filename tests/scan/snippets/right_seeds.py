"""Right programs: seeds and generators."""

from __future__ import annotations

from tests.scan.snippets.parts import SAMPLING, SEEDING, TRAIN

SEEDS: dict[str, str | dict[str, str]] = {
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
}
