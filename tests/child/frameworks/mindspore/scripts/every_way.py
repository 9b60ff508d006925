"""Trains in every way that MindSpore knows, one after the other, and prints each loss with every bit. Argument: graph or pynative."""

import random
import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, amp, dataset, mint, nn, ops
from mindspore.experimental import optim

GRAPH = sys.argv[1] == "graph"
ms.set_context(mode=ms.GRAPH_MODE if GRAPH else ms.PYNATIVE_MODE)
ms.set_seed(11)
np.random.seed(11)
random.seed(11)

X = np.random.randn(24, 6).astype(np.float32)
Y = X[:, :1] * 3 + 1
x, y = Tensor(X[:8]), Tensor(Y[:8])
mse = nn.MSELoss()


def said(way, loss):
    print("loss", way, float(loss.asnumpy().astype(np.float64).sum()).hex())


def network():
    """No dropout: seeded, its kernel on the CPU still gives one of two results."""
    return nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 1)).set_train()


class Say(ms.Callback):
    def __init__(self, way):
        super().__init__()
        self.way = way

    def on_train_step_end(self, run_context):
        outputs = run_context.original_args().net_outputs
        said(self.way, outputs[0] if isinstance(outputs, tuple) else outputs)


class Step(nn.Cell):
    """A train cell of the user's own."""

    def __init__(self, net, optimizer):
        super().__init__()
        self.net, self.optimizer = net, optimizer
        self.weights = optimizer.parameters
        self.grad = ops.GradOperation(get_by_list=True)

    def construct(self, a, b):
        loss = self.net(a, b)
        grads = self.grad(self.net, self.weights)(a, b)
        return ops.depend(loss, self.optimizer(grads))


def frozen():
    net = network()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, mse), nn.SGD(net.trainable_params(), 0.0))
    for _ in range(2):
        said("frozen", step(x, y))


def train_cell():
    net = network()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, mse), nn.Momentum(net.trainable_params(), 0.05, 0.9))
    for _ in range(3):
        said("train_cell", step(x, y))
        net(x)  # inference counts for nothing


def own_cell():
    net = network()
    step = Step(nn.WithLossCell(net, mse), nn.Adam(net.trainable_params(), 0.01))
    for _ in range(2):
        said("own_cell", step(x, y))


def model():
    net = network()
    pipeline = dataset.NumpySlicesDataset((X, Y), ["x", "y"], shuffle=True).batch(8)
    trained = ms.Model(net, mse, nn.Adam(net.trainable_params(), 0.01), metrics={"loss"})
    trained.train(2, pipeline, callbacks=Say("train"), dataset_sink_mode=True)
    held_out = dataset.NumpySlicesDataset((X, Y), ["x", "y"], shuffle=False).batch(8)
    net = network()
    scaled = ms.FixedLossScaleManager(128.0, drop_overflow_update=False)
    fitted = ms.Model(net, mse, nn.SGD(net.trainable_params(), 0.01, loss_scale=128.0), metrics={"loss"}, loss_scale_manager=scaled)
    pipeline = dataset.NumpySlicesDataset((X, Y), ["x", "y"], shuffle=False).batch(12)
    fitted.fit(1, pipeline, held_out, callbacks=[Say("fit")])
    print("eval", sorted(fitted.eval(held_out).items()))


def functional():
    net = network()
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 0.01)

    def forward(a, b):
        logits = net(a)
        return mse(logits, b), logits

    grad = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)
    for _ in range(3):
        (loss, _), grads = grad(x, y)
        said("functional", loss)
        optimizer(grads)


def compiled():
    net = network()
    optimizer = nn.SGD(net.trainable_params(), 0.02)

    def forward(a, b):
        return mse(net(a), b)

    grad = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def step(a, b):
        loss, grads = grad(a, b)
        optimizer(grads)
        return loss

    @ms.jit
    def evaluate(a, b):
        return forward(a, b)

    for _ in range(3):
        said("compiled", step(x, y))
        evaluate(x, y)


def loss_scaler():
    net = network()
    optimizer = optim.SGD(net.trainable_params(), 0.02)
    scaler = amp.DynamicLossScaler(1024, 2, 50)

    def forward(a, b):
        return scaler.scale(mse(net(a), b))

    grad = ms.value_and_grad(forward, None, optimizer.parameters)
    for _ in range(2):
        scaled, grads = grad(x, y)
        said("loss_scaler", scaler.unscale(scaled))
        if amp.all_finite(grads):
            optimizer(scaler.unscale(grads))
        scaler.adjust(Tensor(True))


def accumulation():
    net = network()
    optimizer = optim.Adam(net.trainable_params(), 0.02)

    def forward(a, b):
        return mse(net(a), b)

    grad = ms.value_and_grad(forward, None, optimizer.parameters)
    for _ in range(2):
        total = None
        for half in (slice(0, 4), slice(4, 8)):
            loss, grads = grad(x[half], y[half])
            said("accumulation", loss)
            total = grads if total is None else tuple(one + two for one, two in zip(total, grads, strict=True))
        optimizer(total)


def mint_optimizer():
    net = network()
    optimizer = mint.optim.SGD(net.trainable_params(), 0.02)

    def forward(a, b):
        return mse(net(a), b)

    grad = ms.value_and_grad(forward, None, optimizer.parameters)
    loss, grads = grad(x, y)
    said("mint_optimizer", loss)
    optimizer(grads)


def kinds():
    net = network()
    optimizer = nn.SGD(net.trainable_params(), 0.01)

    def half(a, b):
        return mse(net(a), b).astype(ms.float16)

    def brain(a, b):
        return mse(net(a), b).astype(ms.bfloat16)

    def each(a, b):
        return (net(a) - b) ** 2

    for way, loss_of in (("float16", half), ("bfloat16", brain), ("no_scalar", each)):
        loss, grads = ms.value_and_grad(loss_of, None, optimizer.parameters)(x, y)
        said(way, loss.astype(ms.float32))
        optimizer(grads)


def bare_gradient():
    """The gradient alone: in PyNative mode its forward value is seen all the same."""
    net = network()
    optimizer = nn.SGD(net.trainable_params(), 0.01)
    loss_cell = nn.WithLossCell(net, mse)
    for _ in range(2):
        if not GRAPH:
            said("bare_gradient", loss_cell(x, y))
        optimizer(ops.GradOperation(get_by_list=True)(loss_cell, optimizer.parameters)(x, y))


for way in (frozen, train_cell, own_cell, model, functional, compiled, loss_scaler, accumulation, mint_optimizer, kinds, bare_gradient):
    print("way", way.__name__, flush=True)
    way()
print("draws", random.random().hex(), np.random.rand().hex(), ms.get_seed(), float(ops.rand(1).asnumpy()[0]).hex())
print("generator", ms.get_rng_state().asnumpy().tobytes().hex())
