"""The fake NPU behaves as the real one where it matters, and recording on it waits for nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.torch
pytest.importorskip(
    "torch.utils.backend_registration", reason="needs PyTorch with a Python PrivateUse1 backend"
)

FAKE = Path(__file__).resolve().parent / "torch_npu"
CHILD = FAKE.parents[2] / "reprocheck" / "child"

TRAINING = """
import json, os, random, sys, threading
import torch
from torch import nn

def train(device="npu", seed=0, steps=6, scaler=None, noisy=False):
    if seed is not None:
        torch.manual_seed(seed)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.3), nn.Flatten(), nn.Linear(64, 3)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    order = torch.Generator().manual_seed(1)
    losses = []
    for _ in range(steps):
        x, y = torch.randn(8, 1, 6, 6, generator=order).to(device), torch.randint(0, 3, (8,), generator=order).to(device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        (scaler.scale(loss) if scaler else loss).backward()
        if scaler:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
        losses.append(loss.detach())
    return losses
"""


_QUICK_END = "\nsys.stdout.flush(); os._exit(0)\n"
"""PyTorch's thread of the backward pass may still run while the interpreter ends: it aborts then."""


def on_npu(code: str, trace: Path | None = None) -> Any:
    """What `code` prints last, as JSON; `train` and torch are there.

    With `trace` the recorder runs and records into it.
    """
    path, env = [str(FAKE)], dict(os.environ)
    if trace is not None:
        trace.mkdir()
        (trace / "recorder.json").write_text(
            json.dumps(
                {"steps": None, "level": "loss", "workdir": str(trace), "stop_wait": 5, "mask": {}}
            )
        )
        path.insert(0, str(CHILD))
        env["REPROCHECK_CHILD"] = str(trace)
    env["PYTHONPATH"] = os.pathsep.join(path)
    if trace is None:
        code += _QUICK_END
    command = [sys.executable, "-X", "faulthandler", "-c", TRAINING + code]
    answer = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, (
        f"exit status {answer.returncode}\n{answer.stdout}\n{answer.stderr}"
    )
    return json.loads(answer.stdout.splitlines()[-1])


def events(trace: Path, kind: str) -> list[dict[str, Any]]:
    lines = [
        json.loads(line) for path in trace.glob("*.jsonl") for line in path.read_text().splitlines()
    ]
    return [line for line in lines if line["e"] == kind]


LOADED = """
import torch_npu
from torch_npu import fake
torch.manual_seed(0)
before = torch.npu.is_initialized()
torch.ones(1, device="npu")
after, left = torch.npu.is_initialized(), "TORCH_DEVICE_BACKEND_AUTOLOAD" in os.environ
loaded = [torch_npu.__version__, torch_npu.__fake__, before, after, left]
"""
VIEWED = """
host = torch.arange(24.0).reshape(2, 3, 4)
npu = host.npu()
for tensor in (host, npu):
    tensor[:, 1:3, 0] = 7.0
    tensor.transpose(0, 1)[1].mul_(2)
    tensor.permute(2, 0, 1)[1, 1].add_(tensor[0, :, 2])
viewed = torch.equal(host, npu.cpu())
"""
COPIED = """
target = torch.empty((), pin_memory=True)
source = torch.tensor(3.0).npu()
fake.reset()
target.copy_(source, non_blocking=True)
event = torch.npu.Event()
event.record()
before, ready = target.isnan().item(), event.query()
while not event.query():
    source.add(1)
copied = [before, ready, target.item(), fake.waits()]
"""


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """What one process says of its device, of views and of copies."""
    said = "print(json.dumps({'loaded': loaded, 'viewed': viewed, 'copied': copied}))"
    return dict(on_npu(LOADED + VIEWED + COPIED + said))


def test_it_loads_inside_torch_and_initialises_lazily(shown: dict[str, Any]) -> None:
    assert shown["loaded"] == ["2.13.0+fake", True, False, True, False]


def test_views_share_their_values(shown: dict[str, Any]) -> None:
    assert shown["viewed"]


def test_copies_to_pinned_memory_arrive_later(shown: dict[str, Any]) -> None:
    before, ready, after, waits = shown["copied"]
    assert (before, ready, after, waits) == (True, False, 3.0, 0)


def test_it_trains_as_the_cpu_does_and_goes_backward_in_a_thread_of_its_own() -> None:
    said = on_npu("""
torch.set_num_threads(1)
class Spy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, gradient):
        Spy.main = threading.current_thread() is threading.main_thread()
        return gradient
Spy.apply(torch.ones(1, device="npu", requires_grad=True)).sum().backward()
nn.Dropout.forward = lambda self, x: x
print(json.dumps([Spy.main, [x.item() for x in train("npu")], [x.item() for x in train("cpu")]]))
""")
    in_main_thread, npu, cpu = said
    assert not in_main_thread
    assert npu == pytest.approx(cpu, rel=1e-6)


def test_dropout_draws_from_the_devices_own_generator() -> None:
    code = """
import torch_npu
random.seed(0)
torch.random.default_generator.manual_seed(0)  # the CPU's only
a = [x.item() for x in train(seed=None)]
print(json.dumps([a, [x.item() for x in train(seed=0)]]))
"""
    (unseeded, seeded), (unseeded_again, seeded_again) = on_npu(code), on_npu(code)
    assert unseeded != unseeded_again
    assert seeded == seeded_again


COUNTED = """
from torch_npu import fake
train(steps=3)
fake.reset()
losses = train(steps=20)
waits = fake.waits()
print(json.dumps([waits, [x.item() for x in losses]]))
"""


def test_recording_changes_no_loss_and_waits_for_nothing(tmp_path: Path) -> None:
    plain_waits, plain = on_npu(COUNTED)
    waits, losses = on_npu(COUNTED, tmp_path / "trace")
    assert losses == plain
    assert waits == plain_waits == 0
    recorded = [value for event in events(tmp_path / "trace", "loss") for value in event["v"]]
    assert recorded[3:] == plain
    assert next(event["c"] for event in events(tmp_path / "trace", "update")) is True
    assert events(tmp_path / "trace", "problem") == []


SCALED = """
import torch_npu
scalers = torch_npu.npu.amp.GradScaler(), torch.amp.GradScaler("npu")
print(json.dumps([x.item() for scaler in scalers for x in train(scaler=scaler)]))
"""


def test_a_loss_is_recorded_before_scaling_and_the_device_that_the_training_uses_described(
    tmp_path: Path,
) -> None:
    losses = on_npu(SCALED, tmp_path / "trace")
    assert [value for event in events(tmp_path / "trace", "loss") for value in event["v"]] == losses
    facts = events(tmp_path / "trace", "environment")[0]["facts"]
    assert facts["torch_npu.version"] == facts["package.torch-npu"] == "2.13.0+fake"
    assert facts["torch.npu.devices"] == "Fake NPU, Fake NPU"
