"""`Model.train` saves in mid-epoch; of what was saved the first layer alone is loaded, and the data
begin at the first batch again.
"""
from pathlib import Path

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

CHECKPOINT = Path("last.ckpt")


class Keeps(ms.train.Callback):
    def on_train_step_end(self, run_context):
        training = run_context.original_args()
        if training.cur_step_num == 4:
            ms.save_checkpoint(training.train_network, str(CHECKPOINT))


def main():
    ms.set_seed(6)
    net = nn.SequentialCell(nn.Dense(8, 16), nn.Tanh(), nn.Dense(16, 1))
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    x = np.random.default_rng(0).normal(size=(48, 8)).astype(np.float32)
    y = x.sum(1, keepdims=True)
    if CHECKPOINT.exists():
        saved = ms.load_checkpoint(str(CHECKPOINT))
        first_layer = {name: one for name, one in saved.items() if name.startswith("0.")}
        ms.load_param_into_net(net, first_layer)
    data = ds.NumpySlicesDataset((x, y), shuffle=False).batch(8)
    model = ms.train.Model(net, nn.MSELoss(), optimizer)
    model.train(3, data, callbacks=[Keeps()], dataset_sink_mode=False)


main()
