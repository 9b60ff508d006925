"""MindSpore's `Model.train` with the callback."""

import mindspore as ms
import numpy as np
from mindspore import dataset, nn

import reprocheck

ms.set_seed(0)
inputs = np.sin(np.arange(64, dtype=np.float32)).reshape(16, 4)
data = dataset.NumpySlicesDataset((inputs, inputs.sum(axis=1, keepdims=True)), shuffle=False).batch(4)
network = nn.Dense(4, 1)
model = ms.train.Model(network, nn.MSELoss(), nn.SGD(network.trainable_params(), 0.1))
model.train(2, data, callbacks=[reprocheck.MindSporeCallback()], dataset_sink_mode=False)
