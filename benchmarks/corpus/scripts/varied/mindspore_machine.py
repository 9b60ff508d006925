"""Planted: the learning target depends on the name of the machine."""

import platform
import zlib

import mindspore as ms
from mindspore import nn
import numpy as np

value = 1 + zlib.crc32(platform.node().encode()) % 100 / 50
ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(0)
inputs = ms.Tensor(np.linspace(-1, 1, 24, dtype=np.float32).reshape(6, 4))
targets = ms.Tensor(np.full((6, 1), value, np.float32))
network = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 1))
optimizer = nn.SGD(network.trainable_params(), 0.05)
criterion = nn.MSELoss()
step = ms.value_and_grad(lambda x, y: criterion(network(x), y), None, optimizer.parameters)
for _ in range(4):
    loss, gradients = step(inputs, targets)
    optimizer(gradients)
