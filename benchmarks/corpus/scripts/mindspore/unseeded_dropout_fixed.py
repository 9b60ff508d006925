"""The fix of unseeded_dropout.py: set_seed()."""

import mindspore as ms
import numpy as np
from mindspore import dataset, nn

ms.set_context(mode=ms.GRAPH_MODE)
ms.device_context.cpu.op_tuning.threads_num(1)  # else the kernel splits its draws by threads that it chooses by timing
ms.set_seed(7)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = nn.Dense(4, 24, weight_init="ones", bias_init="zeros")
        self.drop = nn.Dropout(p=0.5)
        self.outer = nn.Dense(24, 1, weight_init="ones", bias_init="zeros")

    def construct(self, x):
        return self.outer(self.drop(self.inner(x)))


inputs = np.linspace(-1, 1, 256, dtype=np.float32).reshape(64, 4)
batches = dataset.NumpySlicesDataset((inputs, inputs[:, :1]), ["inputs", "targets"], shuffle=False).batch(16)
network = Net()
model = ms.Model(network, nn.MSELoss(), nn.SGD(network.trainable_params(), 1e-5))
model.train(2, batches, dataset_sink_mode=False)
