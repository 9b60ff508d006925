"""MindSpore fits, evaluates and writes a summary; prints what it reported, as the recorder should have it."""

import json

import mindspore as ms
import numpy as np
from mindspore import nn

reported = []


def report(name, value, iteration):
    reported.append([name, "mindspore", float(value).hex(), iteration, None])


class Seen(ms.train.Callback):
    def on_eval_end(self, run_context):
        for name, value in run_context.original_args().metrics.items():
            report(name, value, 2)


ms.set_seed(1)
data = ms.dataset.NumpySlicesDataset(
    (np.ones((8, 3), "float32"), np.zeros((8, 1), "float32")), shuffle=False
).batch(4)
net = nn.Dense(3, 1)
model = ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), metrics={"mae": nn.MAE()})
model.fit(1, data, data, callbacks=[Seen()])
for name, value in model.eval(data).items():
    report(name, value, 2)
with ms.SummaryRecord("summary") as summary:
    summary.add_value("scalar", "loss", ms.Tensor(0.1))
    summary.record(1)
report("loss", np.float32(0.1), 2)
print(json.dumps(reported))
