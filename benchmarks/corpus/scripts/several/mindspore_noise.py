"""MindSpore: weights without a seed, samples with a generator of their own."""

import mindspore as ms
import numpy as np
from mindspore import nn

generator = np.random.default_rng()


def samples():
    for row in range(32):
        clean = np.sin(np.arange(6, dtype=np.float32) + row)
        yield clean + generator.normal(scale=0.2, size=6).astype(np.float32), clean[:1]


def main() -> None:
    network = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 1))
    data = ms.dataset.GeneratorDataset(samples, ["noisy", "clean"], shuffle=False).batch(8)
    loss = nn.MSELoss()
    optimizer = nn.SGD(network.trainable_params(), learning_rate=0.05)
    model = ms.Model(network, loss, optimizer)
    model.train(2, data, dataset_sink_mode=False)


main()
