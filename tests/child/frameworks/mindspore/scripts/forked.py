"""Each training below in a fork of its own: `forked.py ITERATIONS NAME…` prints its losses, what its generators draw at its end, and
what of the recorder then stands in MindSpore.
"""

import hashlib
import os
import random
import sys
import traceback
import types

import mindspore as ms
import numpy as np
from mindspore import Tensor, amp, dataset, nn, ops

ITERATIONS = int(sys.argv[1])
KEPT = []


def said(loss):
    print("loss", float(loss.asnumpy().astype(np.float64).sum()).hex())


def data(rows=8):
    x = np.random.randn(rows, 6).astype(np.float32)
    return x, x[:, :1] * 3 + 1


def network():
    """No dropout: seeded, its kernel on the CPU still gives one of two results."""
    return nn.SequentialCell(nn.Dense(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dense(16, 1)).set_train()


def loop():
    """The outputs of cells are kept, with what hangs on them."""
    net, mse = network(), nn.MSELoss()
    optimizer = nn.Adam(net.trainable_params(), nn.ExponentialDecayLR(0.05, 0.9, 4))

    def forward(a, b):
        logits = net(a)
        KEPT.append(logits)
        return mse(logits, b), logits

    grad = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)
    x, y = map(Tensor, data())
    for step in range(ITERATIONS):
        if step == 5:
            ms.set_seed(5)
            np.random.seed(5)
        (loss, _), gradients = grad(x, y)
        said(loss)
        optimizer(gradients)
        random.random()


class Source:
    def __init__(self):
        self.samples = data(12)

    def __len__(self):
        return 12

    def __getitem__(self, index):
        return self.samples[0][index] + np.float32(random.random() * 0.01), self.samples[1][index]


class Say(ms.Callback):
    def on_train_step_end(self, run_context):
        said(run_context.original_args().net_outputs)


def model():
    """Data sinking is asked for."""
    net = network()
    samples = dataset.GeneratorDataset(Source(), ["x", "y"], shuffle=True, num_parallel_workers=1).batch(4)
    trained = ms.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.02, 0.9))
    trained.train(ITERATIONS // 3 + 1, samples, callbacks=Say(), dataset_sink_mode=True)


def train_cell():
    net = network()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.AdamWeightDecay(net.trainable_params(), 0.01))
    x, y = map(Tensor, data())
    for _ in range(ITERATIONS):
        said(step(x, y))


def scaled():
    """Two gradients for one update, of a loss that a scaler scales."""
    net, mse = network(), nn.MSELoss()
    optimizer = ms.experimental.optim.Adam(net.trainable_params(), 0.02)
    scaler = amp.DynamicLossScaler(1024, 2, 3)
    grad = ms.value_and_grad(lambda a, b: scaler.scale(mse(net(a), b)), None, optimizer.parameters)
    x, y = map(Tensor, data())
    for _ in range(ITERATIONS):
        total = None
        for half in (slice(0, 4), slice(4, 8)):
            loss, gradients = grad(x[half], y[half])
            said(scaler.unscale(loss))
            total = gradients if total is None else tuple(map(ops.add, total, gradients))
        optimizer(scaler.unscale(total))
        scaler.adjust(Tensor(True))


def by_hand():
    net, mse = network(), nn.MSELoss()
    weights = net.trainable_params()
    grad = ms.value_and_grad(lambda a, b: mse(net(a), b), None, weights)
    x, y = map(Tensor, data())
    for _ in range(ITERATIONS):
        loss, gradients = grad(x, y)
        said(loss)
        for weight, gradient in zip(weights, gradients, strict=True):
            ops.assign(weight, weight - 0.05 * gradient)


def jitted():
    """The second iteration is the first that is compiled."""
    net, mse = network(), nn.MSELoss()
    optimizer = nn.SGD(net.trainable_params(), 0.02)

    def forward(a, b):
        return mse(net(a), b)

    grad = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(a, b):
        loss, gradients = grad(a, b)
        optimizer(gradients)
        return loss

    x, y = map(Tensor, data())
    for number in range(ITERATIONS):
        if number == 1:
            step = ms.jit(step)
        said(step(x, y))


def graph():
    ms.set_context(mode=ms.GRAPH_MODE)
    train_cell()


def exported():
    """A cell is compiled while PyNative mode is on."""
    net = network()
    ms.export(nn.Dense(6, 1), Tensor(data()[0]), file_name=f"exported-{os.getpid()}", file_format="MINDIR")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.01))
    x, y = map(Tensor, data())
    for _ in range(ITERATIONS):
        said(step(x, y))


def is_ours(value):
    if str(type.__getattribute__(type(value), "__dict__").get("__module__")).startswith("reprocheck_child"):
        return True
    return isinstance(value, types.FunctionType) and "reprocheck_child" in value.__code__.co_filename


def left_of_hooks():
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("mindspore", "random", "numpy"):
            for attribute, value in list(vars(module).items()):
                held = vars(value) if isinstance(value, type) and vars(value).get("__module__") == name else {}
                if is_ours(value):
                    yield f"{name}.{attribute}"
                yield from (f"{name}.{attribute}.{key}" for key, inner in list(held.items()) if is_ours(inner))


for name in sys.argv[2:]:
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        _, status = os.waitpid(pid, 0)
        print(name, os.waitstatus_to_exitcode(status))
        continue
    status = 1
    try:
        ms.set_context(mode=ms.PYNATIVE_MODE)
        ms.set_seed(3)
        ms.manual_seed(4)
        np.random.seed(5)
        random.seed(6)
        globals()[name]()
        state = repr((random.getstate(), np.random.get_state(), ms.get_seed())).encode() + ms.get_rng_state().asnumpy().tobytes()
        print("generators", hashlib.sha256(state).hexdigest(), ops.rand(2).asnumpy().tolist(), ops.standard_normal((2,)).asnumpy().tolist())
        print("hooks", name, sum(len(tensor.hooks()) for tensor in KEPT), *sorted(left_of_hooks()))
        sys.stdout.flush()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)
