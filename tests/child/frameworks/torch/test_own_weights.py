"""Copies of weights that plain objects of a script hold, where a training goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.child.frameworks.torch.levels import record

pytestmark = pytest.mark.torch

SCRIPT = """
import copy
import time
import torch
from torch import nn

class Average:
    def __init__(self, model):
        self.shadow = {name: one.detach().clone() for name, one in model.named_parameters()}
        self.whole = copy.deepcopy(model.state_dict())
        self.updates, self.decay, self.started = 0, 0.9, time.time_ns()

    def update(self, model):
        self.updates += 1
        with torch.no_grad():
            for name, one in model.named_parameters():
                self.shadow[name] = self.shadow[name] * self.decay + one * (1 - self.decay)

class Meter:
    def __init__(self, x, y):
        self.batch, self.totals, self.count = [x, y], [torch.zeros(1)], 0

class Trainer:
    def __init__(self, model, optimizer):
        self.optimizer, self.step = optimizer, 0
        self.weights = list(model.parameters())
        self.before = [one.detach().clone() for one in model.parameters()]

torch.manual_seed(0)
x, y = torch.randn(8, 4), torch.randn(8, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
average, meter, trainer = Average(model), Meter(x, y), Trainer(model, optimizer)
for _ in range(3):
    loss = (model(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update(model)
    meter.totals[0] += loss.item()
    meter.count += 1
    trainer.step += 1
"""


def test_sets_of_weights_and_their_counts_are_held_at_a_boundary_and_behind_it(
    tmp_path: Path,
) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    level = record(script, "module", boundaries=[2])
    own = {
        (fact["i"], fact["p"]): fact["out"][0][1]
        for fact in level.seen("held")
        if str(fact.get("k")).startswith("own")
    }
    weights = [f"{layer}.{kind}" for layer in (0, 1, 2) for kind in ("weight", "bias")]
    means = ["1.running_mean", "1.running_var"]
    names = {f"average.shadow[{name!r}]" for name in weights}
    names |= {f"average.whole[{name!r}]" for name in (*weights, *means)}
    assert {name for _, name in own} == {*names, "average.updates"}
    assert [own[i, "average.updates"]["v"] for i in (2, 3)] == [1, 2]
    hashes = [own[i, "average.shadow['0.weight']"]["h"] for i in (2, 3)]
    assert hashes[0] != hashes[1]
