"""What a script sees of the methods of tensors that are looked at until the training begins:
nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.child.frameworks.torch.levels import plain, record

pytestmark = pytest.mark.torch

SCRIPT = """
import copy
import inspect
import pickle
import types

import torch
import torch._dynamo
from torch import nn
from torch._dynamo import trace_rules

base = torch._C.TensorBase
METHODS = ("normal_", "uniform_", "copy_", "fill_", "add_", "mul_", "__setitem__", "__iadd__")


def seen(name):
    method = getattr(torch.Tensor, name)
    kinds = isinstance(method, (types.MethodDescriptorType, types.WrapperDescriptorType)), callable(method), inspect.isfunction(method)
    same = method == getattr(base, name), getattr(base, name) == method, method in {getattr(base, name)}, method != getattr(base, name)
    kept = pickle.loads(pickle.dumps(method)) is getattr(base, name), copy.deepcopy(method) == method
    return name, kinds, same, kept, method.__name__, method.__qualname__, method.__doc__ == getattr(base, name).__doc__, repr(method)


class Counted(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, function, kinds, args=(), kwargs=None):
        if function in HANDLED:
            cls.calls.append(HANDLED[function])
        return super().__torch_function__(function, kinds, args, kwargs or {})


class Own(torch.Tensor):
    def fill_(self, value):
        return super().fill_(2 * value)


HANDLED = {torch.Tensor.add_: "add_", torch.Tensor.mul_: "mul_"}
for name in METHODS:
    print(seen(name))
print(sorted(getattr(one, "__name__", "") for one in trace_rules.get_tensor_method() if getattr(one, "__name__", "") in METHODS))
counted = torch.ones(2).as_subclass(Counted)
counted.add_(1)
print(Own([1.0]).fill_(3.0).tolist(), torch.ones(2).as_subclass(Own).fill_(3.0).tolist())


def step(x):
    x = x.clone()
    x.add_(1)
    x[0] = 5
    x += 2
    torch.Tensor.mul_(x, 3)
    return x


said = torch._dynamo.explain(step)(torch.ones(3))
print(said.graph_count, said.graph_break_count, [[node.op, node.name] for node in said.graphs[0].graph.nodes])

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.filler = torch.Tensor.uniform_
        self.bound = self.layer.weight.data.uniform_
        self.filler(self.layer.weight.data, -1, 1)

    def forward(self, x):
        return self.layer(x)


net, add = Net(), torch.Tensor.add_
pickle.dumps(net)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(2):
    loss = net(torch.ones(4, 2)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item().hex())
add(net.layer.weight.data, 1)
counted.add_(1)
counted.mul_(2)
print(Counted.calls, counted.tolist(), net.layer.weight.tolist(), pickle.loads(pickle.dumps(net)).layer.weight.tolist())
print([seen(name) for name in METHODS])
print([name for name in METHODS if name in vars(torch.Tensor)], add == torch.Tensor.add_)
"""


def test_a_script_sees_the_methods_of_tensors_as_they_are(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    level = record(script, "module")
    assert level.printed == plain(script)
    assert not level.problems
    weights = [event for event in level.seen("weights") if event["p"] == "layer.weight"]
    assert (
        weights
        and SCRIPT.splitlines()[int(weights[0]["wl"].rpartition(":")[2]) - 1].strip()
        == "self.filler(self.layer.weight.data, -1, 1)"
    )
