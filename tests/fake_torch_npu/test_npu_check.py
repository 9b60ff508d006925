"""Whole checks of trainings on the fake NPU, with and without noise in its backward passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT, Outcome, check

pytestmark = pytest.mark.torch
pytest.importorskip("torch.utils.backend_registration", reason="needs PyTorch with a Python PrivateUse1 backend")

FAKE = Path(__file__).resolve().parent
EXAMPLE = ROOT / "examples" / "torch_npu" / "train.py"
SCRIPT = """
import torch
import torch_npu

torch.manual_seed(0)
inputs = torch.randn(32, 8)
targets = inputs.sum(dim=1, keepdim=True).npu()
inputs = inputs.npu()
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Dropout(0.1), torch.nn.Linear(16, 1)).npu()
optimizer = torch.optim.SGD(model.parameters(), 0.02)
scaler = torch_npu.npu.amp.GradScaler(init_scale=1024.0)
for _ in range(5):
    loss = torch.nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(loss.item().hex())
"""


def check_on_npu(*arguments: str | Path, cwd: Path, noise: str = "0") -> Outcome:
    return check(*arguments, cwd=cwd, PYTHONPATH=str(FAKE), FAKE_NPU_NOISE=noise)


def test_clean_training_is_reproducible_and_its_losses_are_those_before_scaling(workdir: Path) -> None:
    (workdir / "train.py").write_text(SCRIPT)
    outcome = check_on_npu("--steps", "all", "train.py", cwd=workdir)
    assert (outcome.title, outcome.exit_code) == ("REPRODUCIBLE", 0), outcome.stdout + outcome.stderr
    assert outcome.report["bitwise"]["equal"] is True
    assert outcome.losses() == [[float.fromhex(line)] for line in outcome.log().split()]
    assert len(outcome.losses()) == 5
    assert not [caveat for caveat in outcome.report["caveats"] if "could not be seen" in caveat], outcome.report["caveats"]


def test_noise_in_the_backward_pass_fails_the_backward_check(workdir: Path) -> None:
    outcome = check_on_npu("--steps", "3", EXAMPLE, cwd=workdir, noise="100")
    assert (outcome.title, outcome.exit_code) == ("NOT REPRODUCIBLE (backward)", 1), outcome.stdout + outcome.stderr
    assert outcome.report["bitwise"]["first_iteration"] == outcome.report["first_divergence"] == 2
    assert outcome.losses()[0] == outcome.losses(run=2)[0]


def test_a_little_noise_passes_but_not_in_every_bit(workdir: Path) -> None:
    (workdir / "train.py").write_text(SCRIPT)
    outcome = check_on_npu("--fail-on", "bitwise", "train.py", cwd=workdir, noise="1e-5")
    assert (outcome.title, outcome.exit_code) == ("REPRODUCIBLE", 1), outcome.stdout + outcome.stderr
    assert outcome.report["bitwise"]["equal"] is False
    assert outcome.report["bitwise"]["ulp"] >= 1
    assert outcome.report["first_divergence"] is None
    assert any("not equal in every bit" in caveat for caveat in outcome.report["caveats"])
