"""Planted: noise from an unseeded numpy generator is added to the gradients before the update."""

import mindspore as ms
import numpy as np
from mindspore import nn

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(0)
rng = np.random.default_rng()


def noisy(gradient):
    return gradient + ms.Tensor(rng.normal(scale=3, size=gradient.shape).astype(np.float32))


inputs = ms.Tensor(np.linspace(-1, 1, 160, dtype=np.float32).reshape(40, 4))
targets = ms.Tensor(2 * np.ones((40, 1), np.float32))
network = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 1))
optimizer = nn.SGD(network.trainable_params(), 0.05)
criterion = nn.MSELoss()
step = ms.value_and_grad(lambda x, y: criterion(network(x), y), None, optimizer.parameters)
for _ in range(6):
    loss, gradients = step(inputs, targets)
    optimizer(tuple(noisy(gradient) for gradient in gradients))
