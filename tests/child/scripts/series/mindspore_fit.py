"""MindSpore fits, evaluates, writes a summary, and steps by hand and in a graph; prints what it reported, as the recorder should have it."""

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
listed = nn.SGD(net.trainable_params(), [0.1, 0.05])
model = ms.train.Model(net, nn.MSELoss(), listed, metrics={"mae": nn.MAE()})
report("learning_rate", np.float32(0.1), 1)
report("learning_rate", np.float32(0.05), 2)
model.fit(1, data, data, callbacks=[Seen()])
for name, value in model.eval(data).items():
    report(name, value, 2)
with ms.SummaryRecord("summary") as summary:
    summary.add_value("scalar", "loss", ms.Tensor(0.1))
    summary.record(1)
report("loss", np.float32(0.1), 2)

x, y = ms.Tensor(np.ones((4, 3), "float32")), ms.Tensor(np.zeros((4, 1), "float32"))
net = nn.Dense(3, 1)
weight, bias = net.trainable_params()
groups = [{"params": [weight], "lr": 0.2}, {"params": [bias]}]
grouped = nn.Momentum(groups, 0.3, 0.9)
with_loss = nn.WithLossCell(net, nn.MSELoss())
gradients = ms.value_and_grad(with_loss, None, grouped.parameters)
for _ in range(2):  # the rates stay: they are reported once
    grouped(gradients(x, y)[1])
report("learning_rate/1.0", np.float32(0.2), 3)
report("learning_rate/1.1", np.float32(0.3), 3)

scheduled = nn.SGD(net.trainable_params(), nn.ExponentialDecayLR(0.1, 0.9, 2))
scheduled(gradients(x, y)[1])  # its rate would have to be computed

ms.set_context(mode=ms.GRAPH_MODE)
plain = nn.SGD(net.trainable_params(), 0.1)
step = nn.TrainOneStepCell(with_loss, plain)
ms.ops.assign(plain.learning_rate, ms.Tensor(0.02))
step(x, y)
report("learning_rate/3.0", np.float32(0.02), 6)
print(json.dumps(reported))
