"""Weights and batches are fixed to the last bit; nn.Dropout is left in and nothing is seeded."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

inputs = Tensor(np.linspace(-1, 1, 128, dtype=np.float32).reshape(32, 4))
targets = Tensor(np.ones((32, 1), np.float32) * 3)
ones = {"weight_init": "ones", "bias_init": "zeros"}
network = nn.SequentialCell(nn.Dense(4, 32, **ones), nn.Dropout(p=0.5), nn.Dense(32, 1, **ones)).set_train()
optimizer = nn.SGD(network.trainable_params(), 1e-4)
mse = nn.MSELoss()
gradient = ms.value_and_grad(lambda x, y: mse(network(x), y), None, optimizer.parameters)
for _ in range(3):
    loss, gradients = gradient(inputs, targets)
    optimizer(gradients)
