"""The fix of augmentation.py: the noise has a seed."""

import mindspore as ms
import numpy as np
from mindspore import dataset, nn

ms.set_seed(1)
np.random.seed(1)


class Source:
    def __init__(self):
        self.rng = np.random.default_rng(1)

    def __len__(self):
        return 48

    def __getitem__(self, index):
        clean = np.full(4, index / 48, np.float32)
        return clean + self.rng.normal(scale=4, size=4).astype(np.float32), clean[:1]


batches = dataset.GeneratorDataset(Source(), ["inputs", "targets"], shuffle=False, num_parallel_workers=1).batch(8)
network = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 1))
model = ms.Model(network, nn.MSELoss(), nn.Momentum(network.trainable_params(), 0.001, 0.9))
model.train(1, batches, dataset_sink_mode=False)
