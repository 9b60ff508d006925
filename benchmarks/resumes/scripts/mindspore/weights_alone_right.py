"""Saves and loads the optimizer, which holds the parameters of the net as well."""
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn

CHECKPOINT = Path("last.ckpt")


def main():
    ms.set_seed(6)
    net = nn.SequentialCell(nn.Dense(8, 16), nn.Tanh(), nn.Dense(16, 1))
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    measure = nn.MSELoss()
    x = np.random.default_rng(0).normal(size=(48, 8)).astype(np.float32)
    y = x.sum(1, keepdims=True)
    first = 0
    if CHECKPOINT.exists():
        saved = ms.load_checkpoint(str(CHECKPOINT))
        first = int(saved["step"].asnumpy())
        ms.load_param_into_net(optimizer, saved)
        ms.load_param_into_net(net, saved)
    grad = ms.value_and_grad(lambda a, b: measure(net(a), b), None, optimizer.parameters)
    for step in range(first, 18):
        at = step % 6 * 8
        _, gradients = grad(ms.Tensor(x[at : at + 8]), ms.Tensor(y[at : at + 8]))
        optimizer(gradients)
        if (step + 1) % 4 == 0:
            ms.save_checkpoint(optimizer, str(CHECKPOINT), append_dict={"step": step + 1})


main()
