"""What is recorded of the weights before the training: their names, where they were made and
filled, and the seeds around that.
"""

from __future__ import annotations

import pytest

from tests.child.frameworks.torch.levels import Level, plain, record

pytestmark = pytest.mark.torch

LIBRARY = """
import random
import torch


def seed(number):
    random.seed(number)
    torch.manual_seed(number)
"""
SCRIPT = """
import torch
from torch import nn

import library


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 3)
        self.head = nn.Linear(3, 1)


def loss():
    optimizer.zero_grad()
    value = net.head(net.body(x)).square().mean()
    value.backward()
    print(value.item())
    return value


torch.manual_seed(5)
net = Net()
library.seed(1234)
for layer in (net.head, net.body):
    nn.init.normal_(layer.weight)
net.head.bias.data += 1
x = torch.ones(2, 4)
optimizer = torch.optim.SGD([*net.body.parameters(), *net.head.parameters()], lr=0.1)
for _ in range(2):
    optimizer.step(loss)
print("normal_" in vars(torch.Tensor), "__iadd__" in vars(torch.Tensor))
"""


@pytest.fixture(scope="module")
def level(tmp_path_factory: pytest.TempPathFactory) -> Level:
    folder = tmp_path_factory.mktemp("first")
    packages = folder / "site-packages"
    packages.mkdir()
    (packages / "library.py").write_text(LIBRARY)
    script = folder / "train.py"
    script.write_text("import sys\nsys.path.insert(0, 'site-packages')\n" + SCRIPT)
    level = record(script, "module")
    assert level.printed == plain(script)
    assert not level.problems
    return level


def line_of(text: str) -> str:
    lines = ["", "", *SCRIPT.splitlines()]
    return f"train.py:{1 + next(number for number, line in enumerate(lines) if text in line)}"


def test_weights_that_only_a_closure_uses_have_the_names_and_lines_of_their_modules(
    level: Level,
) -> None:
    weights = level.seen("weights")
    assert [weight["p"] for weight in weights] == [
        "body.weight",
        "body.bias",
        "head.weight",
        "head.bias",
    ]
    assert weights[0]["l"] == line_of("nn.Linear(4, 3)")
    assert weights[0]["i"] == 1 and all("torch" in weight["g"] for weight in weights)


def test_the_line_that_wrote_last_is_recorded_with_the_order_of_the_writes(level: Level) -> None:
    body, bias, head, raised = level.seen("weights")
    assert body["wl"] == head["wl"] == line_of("nn.init.normal_")
    assert raised["wl"] == line_of("bias.data += 1")
    assert bias["wl"] == line_of("nn.Linear(4, 3)")
    assert bias["wn"] < head["wn"] < body["wn"] < raised["wn"]


def test_a_seed_says_which_library_set_it_and_whether_a_weight_was_made_before(
    level: Level,
) -> None:
    own, seed = level.seen("seed", "torch")
    assert "by" not in own
    assert (seed["by"], seed["l"]) == ("library", line_of("library.seed(1234)"))
    bias, head = level.seen("weights", "body.bias")[0], level.seen("weights", "head.weight")[0]
    assert own["sn"] < bias["sn"] <= seed["sn"] < head["sn"]
