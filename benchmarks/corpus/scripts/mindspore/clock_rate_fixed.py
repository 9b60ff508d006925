"""The fix of clock_rate.py: the learning rate is a number."""

import mindspore as ms
import numpy as np
from mindspore import nn

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(0)
rate = 0.1
inputs = ms.Tensor(np.linspace(-1, 1, 160, dtype=np.float32).reshape(40, 4))
targets = ms.Tensor(4 * np.ones((40, 1), np.float32))
network = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 1))
optimizer = nn.Momentum(network.trainable_params(), rate, 0.9)
criterion = nn.MSELoss()
step = ms.value_and_grad(lambda x, y: criterion(network(x), y), None, optimizer.parameters)
for _ in range(6):
    loss, gradients = step(inputs, targets)
    optimizer(gradients)
