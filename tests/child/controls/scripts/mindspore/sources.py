"""One line of JSON for each source of difference that a control removes: what it drew, made or was set to."""

import json
import random

import numpy as np

np.random.seed(5)  # before the import: a control that seeds must not undo it
random.seed(5)

import mindspore as ms  # noqa: E402
from mindspore import Tensor, dataset, mint, nn, ops  # noqa: E402
from mindspore.dataset import transforms, vision  # noqa: E402

X = Tensor(np.linspace(1, 2, 240, dtype=np.float32).reshape(4, 60))
IMAGES = (np.arange(8 * 12 * 12 * 3).reshape(8, 12, 12, 3) % 251).astype(np.uint8)


def say(name, value):
    value = value.asnumpy() if isinstance(value, Tensor) else value
    print(json.dumps([name, np.asarray(value).tolist() if isinstance(value, np.ndarray) else value]), flush=True)


def samples(source, column="x"):
    return [row[column].tolist() for row in source.create_dict_iterator(num_epochs=1, output_numpy=True)]


def numbers(**how):
    return dataset.NumpySlicesDataset({"x": np.arange(32)}, **how)


def images(*operations):
    made = dataset.NumpySlicesDataset({"x": IMAGES}, shuffle=False).map(list(operations), "x", num_parallel_workers=2)
    return [row["x"] for row in made.create_dict_iterator(num_epochs=1, output_numpy=True)]


class Net(nn.Cell):
    """Dropout in every way that a cell can ask for it, called in the mode that is on."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(p=0.5)
        self.keep = nn.Dropout(keep_prob=0.5)
        self.drop2 = nn.Dropout2d(p=0.5)
        self.primitive = ops.Dropout(keep_prob=0.5)

    def construct(self, x):
        y = ops.dropout(x, p=0.5) + self.drop(x) + self.keep(x)
        image = self.drop2(x.reshape(4, 60, 1, 1)).reshape(4, 60) + ops.dropout3d(x.reshape(4, 60, 1, 1, 1), 0.5).reshape(4, 60)
        return y + image + self.primitive(x)[0]


@ms.jit
def compiled(x):
    return ops.dropout(x, p=0.5)


def generators():
    say("numpy of the script", np.random.rand())
    say("random of the script", random.random())
    say("weights", nn.Dense(4, 4).weight)
    say("standard normal", ops.standard_normal((4,)))
    say("default generator", ms.get_rng_state())
    say("primitive", ops.StandardNormal()((4,)))
    say("primitives", (ops.UniformReal()((4,)) - ops.UniformReal()((4,))).asnumpy())
    say("bernoulli", ops.bernoulli(X - 1))
    say("reseeded", [ms.Generator().seed(), ms.Generator().seed()])
    say("default reseeded", ms.seed())


def data():
    say("shuffled", samples(numbers(shuffle=True)))
    say("buffer", samples(numbers(shuffle=False).shuffle(8)))
    say("sampler", samples(numbers(sampler=dataset.RandomSampler(num_samples=8))))
    say("subset", samples(numbers(sampler=dataset.SubsetRandomSampler([9, 4, 7, 1]))))
    say("weighted", samples(numbers(sampler=dataset.WeightedRandomSampler([0.5] * 32, num_samples=4))))
    say("shard", samples(numbers(shuffle=True, num_shards=4, shard_id=1)))
    flip = [vision.RandomHorizontalFlip(0.5), vision.RandomColorAdjust(0.5)]
    say("flips", [image.tolist() for image in images(*flip)])
    say(
        "crops",
        [image[:, :, 0].tolist() for image in images(transforms.Compose([vision.RandomCrop(6, padding=2)]), vision.RandomVerticalFlip())],
    )
    say("resized", [list(image.shape) for image in images(vision.RandomResizedCrop(5))])
    say("one of", [image[0, :, 0].tolist() for image in images(transforms.RandomChoice([vision.CenterCrop(8), vision.CenterCrop(4)]))])
    say("eager", [vision.RandomHorizontalFlip(0.5)(image).tolist() for image in IMAGES])
    say("workers", numbers(num_parallel_workers=2).num_parallel_workers)
    dataset.config.set_num_parallel_workers(2)
    say("default workers", dataset.config.get_num_parallel_workers())


def network():
    network = Net().set_train()
    say("dropout", network(X))
    ms.set_context(mode=ms.GRAPH_MODE)
    say("graph", ms.get_context("mode") == ms.GRAPH_MODE)
    say("dropout in a graph", Net().set_train()(X))
    say("dropout in jit", compiled(X))
    ms.set_context(mode=ms.PYNATIVE_MODE)


def memory():
    held = [mint.empty((50,)), mint.empty_like(X), X.new_empty((50,)), mint.empty((2, 3), dtype=ms.float16)]
    say("memory", [float(tensor.sum().asnumpy()) for tensor in held])


def switches():
    say("deterministic", ms.get_context("deterministic"))
    ms.set_deterministic(True)
    ms.runtime.dispatch_threads_num(2)
    say("blocking", ms.runtime.executor.RuntimeConf.get_instance().is_launch_blocking())
    ms.set_context(pynative_synchronize=False)


switches()
generators()
data()
network()
memory()
say("numpy afterwards", np.random.rand())
ms.set_seed(1)
say("standard normal of the script", ops.standard_normal((4,)))
say("primitive under a global seed", ops.StandardNormal()((4,)))
