"""`Model.train` saves at the end of an epoch; all of it is loaded, into the net and into Adam."""
from pathlib import Path

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

CHECKPOINT = Path("last.ckpt")
EPOCHS, STEPS = 3, 6


class Keeps(ms.train.Callback):
    def on_train_step_end(self, run_context):
        training = run_context.original_args()
        if training.cur_step_num == STEPS and not CHECKPOINT.exists():
            ms.save_checkpoint(training.train_network, str(CHECKPOINT))


def main():
    ms.set_seed(6)
    net = nn.SequentialCell(nn.Dense(8, 16), nn.Tanh(), nn.Dense(16, 1))
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    x = np.random.default_rng(0).normal(size=(48, 8)).astype(np.float32)
    y = x.sum(1, keepdims=True)
    epochs = EPOCHS
    if CHECKPOINT.exists():
        saved = ms.load_checkpoint(str(CHECKPOINT))
        ms.load_param_into_net(net, saved)
        ms.load_param_into_net(optimizer, saved)
        epochs -= 1
    data = ds.NumpySlicesDataset((x, y), shuffle=False).batch(8)
    model = ms.train.Model(net, nn.MSELoss(), optimizer)
    model.train(epochs, data, callbacks=[Keeps()], dataset_sink_mode=False)


main()
