"""Data-parallel training of two ranks on the CPU, started by msrun: each rank has its own samples, gradients are summed over ranks.

With `fault`, the backward pass of one layer of rank 1 adds noise that differs in every run.
"""

import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
init()
rank, size = get_rank(), get_group_size()


class Noisy(nn.Cell):
    def construct(self, x):
        return x * 1.0

    def bprop(self, x, out, dout):
        noise = np.random.default_rng().normal(size=x.shape).astype(np.float32)
        return (dout + 1000 * Tensor(noise),)


x = Tensor(np.arange(32, dtype=np.float32).reshape(8, 4) / 32 + rank)
y = Tensor(np.ones((8, 1), np.float32))
layers = [nn.Dense(4, 4, weight_init="ones", bias_init="zeros"), nn.Dense(4, 1, weight_init="ones", bias_init="zeros")]
if rank == 1 and "fault" in sys.argv:
    layers.insert(1, Noisy())
network, mse = nn.SequentialCell(layers), nn.MSELoss()
optimizer = nn.SGD(network.trainable_params(), 0.001)
grad = ms.value_and_grad(lambda a, b: mse(network(a), b), None, optimizer.parameters)
all_reduce = ops.AllReduce()
for _ in range(6):
    loss, grads = grad(x, y)
    optimizer(tuple(all_reduce(g) / size for g in grads))
    print("loss", rank, float(loss.asnumpy()).hex(), flush=True)
