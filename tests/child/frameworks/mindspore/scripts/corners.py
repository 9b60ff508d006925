"""What must not count, updates by hand, and a step that a loss scaler skips. Prints the losses of the updates by hand."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, dataset, nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)
x, y = Tensor(np.linspace(-1, 1, 32, dtype=np.float32).reshape(8, 4)), Tensor(np.ones((8, 1), np.float32))
mse = nn.MSELoss()
network = nn.Dense(4, 1, weight_init="ones", bias_init="zeros")


@ms.jit
def forward(a, b):
    return mse(network(a), b)


def updates_by_hand():
    weights = network.trainable_params()
    grad = ms.value_and_grad(lambda a, b: mse(network(a), b), None, weights)
    for rate in (0.0, 0.1, 0.1):
        loss, grads = grad(x, y)
        print("loss", float(loss.asnumpy()).hex())
        for weight, gradient in zip(weights, grads, strict=True):
            ops.assign(weight, weight - rate * gradient)


class Owner(nn.Cell):
    """Owns an optimizer, and infers when it is called."""

    def __init__(self):
        super().__init__()
        self.network = network
        self.optimizer = nn.SGD(network.trainable_params(), 0.1)

    def construct(self, a):
        return self.network(a).sum()


class Overflowing(nn.Cell):
    """Stands in for TrainOneStepWithLossScaleCell, which needs a GPU or Ascend: (loss, overflow, scale)."""

    def __init__(self):
        super().__init__()
        self.network, self.optimizer = network, nn.SGD(network.trainable_params(), 0.1)
        self.count = Parameter(Tensor(0, ms.int32), requires_grad=False)

    def construct(self, a, b):
        self.count += 1
        return mse(self.network(a), b), self.count == 1, Tensor(1024.0)


forward(x, y)
ms.grad(network)(x)  # no weights: counts until a gradient of weights is taken
updates_by_hand()
ms.set_context(mode=ms.GRAPH_MODE)
Owner()(x)
model = ms.Model(Overflowing())
model._loss_scale_manager = ms.DynamicLossScaleManager()
samples = dataset.NumpySlicesDataset((x.asnumpy(), y.asnumpy()), ["x", "y"], shuffle=False).batch(4)
model.train(1, samples, dataset_sink_mode=False)
