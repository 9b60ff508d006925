"""The same two iterations with the mistakes that MindSpore's guide warns of: the runs differ from
the first loss on.

    reprocheck run examples/mindspore/two_iterations_mistakes.py

No seed, weights drawn at every start, shuffled samples, dropout, and data sinking, which would
leave one loss for the whole epoch (reprocheck turns it off and says so).
"""

import mindspore as ms
import numpy as np
from mindspore import dataset, nn

ms.set_context(mode=ms.GRAPH_MODE)

points = np.stack([np.linspace(-1, 1, 64), np.cos(np.arange(64))], axis=1).astype(np.float32)
targets = (2 * points[:, :1] - 3 * points[:, 1:] + 0.5).astype(np.float32)

network = nn.SequentialCell(nn.Dense(2, 8), nn.Tanh(), nn.Dropout(p=0.5), nn.Dense(8, 1))
batches = dataset.NumpySlicesDataset((points, targets), ["points", "targets"], shuffle=True).batch(
    32
)
optimizer = nn.Momentum(network.trainable_params(), learning_rate=0.05, momentum=0.9)
model = ms.Model(network, loss_fn=nn.MSELoss(), optimizer=optimizer)
model.train(1, batches, callbacks=ms.LossMonitor(1), dataset_sink_mode=True)
