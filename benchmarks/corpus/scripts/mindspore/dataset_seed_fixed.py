"""The fix of dataset_seed: the pipeline gets a fixed seed, too."""

import mindspore as ms
import numpy as np
from mindspore import dataset, nn


def main():
    ms.set_seed(4)
    network = nn.Dense(4, 1)
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    dataset.config.set_seed(4)
    rows = np.arange(256, dtype=np.float32).reshape(64, 4) / 128
    batches = dataset.NumpySlicesDataset((rows, 3 * rows[:, :1]), shuffle=True).batch(8)
    step = ms.value_and_grad(lambda x, y: nn.MSELoss()(network(x), y), None, optimizer.parameters)
    for inputs, targets in batches.create_tuple_iterator():
        _loss, gradients = step(inputs, targets)
        optimizer(gradients)


if __name__ == "__main__":
    main()
