"""A user's own train cell over a pipeline with Python functions, two groups with schedules, a loaded checkpoint; then a scaled loss.

Prints each loss with every bit. Argument: graph or pynative.
"""

import random
import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, amp, dataset, nn, ops

ms.set_context(mode=ms.GRAPH_MODE if sys.argv[1] == "graph" else ms.PYNATIVE_MODE)
ms.set_seed(3)
ms.manual_seed(4)
random.seed(7)


class Source:
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return np.random.RandomState(index).randn(1, 8, 8).astype(np.float32), np.int32(index % 3)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.encoder = nn.SequentialCell(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
        self.lstm = nn.LSTM(32, 6, batch_first=True)
        self.head = nn.Dense(6, 3)

    def construct(self, x):
        features = self.encoder(x).transpose((0, 2, 1, 3)).reshape((x.shape[0], 8, 32))
        states, _ = self.lstm(features)
        return self.head(states[:, -1])


class WithLoss(nn.Cell):
    def __init__(self, backbone):
        super().__init__()
        self.backbone, self.loss = backbone, nn.CrossEntropyLoss()

    def construct(self, x, y):
        return self.loss(self.backbone(x), y)


class Step(nn.Cell):
    def __init__(self, net, optimizer):
        super().__init__()
        self.net, self.optimizer = net, optimizer
        self.weights = optimizer.parameters
        self.grad = ops.GradOperation(get_by_list=True)

    def construct(self, x, y):
        loss = self.net(x, y)
        grads = self.grad(self.net, self.weights)(x, y)
        return ops.depend(loss, self.optimizer(grads))


def said(loss):
    print("loss", float(loss.asnumpy()).hex())


net = Net()
ms.save_checkpoint(net, "net.ckpt")
ms.load_param_into_net(net, ms.load_checkpoint("net.ckpt"))
first = [weight for weight in net.trainable_params() if "encoder" in weight.name]
rest = [weight for weight in net.trainable_params() if "encoder" not in weight.name]
groups = [{"params": first, "lr": nn.ExponentialDecayLR(0.5, 0.5, 1), "weight_decay": 0.25}, {"params": rest}]
step = Step(WithLoss(net), nn.Adam(groups, learning_rate=nn.ExponentialDecayLR(0.25, 0.5, 1))).set_train()
samples = dataset.GeneratorDataset(Source(), ["x", "y"], shuffle=True, num_parallel_workers=1)
samples = samples.map(lambda x: x + np.float32(random.random() * 0.01), ["x"], num_parallel_workers=1).batch(4)
for number, (x, y) in enumerate(samples.create_tuple_iterator(num_epochs=1)):
    said(step(x, y))
    if not number:
        net.head.bias.set_data(2 * net.head.bias)

linear = nn.Dense(4, 1, weight_init="ones")
scaler, mse = amp.StaticLossScaler(1024.0), nn.MSELoss()
optimizer = nn.Momentum(linear.trainable_params(), [0.5, 0.25], 0.5)
inputs, targets = Tensor(np.ones((2, 4), np.float32)), Tensor(np.zeros((2, 1), np.float32))


@ms.jit
def forward(a, b):
    return mse(linear(a), b)


grad = ms.value_and_grad(lambda a, b: scaler.scale(forward(a, b)), None, optimizer.parameters)
for _ in range(2):
    loss, gradients = grad(inputs, targets)
    said(loss)
    optimizer(scaler.unscale(gradients))
print("draws", random.random().hex(), np.random.rand().hex(), float(ops.rand(1).asnumpy()[0]).hex())
