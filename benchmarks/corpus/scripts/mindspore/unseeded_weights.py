"""Planted: PyNative mode, functional loop, no seed: the first weights differ."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Dense(5, 16), nn.Dense(16, 1)

    def construct(self, x):
        return self.outer(ops.relu(self.inner(x)))


network = Net()
inputs = ms.Tensor(np.linspace(-2, 2, 200, dtype=np.float32).reshape(40, 5))
targets = ms.Tensor(np.linspace(3, 9, 40, dtype=np.float32).reshape(40, 1))
optimizer = nn.Adam(network.trainable_params(), 1e-3)
criterion = nn.MSELoss()
step = ms.value_and_grad(lambda x, y: criterion(network(x), y), None, optimizer.parameters)
for _ in range(6):
    loss, gradients = step(inputs, targets)
    optimizer(gradients)
