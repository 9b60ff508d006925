"""Names of modules and weights where nobody calls the model as a whole, and what is seen of data
sets, seeds and sharded weights.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.child.frameworks.torch.levels import Level, plain, record
from tests.conftest import CHILD, clean_environment

pytestmark = pytest.mark.torch

SCRIPT = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

before = torch.randn(2)
torch.manual_seed(0)
torch.manual_seed(0)
towers = nn.ModuleDict({"left": nn.Linear(3, 4), "right": nn.Linear(3, 4)})


class Net:
    def __init__(self):
        self.blocks = [nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(2)]
        self.pairs = [(nn.Linear(4, 4), "tanh"), (nn.Linear(4, 4), "relu")]
        self.head = nn.Linear(4, 1)

    def predict(self, x):
        for block in self.blocks:
            x = block(x)
        for layer, name in self.pairs:
            x = getattr(torch, name)(layer(x))
        return self.head.forward(x)


net = Net()
whole = TensorDataset(torch.arange(24.0).reshape(8, 3), torch.arange(8.0))
part = DataLoader(Subset(Subset(whole, [7, 5, 3, 1]), [3, 1]), batch_size=2)
weights = [p for module in (towers, *net.blocks, *(layer for layer, _ in net.pairs), net.head) for p in module.parameters()]
optimizer = torch.optim.SGD(weights, 0.01)
for _ in range(2):
    for x, y in part:
        loss = (net.predict(towers["left"](x) * towers["right"](x)).squeeze(1) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item().hex())
"""

SHARDED = """
import torch, torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,))
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 1))
fully_shard(model[0], mesh=mesh)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
x = torch.randn(8, 4) + dist.get_rank()
for _ in range(2):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.barrier()
dist.destroy_process_group()
"""

ABORTED = "terminate called without an active exception"


@pytest.fixture(scope="module")
def level(tmp_path_factory: pytest.TempPathFactory) -> Level:
    script = tmp_path_factory.mktemp("names") / "script.py"
    script.write_text(SCRIPT)
    level = record(script, "module")
    assert level.printed == plain(script)
    assert not level.problems
    return level


def test_layers_are_named_by_what_holds_them(level: Level) -> None:
    weights = [event["p"] for event in level.seen("weights") if event["p"].endswith("weight")]
    calls = {event["p"] for event in level.seen("call")}
    assert weights[:2] == ["left.weight", "right.weight"]
    assert set(weights[2:]) == {
        *(f"blocks[{n}].0.weight" for n in (0, 1)),
        *(f"pairs[{n}][0].weight" for n in (0, 1)),
        "net.head.weight",
    }
    assert {"left", "right", "blocks[1]", "blocks[1].0", "pairs[1][0]"} <= calls


def test_a_seed_says_that_something_was_drawn_before(level: Level) -> None:
    first, second = level.seen("seed", "torch")
    assert set(first["g"]) == {"torch"} and "g" not in second


def test_what_a_subset_takes_is_said_in_indices_of_the_whole(level: Level) -> None:
    epochs, batches = level.seen("epoch"), level.seen("batch")
    assert [epoch["idx"] for epoch in epochs] == [[1, 5]] * 2 and [
        batch["idx"] for batch in batches
    ] == [[1, 5]] * 2
    assert all({"subset", "held", "bag"} <= set(epoch) for epoch in epochs)


def test_gradients_of_sharded_weights_are_those_of_the_rank(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SHARDED)
    trace = tmp_path / "trace"
    trace.mkdir()
    settings = {
        "steps": None,
        "level": "module",
        "inside": "",
        "workdir": str(tmp_path),
        "output": str(trace),
        "stop_wait": 5,
    }
    (trace / "recorder.json").write_text(json.dumps(settings))
    environment = {
        **clean_environment(OMP_NUM_THREADS="1"),
        "REPROCHECK_CHILD": str(trace),
        "PYTHONPATH": str(CHILD),
    }
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node",
        "2",
        "--standalone",
        "train.py",
    ]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    # All is recorded by then: a thread of gloo may abort torch while the interpreter ends, without
    # the recorder, too.
    assert done.returncode == 0 or ABORTED in done.stderr, done.stderr
    files = [
        [json.loads(line) for line in file.read_text().rstrip("\0").splitlines()]
        for file in trace.glob("*.jsonl")
    ]
    ranks = [events for events in files if any(event.get("r") == "reduced" for event in events)]
    assert len(ranks) == 2
    found = []
    for events in ranks:
        said = [event.get("where") for event in events if event["e"] in ("problem", "unrecorded")]
        assert said == ["reduced gradients of sharded weights"]
        gradients = [
            event for event in events if event.get("r") == "gradient" and event["p"] == "0.weight"
        ]
        reduced = [
            event for event in events if event.get("r") == "reduced" and event["p"] == "0.weight"
        ]
        assert [event["i"] for event in gradients] == [event["i"] for event in reduced] == [1, 2]
        assert gradients[0]["out"][0][1]["s"] == [6, 4] and reduced[0]["out"][0][1]["s"] == [3, 4]
        found.append(gradients[0]["out"][0][1]["h"])
    assert found[0] != found[1], "each rank has batches of its own"
