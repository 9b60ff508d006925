"""Models and trainings that are hard to look into: `modules.py NAME…` prints each loss with all its bits, and the generators after each."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import random
import sys
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

torch.set_num_threads(1)
ITERATIONS = 3


def say(*losses: Any) -> None:
    """One line of losses."""
    print("losses", *(loss.item().hex() for loss in losses), flush=True)


def train(model: Any, inputs: Any, *, loss: Any = None, optimizer: Any = None) -> None:
    """A plain loop."""
    optimizer = optimizer or torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(ITERATIONS):
        optimizer.zero_grad()
        output = model(inputs)
        value = (loss or (lambda out: out.float().pow(2).mean()))(output)
        say(value)
        value.backward()
        optimizer.step()


def convolution() -> None:
    """Convolution, batch norm, dropout, ReLU in place, functional ReLU in place on a module's output, gradient clipping."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 3)
            self.norm = nn.BatchNorm2d(8)
            self.relu = nn.ReLU(inplace=True)
            self.drop = nn.Dropout2d(0.3)
            self.head = nn.Linear(8, 4)

        def forward(self, x: Any) -> Any:
            x = self.drop(self.relu(self.norm(self.conv(x))))
            y = self.conv(torch.randn(8, 3, 5, 5))
            functional.relu_(y)
            y.register_hook(lambda gradient: gradient * 0.5)
            return self.head(x.mean((2, 3)) + y.mean((2, 3)))

    model, criterion = Net(), nn.CrossEntropyLoss()
    images, labels = torch.randn(8, 3, 9, 9), torch.randint(0, 4, (8,))
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    for _ in range(ITERATIONS):
        optimizer.zero_grad()
        value = criterion(model(images), labels)
        say(value)
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()


def shared() -> None:
    """A module called twice, a weight in two modules, a module in two places, one that calls itself."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Linear(4, 4)
            self.b = nn.Linear(4, 4)
            self.b.weight = self.a.weight
            self.again = self.a

        def forward(self, x: Any, depth: int = 0) -> Any:
            x = self.again(self.b(self.a(x)))
            return self(x, depth=depth + 1) if depth < 2 else x

    train(Net(), torch.randn(5, 4))


def structures() -> None:
    """Inputs and outputs of all kinds; a generator must not be consumed."""

    @dataclasses.dataclass
    class Out:
        logits: Any
        text: str
        nothing: Any = None

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(3, 3)
            self.empty = nn.Identity()

        def forward(self, batch: dict[str, Any], many: Any, *, name: str, flag: bool = False) -> Out:
            total = sum(many) + batch["x"]
            self.empty(torch.zeros(0, 3))
            self.empty({1: [(), {}, None, {"deep": {"deeper": ({"deepest": 1},)}}], "cycle": cycle})
            return Out(self.fc(total), name)

    cycle: list[Any] = []
    cycle.append(cycle)
    net = Net()
    optimizer = torch.optim.SGD([{"params": [net.fc.weight], "lr": 0.1}, {"params": [net.fc.bias]}], 0.2)
    for _ in range(ITERATIONS):
        many = (torch.full((2, 3), float(i)) for i in range(3))
        value = net({"x": torch.ones(2, 3), "names": ["a", "b"]}, many, name="me").logits.pow(2).mean()
        say(value)
        value.backward()
        optimizer.step()


def lazy() -> None:
    """Lazy layers, layers made in the forward, layers that nobody registered, weights that change their shape."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.LazyLinear(4)
            self.hidden = [nn.Linear(4, 4)]

        def forward(self, x: Any) -> Any:
            x = nn.Tanh()(self.hidden[0](self.first(x)))
            if not hasattr(self, "late"):
                self.late = nn.Linear(4, 2)
            return self.late(x)

    net, data = Net(), torch.randn(6, 5)
    net(data)
    optimizer = torch.optim.Adam([*net.parameters(), *net.hidden[0].parameters()], 0.01)
    train(net, data, optimizer=optimizer)
    net.late.weight.data = torch.randn(3, 4)
    net.late.bias.data = torch.zeros(3)
    train(net, data, optimizer=torch.optim.SGD(net.parameters(), 0.01))


def scripted() -> None:
    """TorchScript, traced and scripted, beside ordinary layers."""
    inner = torch.jit.script(nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Dropout(0.2)))
    traced = torch.jit.trace(nn.Linear(3, 3), torch.randn(2, 3))
    train(nn.Sequential(inner, traced, nn.Linear(3, 1)), torch.randn(4, 3))


def functions() -> None:
    """functional_call, transformations of torch.func, and a loss from autograd.grad with a penalty."""
    from torch.func import functional_call, grad, vmap

    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
    weights = dict(model.named_parameters())
    data = torch.randn(4, 3)

    def loss(weights: Any, x: Any) -> Any:
        return functional_call(model, weights, (x,)).pow(2).mean()

    print(vmap(grad(loss), (None, 0))(weights, data)["0.weight"].sum().item().hex())
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(ITERATIONS):
        optimizer.zero_grad()
        data.requires_grad_()
        out = functional_call(model, weights, (data,))
        (slope,) = torch.autograd.grad(out.sum(), data, create_graph=True)
        value = out.pow(2).mean() + slope.norm()
        say(value)
        value.backward()
        optimizer.step()


def errors() -> None:
    """Forwards and hooks that raise, inside a loop that goes on."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(3, 3)
            self.calls = 0

        def forward(self, x: Any) -> Any:
            self.calls += 1
            x = self.fc(x)
            if self.calls % 2:
                raise KeyboardInterrupt if self.calls % 3 else ValueError(self.calls)
            return x

    net = Net()
    net.fc.register_forward_hook(lambda module, args, out: out * 2)

    def wrapped(x: Any) -> Any:
        for _ in range(5):
            try:
                return net(x)
            except (ValueError, KeyboardInterrupt):
                pass
        return None

    train_with = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(ITERATIONS):
        value = wrapped(torch.ones(2, 3)).pow(2).mean()
        say(value)
        value.backward()
        train_with.step()


def checkpoints() -> None:
    """Both kinds of activation checkpoints, with dropout inside; the loss has saved tensors of its own."""

    class Net(nn.Module):
        def __init__(self, reentrant: bool) -> None:
            super().__init__()
            self.block = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Tanh())
            self.reentrant = reentrant

        def forward(self, x: Any) -> Any:
            return checkpoint(self.block, x, use_reentrant=self.reentrant)

    for reentrant in (False, True):
        torch.manual_seed(1)
        train(Net(reentrant), torch.randn(3, 4, requires_grad=True))
    head = Net(False)
    optimizer = torch.optim.SGD(head.parameters(), 0.1)
    for _ in range(ITERATIONS):
        value = checkpoint(lambda x: functional.mse_loss(head(x), torch.zeros(3, 4)), torch.ones(3, 4), use_reentrant=False)
        say(value)
        value.backward()
        optimizer.step()


def autocast() -> None:
    """Autocast with a gradient scaler, gradient accumulation, a copy of the model that follows it."""
    model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 1))
    average = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    scaler = torch.amp.GradScaler("cpu")
    for _ in range(ITERATIONS):
        losses = []
        for _ in range(2):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                losses.append(model(torch.randn(4, 8)).float().pow(2).mean())
            scaler.scale(losses[-1]).backward()
        say(*losses)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        for mine, other in zip(average.parameters(), model.parameters()):
            mine.data.mul_(0.9).add_(other.data, alpha=0.1)
    copy.deepcopy(model)
    torch.save(model.state_dict(), "/dev/null")


def compiled() -> None:
    """torch.compile of a model without a generator (its values would differ), in one graph."""
    model = torch.compile(nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1)), backend="eager", fullgraph=True)
    train(model, torch.randn(4, 3))
    print(len(model._orig_mod))


def closures() -> None:
    """L-BFGS, which computes its gradients inside its step, and bare tensors."""
    weight, bias = torch.randn(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
    data = torch.randn(9, 3)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=3)

    def closure() -> Any:
        optimizer.zero_grad()
        value = (torch.sigmoid(data @ weight + bias) - 0.3).pow(2).mean()
        say(value)
        value.backward()
        return value

    for _ in range(ITERATIONS):
        optimizer.step(closure)


def by_hand() -> None:
    """No optimizer: a module whose weights are changed by hand, and weights that are new tensors each time."""
    model, scale = nn.Linear(3, 1), torch.ones(1, requires_grad=True)
    data = torch.randn(5, 3)
    for _ in range(ITERATIONS):
        value = (model(data) * scale).pow(2).mean()
        say(value)
        value.backward()
        with torch.no_grad():
            for weight in model.parameters():
                weight -= 0.1 * weight.grad
                weight.grad = None
            scale = (scale - 0.1 * scale.grad).requires_grad_()


def touched() -> None:
    """Weights that are written to after the step, through `.data` and in place, and one of a frozen copy."""
    model = nn.Sequential(nn.Linear(3, 200), nn.Linear(200, 200), nn.Linear(200, 1))
    teacher = copy.deepcopy(model).requires_grad_(False)
    optimizer, data = torch.optim.SGD(model.parameters(), 0.1), torch.randn(5, 3)
    for iteration in range(ITERATIONS):
        optimizer.zero_grad()
        value = (model(data) - 2 * teacher(data) + 1).pow(2).mean()
        say(value)
        value.backward()
        optimizer.step()
        if iteration == 0:
            with torch.no_grad():
                model[0].weight.data = 0.9 * model[0].weight.data
                model[1].weight.data.mul_(0.9)
                model[2].bias.fill_(0.25)
                teacher[0].bias.add_(0.5)


def many() -> None:
    """Ten thousand modules."""
    blocks = nn.Sequential(*(nn.Sequential(nn.Identity()) for _ in range(5_000)), nn.Linear(3, 1))
    train(blocks, torch.randn(2, 3), optimizer=torch.optim.SGD(blocks.parameters(), 0.1))


def noise() -> None:
    """Generators of `random` and numpy drawn from inside modules."""
    import numpy

    numpy.random.seed(0)

    class Draws(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * random.gauss(1, 0.1) if random.random() < 2 else x

    class Arrays(nn.Module):
        def forward(self, x: Any) -> Any:
            return x + float(numpy.random.rand())

    train(nn.Sequential(nn.Linear(3, 3), Draws(), Arrays()), torch.randn(2, 3))
    print(numpy.random.rand().hex())


def modes() -> None:
    """A mode of dispatch and one of functions, as profilers of the script use them: they see what the script does, and no more."""
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    counts = {"function": 0, "operator": 0}

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            counts["function"] += 1
            return function(*args, **(kwargs or {}))

    class Operators(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            counts["operator"] += 1
            return function(*args, **(kwargs or {}))

    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(), nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    data = torch.randn(4, 3)
    for _ in range(ITERATIONS):
        with Functions(), Operators():
            value = model(data).pow(2).mean()
            value.backward()
            optimizer.step()
        say(value)
    print(counts)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        random.seed(0)
        torch.manual_seed(0)
        print(name)
        globals()[name]()
        state = repr(random.getstate()).encode() + torch.get_rng_state().numpy().tobytes()
        print("generators", hashlib.sha256(state).hexdigest())
