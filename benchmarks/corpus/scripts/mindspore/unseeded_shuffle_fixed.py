"""The fix of unseeded_shuffle.py: the dataset's seed is set."""

import mindspore as ms
import numpy as np
from mindspore import dataset, nn

ms.set_context(mode=ms.PYNATIVE_MODE)
dataset.config.set_seed(3)
inputs = np.linspace(-3, 3, 240, dtype=np.float32).reshape(60, 4)
source = dataset.NumpySlicesDataset((inputs, 5 * inputs[:, :1] ** 2), ["inputs", "targets"], shuffle=True)
batches = source.batch(10)
layers = [nn.Dense(4, 8, weight_init="ones", bias_init="zeros"), nn.ReLU(), nn.Dense(8, 1, weight_init="ones", bias_init="zeros")]
network = nn.SequentialCell(layers)
optimizer = nn.SGD(network.trainable_params(), 1e-5)
criterion = nn.MSELoss()
step = ms.value_and_grad(lambda x, y: criterion(network(x), y), None, optimizer.parameters)
for features, target in batches.create_tuple_iterator():
    loss, gradients = step(features, target)
    optimizer(gradients)
