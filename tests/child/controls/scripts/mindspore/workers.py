"""Datasets with two workers each, whose sources and operations draw random numbers or do not."""

import functools
import random

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import transforms, vision


class Still:
    def __init__(self):
        self.x = np.random.default_rng(0).random((8, 4, 4, 3)).astype(np.float32)

    def __getitem__(self, index):
        return (self.x[index],)

    def __len__(self):
        return len(self.x)


class Noisy(Still):
    def __getitem__(self, index):
        return (self.x[index] + np.random.rand(),)


class Erase:
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __call__(self, image):
        return image * self.draw()

    def draw(self):
        return self.rng.random()


def half(image):
    return image / 2


def jitter(scale, image):
    return image + scale * random.random()


still = ds.GeneratorDataset(Still(), ["x"], num_parallel_workers=2)
noisy = ds.GeneratorDataset(Noisy(), ["x"], num_parallel_workers=2)
halved = still.map(half, num_parallel_workers=2)
erased = still.map([half, Erase()], num_parallel_workers=2)
jittered = still.map(functools.partial(jitter, 0.1), num_parallel_workers=2)
flipped = still.map(transforms.Compose([vision.RandomHorizontalFlip(0.5)]), num_parallel_workers=2)
scaled = still.map(vision.Rescale(0.5, 0.0), num_parallel_workers=2)
lambdas = still.map(lambda image: image + np.random.rand(), num_parallel_workers=2)
batched = still.batch(2, num_parallel_workers=2)
